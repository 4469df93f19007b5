"""Mending what models write: lossless for what is right, never invented for what is missing."""

import json
from contextlib import suppress
from typing import Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import Field

from personable.errors import ModelOutputError
from personable.llm.repair import candidates, read
from personable.types import Value

plain = st.text(st.characters(codec="utf-8"))
scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | plain
values = st.recursive(scalars, lambda inner: st.lists(inner) | st.dictionaries(plain, inner), max_leaves=12)
objects = st.dictionaries(plain, values, min_size=1) | st.lists(values, min_size=1)


class Note(Value):
    kind: Literal["note"] = "note"
    need: str
    queries: list[str] = Field(default_factory=list, max_length=3)
    verdict: Literal["not needed", "helps"] = "helps"
    score: float = Field(0.5, ge=0, le=1)
    count: int = 0


class Lax(Value):
    need: str = ""
    queries: list[str] = Field(default_factory=list)


class Queries(Value):
    queries: list[str]


notes = st.builds(
    Note,
    need=plain,
    queries=st.lists(plain, max_size=3),
    score=st.floats(0, 1),
    count=st.integers(-(10**9), 10**9),
)
words = st.text(st.sampled_from("abc xyz"), min_size=1).map(str.strip)
prose = st.text(st.characters(codec="ascii", exclude_characters="{}[]`"), max_size=80)


@pytest.mark.slow
@settings(deadline=None)
@given(objects)
def test_valid_json_is_read_as_it_is(value: Any):
    assert list(candidates(json.dumps(value))) == [(value, False)]


@settings(deadline=None)
@given(notes)
def test_a_valid_note_comes_back_unchanged(note: Note):
    assert read(note.model_dump_json(), Note) == (note, False)


@settings(deadline=None)
@given(notes, prose, prose)
def test_a_note_in_prose_is_found(note: Note, before: str, after: str):
    assert read(f"{before}{note.model_dump_json()}{after}", Note)[0] == note


@settings(deadline=None)
@given(notes, st.sampled_from(["", "json", "JSON"]), prose)
def test_a_note_in_a_code_fence_is_found(note: Note, language: str, before: str):
    assert read(f"{before}\n```{language}\n{note.model_dump_json(indent=2)}\n```\n", Note)[0] == note


@settings(deadline=None)
@given(notes)
def test_an_array_around_a_note_is_opened(note: Note):
    assert read(f"[{note.model_dump_json()}]", Note)[0] == note


@settings(deadline=None)
@given(notes)
def test_a_wrapper_around_a_note_is_opened(note: Note):
    assert read(json.dumps({"note": note.model_dump()}), Note)[0] == note


@settings(deadline=None)
@given(st.builds(Note, need=words, queries=st.lists(words, max_size=3)), st.integers(0, 400))
def test_a_note_that_is_cut_off_is_mended_or_refused_and_keeps_its_beginning(note: Note, length: int):
    text = note.model_dump_json()[:length]
    try:
        mended, _ = read(text, Note)
    except ModelOutputError:
        return
    assert note.need.startswith(mended.need)
    assert all(whole.startswith(part) for whole, part in zip(note.queries, mended.queries, strict=False))
    assert len(mended.queries) <= len(note.queries)


@settings(deadline=None)
@given(st.text())
def test_any_text_is_a_note_or_an_output_error(text: str):
    with suppress(ModelOutputError):
        assert isinstance(read(text, Note)[0], Note)


@settings(deadline=None)
@given(st.text(st.sampled_from("{}[]\",:\\'`need querisco01.\n")))
def test_any_text_that_looks_like_json_is_a_note_or_an_output_error(text: str):
    with suppress(ModelOutputError):
        assert read(text, Note)[0].model_dump_json().encode()


