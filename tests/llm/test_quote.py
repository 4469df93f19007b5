import pytest

from personable.llm.quote import quote
from personable.types import Passage

PASSAGES = [
    Passage(
        id="a",
        text="The Eiffel Tower is in Paris. It was finished in 1889 by Gustave Eiffel's company. Many people visit.",
    ),
    Passage(id="b", text="The Statue of Liberty stands in New York Harbor. It was dedicated in 1886."),
]


def test_the_sentence_that_answers_comes_first():
    found = quote("When was the Eiffel Tower finished?", PASSAGES, similar=None)
    assert found.answer_type == "date"
    assert "1889" in found.sentences[0].text


def test_every_quotation_is_an_exact_piece_of_its_passage():
    found = quote("Where does the Statue of Liberty stand?", PASSAGES, similar=None)
    assert found.sentences
    for quoted in found.sentences:
        assert PASSAGES[quoted.passage].text[quoted.start : quoted.end] == quoted.text


def test_weights_must_match_the_passages():
    with pytest.raises(ValueError, match="1 weights for 2 passages"):
        quote("Where?", PASSAGES, similar=None, weights=[1.0])


def test_no_passages_gives_nothing_found():
    assert not quote("Where?", [], similar=None).found
