"""Reading lay messages: what they ask, names mended, abbreviations written out."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from personable.errors import DataError
from personable.retrieval.lay import MOST_MENDED, Lay, Vocabulary, asks

DOCUMENTS = [
    ("What is Normal Pressure Hydrocephalus ?", "Normal Pressure Hydrocephalus", "NPH causes trouble walking."),
    ("What are the symptoms of diarrhea ?", "diarrhea", "Loose stools, three or more a day."),
    ("What causes Seasonal Affective Disorder ?", "Seasonal Affective Disorder", "SAD makes people sad in winter."),
    ("How to prevent shingles ?", "shingles", "A vaccine can prevent shingles. Everybody wondering should ask."),
    ("a", "", "wondering"),
    ("b", "", "wondering"),
]


@pytest.fixture
def lay() -> Lay:
    return Lay(Vocabulary.of(DOCUMENTS))


def test_misspelt_words_of_titles_are_mended_and_known_ones_stay(lay: Lay) -> None:
    asked = lay.read("I was wondering about diahrrea. Does shingels hurt?")
    assert asked.mended == {"diahrrea": "diarrhea", "shingels": "shingles"}
    assert asked.whole == "I was wondering about diarrhea. Does shingles hurt?"


def test_only_what_is_asked_is_the_focus_with_the_subject_line(lay: Lay) -> None:
    asked = lay.read("Shingles\nHello, I am 62 and live alone. How can I prevent it? Thank you!")
    assert asked.focus == "Shingles\nHow can I prevent it?"
    assert asked.kinds == {"prevention"}
    assert lay.read("my knee hurts").focus == "my knee hurts"


def test_initials_are_written_out_where_the_texts_use_them_as_a_word_of_their_own(lay: Lay) -> None:
    assert lay.read("any exercise for nph").focus.endswith("\nNormal Pressure Hydrocephalus")
    assert lay.read("I am sad").focus == "I am sad", "a usual word is not an abbreviation"


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("how to taper off", True),
        ("I would like to know more.", True),
        ("Vorrei sapere se passa.", True),
        ("Posso allattare", True),
        ("Is it?", True),
        ("I live in Rome.", False),
        ("", False),
    ],
)
def test_questions_are_told_also_without_a_mark(sentence: str, expected: bool) -> None:
    assert asks(sentence) is expected


def test_of_a_very_long_message_the_beginning_and_the_last_questions_are_read(lay: Lay) -> None:
    story = "We went home and slept. " * 700
    asked = lay.read(f"Hello. {story} How do I prevent shingles?")
    assert "How do I prevent shingles?" in asked.focus
    assert len(asked.whole.split()) < 2100


def test_three_thousand_words_of_another_language_take_no_time(lay: Lay) -> None:
    began = time.process_time()
    asked = lay.read(" ".join(f"słowo{'abcdefghij'[n % 10]}{'klmnopqrst'[n // 10 % 10]}ing" for n in range(3000)))
    assert time.process_time() - began < 5
    assert len(asked.mended) <= MOST_MENDED
    assert lay.read("私の膝が痛いです").focus == "私の膝が痛いです"


def test_a_vocabulary_comes_back_as_it_was_stored_and_a_missing_one_is_named(tmp_path: Path, lay: Lay) -> None:
    lay.vocabulary.store(tmp_path)
    assert Vocabulary.stored(tmp_path) == lay.vocabulary
    (tmp_path / "words.json").unlink()
    with pytest.raises(DataError, match=r"words\.json is missing or damaged"):
        Vocabulary.stored(tmp_path)