MENDED = {
    "trailing commas": '{"need": "tea", "queries": ["a", "b",],}',
    "single quotes": "{'need': 'tea', 'queries': ['a', 'b']}",
    "cut off in a list": '{"need": "tea", "queries": ["a", "b"',
    "cut off in a fence": '```json\n{"need": "tea", "queries": ["a", "b"]',
    "no quotes around names": '{need: "tea", queries: ["a", "b"]}',
    "comments": '{"need": "tea", // what\n "queries": ["a", "b"]}',
    "prose around": 'Here you are: {"need": "tea", "queries": ["a", "b"]} I hope {this} helps.',
    "several objects, the first that fits": '{"x": 1} {"need": "tea", "queries": ["a", "b"]} {"need": "milk"}',
    "names in another spelling": '{"Need": "tea", "QUERIES": ["a", "b"]}',
    "unknown fields": '{"need": "tea", "queries": ["a", "b"], "confidence": "high"}',
    "text for a number": '{"need": "tea", "queries": ["a", "b"], "score": "0.5"}',
    "null where there is a default": '{"need": "tea", "queries": ["a", "b"], "score": null}',
    "NaN where there is a default": '{"need": "tea", "queries": ["a", "b"], "score": NaN}',
    "a choice in other letters": '{"need": "tea", "queries": ["a", "b"], "verdict": "HELPS"}',
    "python literals": "{'need': 'tea', 'queries': ['a', 'b'], 'score': None}",
    "a thought before": '<think>{"need": ?}</think>\n{"need": "tea", "queries": ["a", "b"]}',
    "byte order mark": '\ufeff{"need": "tea", "queries": ["a", "b"]}',
}


@pytest.mark.parametrize("text", MENDED.values(), ids=MENDED.keys())
def test_usual_faults_are_mended(text: str):
    assert read(text, Note)[0] == Note(need="tea", queries=["a", "b"])


REFUSED = {
    "prose": "I am sorry, I cannot do that.",
    "nothing": "",
    "an empty object": "{}",
    "only white space": " \n\t",
    "a number": "42",
    "a string": '"tea"',
    "the schema itself": '{"properties": {"need": {"type": "string"}}}',
    "a missing field": '{"queries": ["a"]}',
    "a value out of bounds": '{"need": "tea", "score": 85}',
    "only the discriminator": '{"kind": "note"}',
    "a choice that does not exist": '{"need": "tea", "verdict": "maybe"}',
    "an object for a text": '{"need": {"a": 1}}',
}


@pytest.mark.parametrize("text", REFUSED.values(), ids=REFUSED.keys())
def test_what_is_missing_is_not_invented(text: str):
    with pytest.raises(ModelOutputError):
        read(text, Note)


@pytest.mark.parametrize("text", ["I would say {something}", '{"answer": "tea"}', "[1, 2]", '{"need": ""} is empty'])
def test_a_form_of_defaults_is_not_filled_from_nothing(text: str):
    if text.startswith('{"need"'):
        assert read(text, Lax)[0] == Lax()
    else:
        with pytest.raises(ModelOutputError):
            read(text, Lax)


def test_one_text_becomes_a_list_of_one():
    assert read('{"need": "tea", "queries": "green tea"}', Note)[0].queries == ["green tea"]


def test_a_number_becomes_text():
    assert read('{"need": 42}', Note)[0].need == "42"


def test_a_list_that_is_too_long_is_shortened():
    assert read('{"need": "tea", "queries": ["a", "b", "c", "d"]}', Note)[0].queries == ["a", "b", "c"]


def test_an_array_fills_a_form_of_one_list():
    assert read('["a", "b"]', Queries)[0] == Queries(queries=["a", "b"])


def test_a_surrogate_pair_is_one_character_and_a_half_is_replaced():
    assert read('{"need": "\\ud83c\\udf75 \\ud83c"}', Note)[0].need == "🍵 �"


def test_the_error_names_the_fields_that_are_wrong():
    with pytest.raises(ModelOutputError, match=r"need: field required; score: .*less than or equal to 1"):
        read('{"score": 9}', Note)


def test_deep_nesting_is_refused_and_no_crash():
    with pytest.raises(ModelOutputError):
        read("[" * 100_000, Note)


def test_a_long_text_of_braces_is_read_in_bounded_time():
    with pytest.raises(ModelOutputError):
        read("{a " * 70_000, Note)
