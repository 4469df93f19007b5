"""Finding texts in files, whatever form they have there."""

from __future__ import annotations

import html
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from personable.people.searching import LONGEST, Search, forms, telling

TEXT = 'I said "no" to <sugar>\n and to Café crème'


@pytest.mark.parametrize(
    "written",
    [
        TEXT,
        " ".join(TEXT.split()),
        TEXT.upper().replace("É", "é").replace("È", "è"),
        json.dumps({"text": TEXT}),
        json.dumps({"text": TEXT}, ensure_ascii=False),
        html.escape(TEXT),
    ],
)
@pytest.mark.parametrize("before", [0, 1, 7, 8, (1 << 23) - 20])
def test_a_text_is_found_in_every_form_and_place(tmp_path: Path, written: str, before: int) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"\0" * before + written.encode() + b"\xff" * 100)
    assert set(Search(["nothing like this here", TEXT]).in_file(path)) == {1}


@given(st.text(min_size=12, max_size=400), st.binary(max_size=40), st.binary(max_size=40))
def test_what_is_there_is_found(text: str, before: bytes, after: bytes) -> None:
    plain = text.strip().encode("utf-8", "replace")
    if len(plain) >= 8:
        assert Search([text]).matches(before + plain + after)


@given(st.lists(st.text(min_size=12, max_size=40), max_size=5), st.binary(max_size=400))
def test_what_is_found_is_there(texts: list[str], data: bytes) -> None:
    there = any(form in data.lower() for text in texts for form in forms(text) if len(form) >= 8)
    assert Search(texts).matches(data) is there


def test_halves_find_a_text_that_was_cut() -> None:
    text = "I have been afraid of marigolds since I was a child"
    cut = text[:20].encode() + b"\0\0\0\x17" + text[20:].encode()
    assert Search([text], halves=True).matches(cut)
    assert not Search([text]).matches(cut)


def test_no_text_is_found_nowhere_and_a_long_one_by_its_beginning(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"x" * LONGEST)
    assert Search([]).in_file(path) == {}
    assert set(Search(["x" * 10_000]).in_file(path)) == {0}
    path.write_bytes(b"")
    assert Search(["I like sweet tea"]).in_file(path) == {}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("I am vegetarian", True),
        ("ana@example.org", True),
        ("5f3c9a7e1b2d4c6f", True),
        ("我对青霉素过敏", True),
        ("ana", False),
        ("What is it?", False),
        ("hypertension", False),
        ("Gouty arthritis", False),
    ],
)
def test_only_what_is_distinctive_is_searched_for(text: str, says: bool) -> None:
    assert telling(text) is says
