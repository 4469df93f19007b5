import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from personable.errors import DataError
from personable.evaluation import metrics

text = st.text(max_size=40)


@pytest.mark.parametrize(
    ("answer", "golds", "inside", "bounded"),
    [
        ("It was sung by tlc.", ["TLC"], True, True),
        ("a party", ["art"], True, False),
        ("the Straße", ["STRASSE"], True, True),
        ("12th of May", ["12"], True, False),
        ("in (New York)", ["new york"], True, True),
        ("C++ and C", ["C++"], True, True),
        ("Rome", ["Paris", "Rome"], True, True),
        ("Rome", ["Paris"], False, False),
        ("", ["Paris"], False, False),
        ("anything", [], False, False),
        ("anything", [""], False, False),
    ],
)
def test_containment(answer: str, golds: list[str], inside: bool, bounded: bool) -> None:
    assert metrics.contains(answer, golds) is inside
    assert metrics.contains_words(answer, golds) is bounded


@given(text, text.filter(bool), text)
def test_an_answer_contains_what_stands_in_it(before: str, gold: str, after: str) -> None:
    assert metrics.contains(before + gold + after, [gold])


@given(text, st.lists(text, max_size=3))
def test_at_word_borders_is_never_more_lenient(answer: str, golds: list[str]) -> None:
    assert metrics.contains(answer, golds) or not metrics.contains_words(answer, golds)


def test_squad_normalisation() -> None:
    assert metrics.normalise("The  Cat's, an apple — A!") == "cats apple —"


@pytest.mark.parametrize(
    ("answer", "golds", "em", "f1"),
    [
        ("The TLC!", ["tlc"], True, 1.0),
        ("the band TLC", ["TLC"], False, 2 * (1 / 2) * 1 / (1 / 2 + 1)),
        ("a b c d", ["b c x"], False, 2 * (2 / 3) * (2 / 3) / (4 / 3)),  # "a" is an article
        (
            "to be or not to be",
            ["to to to"],
            False,
            2 * 2 / (6 + 3),
        ),  # repeated tokens count as often as both have them
        ("Neil", ["Young", "Neil Young", "Neil"], True, 1.0),  # best over aliases, not their mean
        ("", ["x"], False, 0.0),
        ("", ["the"], False, 0.0),
        ("the", ["a"], True, 1.0),
        ("x", [], False, 0.0),
    ],
)
def test_exact_match_and_f1(answer: str, golds: list[str], em: bool, f1: float) -> None:
    assert metrics.exact_match(answer, golds) is em
    assert metrics.token_f1(answer, golds) == pytest.approx(f1, abs=1e-12)


@given(text, st.lists(text, min_size=1, max_size=3))
def test_f1_is_a_share_and_one_where_the_match_is_exact(answer: str, golds: list[str]) -> None:
    f1 = metrics.token_f1(answer, golds)
    assert 0 <= f1 <= 1
    assert f1 == 1 or not metrics.exact_match(answer, golds)


def test_length_counts_unicode_words() -> None:
    assert metrics.length("It's 3 o'clock, né?") == 4
    assert metrics.length("") == 0


def test_passages() -> None:
    passages = ["nothing", "sung by TLC", "TLC again"]
    assert metrics.first_answer(passages, ["tlc"]) == 2
    assert metrics.first_answer(passages, ["abba"]) is None
    assert [metrics.passage_contains(passages, ["tlc"], k) for k in (1, 2, 3)] == [False, True, True]
    assert not metrics.passage_contains([], ["tlc"], 3)


def test_hit() -> None:
    assert [metrics.hit(["a", "b", "c"], {"b"}, k) for k in (0, 1, 2, 9)] == [False, False, True, True]


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_a_score_that_is_no_number_is_an_error(value: float) -> None:
    with pytest.raises(DataError, match="F1 of q1 is"):
        metrics.finite(value, "F1 of q1")
