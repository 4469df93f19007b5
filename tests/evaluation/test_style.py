import math

import pytest

from personable.errors import UsageError
from personable.evaluation import style


def test_bleu2_by_hand() -> None:
    # three of three words and two of two pairs match, one word short: exp(1 - 4/3)
    assert style.bleu2(["the cat sat"], ["the cat sat down"]) == pytest.approx(100 * math.exp(-1 / 3))
    # precisions 2/3 and 1/2 at equal length
    assert style.bleu2(["the cat ran"], ["the cat sat"]) == pytest.approx(100 * math.sqrt(2 / 3 * 1 / 2))


def test_bleu2_of_the_same_texts_is_100() -> None:
    assert style.bleu2(["one two three", "four five"], ["one two three", "four five"]) == pytest.approx(100)


def test_bleu2_of_empty_answers_is_0() -> None:
    assert style.bleu2(["", ""], ["one two", "three"]) == 0


@pytest.mark.parametrize(("ours", "theirs"), [([], []), (["a"], ["a", "b"])])
def test_bleu2_needs_pairs(ours: list[str], theirs: list[str]) -> None:
    with pytest.raises(UsageError, match="as many texts"):
        style.bleu2(ours, theirs)


def test_sentence_length_by_hand() -> None:
    assert style.sentence_length("The cat sat down. It was very warm today.") == 4.5


@pytest.mark.slow  # textstat reads a whole dictionary
def test_syllables_by_hand() -> None:
    assert style.syllables("The beautiful cat sat.") == (1 + 3 + 1 + 1) / 4


@pytest.mark.parametrize("text", ["", "  ", "...", "?!"])
def test_a_text_without_words_has_no_style(text: str) -> None:
    assert style.sentence_length(text) is None
    assert style.syllables(text) is None
