"""Passages: offsets, sizes, borders, titles."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from personable.errors import UsageError
from personable.retrieval.document import Document
from personable.retrieval.segment import passages, segment
from personable.text import tokens

PROSE = "The kettle boils at noon. Nobody drinks the tea, and nobody minds. "
CHARACTERS = st.characters(codec="utf-8")
TEXTS = st.lists(
    st.one_of(
        st.text(CHARACTERS, max_size=80),
        st.sampled_from(
            ["\n", "\n\n", "# Heading\n", "## Part\n", "- item\n", "1. ", "```\n", "“", PROSE, "文章です。", " " * 300]
        ),
        st.integers(1, 400).map(lambda n: "x" * n),
    ),
    max_size=30,
).map("".join)


@given(TEXTS, st.integers(16, 64), st.integers(0, 8))
def test_pieces_are_slices_that_fit_and_together_hold_everything(text: str, target: int, overlap: int) -> None:
    covered = bytearray(len(text))
    last = (-1, -1)
    for piece in segment(text, target, overlap):
        assert text[piece.start : piece.end] == piece.text == piece.text.strip() != ""
        assert tokens(piece.text) <= target
        assert piece.start > last[0]
        assert piece.end > last[1]
        last = (piece.start, piece.end)
        covered[piece.start : piece.end] = b"\1" * (piece.end - piece.start)
    assert all(covered[n] or character.isspace() for n, character in enumerate(text))


@given(TEXTS, st.integers(16, 64))
def test_without_overlap_no_character_is_in_two_pieces(text: str, target: int) -> None:
    end = 0
    for piece in segment(text, target, 0):
        assert piece.start >= end
        end = piece.end


def test_a_short_text_is_one_piece_without_outer_space() -> None:
    assert [piece.text for piece in segment("\n  One. Two.\n\nThree.  ")] == ["One. Two.\n\nThree."]


@pytest.mark.parametrize("text", ["", " \n\t\n"])
def test_no_text_gives_no_piece(text: str) -> None:
    assert list(segment(text)) == []


def test_neighbours_share_the_last_whole_sentence() -> None:
    numbers = [f"This is sentence {n}." for n in range(10, 20)]
    pieces = list(segment(" ".join(numbers), target=32, overlap=8))
    assert pieces[0].text.endswith("This is sentence 13.")
    assert pieces[1].text.startswith("This is sentence 13. This is sentence 14.")


def test_a_cut_prefers_the_end_of_a_paragraph() -> None:
    text = "One is here. Two is here.\n\nThree is here. Four is here."
    assert [piece.text for piece in segment(text, target=14, overlap=0)] == text.split("\n\n")


def test_a_heading_starts_a_piece_and_is_not_repeated_by_overlap() -> None:
    text = f"# Tea\n\n{PROSE}\n\n## Milk\n\n{PROSE}"
    pieces = list(segment(text, target=40, overlap=16))
    assert [piece.text.split("\n")[0] for piece in pieces] == ["# Tea", "## Milk"]
    assert [piece.heading for piece in pieces] == ["Tea", "Tea › Milk"]


def test_a_hash_in_fenced_code_is_no_heading() -> None:
    text = f"# Tea\n\n```sh\n# not a heading\n```\n\n{PROSE}"
    assert {piece.heading for piece in segment(text, target=16, overlap=0)} == {"Tea"}


def test_a_sentence_longer_than_the_target_is_cut_between_words() -> None:
    text = " ".join(["word"] * 100)
    pieces = list(segment(text, target=20, overlap=0))
    assert len(pieces) > 1
    assert " ".join(piece.text for piece in pieces) == text


def test_an_unclosed_quotation_mark_does_not_hide_the_sentences_of_a_long_text() -> None:
    text = "“" + PROSE * 2000
    assert all(piece.text.endswith((".", "minds.")) for piece in segment(text, target=64, overlap=0))


@pytest.mark.parametrize(("target", "overlap"), [(4, 0), (32, 17), (32, -1)])
def test_sizes_that_make_no_sense_are_refused(target: int, overlap: int) -> None:
    with pytest.raises(UsageError, match=f"passages of {target} tokens with an overlap of {overlap}"):
        list(segment("text", target, overlap))


def test_passages_are_numbered_and_carry_the_documents_title_source_and_meta() -> None:
    document = Document(id="a/tea.md", text=f"## Milk\n\n{PROSE}", title="Tea", source="/a/tea.md", meta={"year": 2020})
    (passage,) = passages(document)
    assert passage.id == "a/tea.md#0"
    assert passage.title == "Tea › Milk"
    assert (passage.document, passage.source, passage.meta) == ("a/tea.md", "/a/tea.md", {"year": 2020})


def test_a_title_that_is_the_first_heading_is_not_said_twice() -> None:
    document = Document(id="tea", text=f"# Tea\n\n{PROSE}\n\n## Milk\n\n{PROSE}", title="Tea")
    assert [passage.title for passage in passages(document, target=40, overlap=0)] == ["Tea", "Tea › Milk"]


def test_pages_are_counted_from_one() -> None:
    document = Document(id="d", text=f"{PROSE}\n\n{PROSE}", pages=(0, len(PROSE) + 2))
    assert [passage.meta["page"] for passage in passages(document, target=32, overlap=0)] == [1, 2]
