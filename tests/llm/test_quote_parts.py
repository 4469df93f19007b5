import pytest

from personable.llm.quote_mention import mentions, tokens
from personable.llm.quote_model import fitted
from personable.llm.quote_reading import Reader
from personable.llm.quote_span import length, spans
from personable.types import Passage

COMMON = frozenset(["the", "in", "of", "he", "and", "was", "by"])


def named(sentence):
    return [(mention.kind, mention.text) for mention in mentions(sentence, tokens(sentence), COMMON)]


def test_names_dates_numbers_titles_and_words_are_mentions():
    found = named('The song "Go Now" sold 3 million in May 1964 by Moody Blues.')
    assert found == [
        ("word", "song"),
        ("title", "Go Now"),
        ("word", "sold"),
        ("number", "3 million"),
        ("date", "May 1964"),
        ("name", "Moody Blues"),
    ]


def test_an_article_and_a_pronoun_are_no_names():
    assert named("The Beatles") == [("name", "Beatles")]
    assert named("He") == []


def test_numbers_with_separators_are_one_word():
    assert [token.text for token in tokens("his 4,000th winner")] == ["his", "4,000th", "winner"]
    assert Reader("en").stem("4,000th") == Reader("en").stem("4000th")


def test_every_chinese_character_is_a_word():
    assert [token.text for token in tokens("长城 wall")] == ["长", "城", "wall"]
    assert length("长城 wall") == 3


def test_spans_are_clauses_without_what_joins_them():
    sentence = "In early 1838 the minister came, and he stayed in the old town for years"
    found = {sentence[span.start : span.end] for span in spans(sentence, 10)}
    assert "In early 1838 the minister came" in found
    assert "he stayed in the old town" in found
    assert all(length(text) <= 10 for text in found)


def test_a_sentence_that_fits_is_a_whole_span():
    whole = [span for span in spans("It is small.", 10) if span.whole]
    assert [(span.start, span.end, span.length) for span in whole] == [(0, 12, 3)]


def test_list_items_join_up_to_sixty_words():
    items = "\n".join(f"- item {i} of the long list" for i in range(20))
    found = Reader("en").passages([Passage(id="a", text=f"The list holds these items:\n{items}")])
    assert len(found) > 1
    assert all(len(sentence.text.split()) <= 60 for sentence in found)


@pytest.mark.parametrize("dense", [True, False])
def test_the_shipped_weights_say_that_covering_the_question_helps(dense):
    model = fitted(dense)
    covered = model.sentence.logits([{"coverage": 1.0, "coverage_squared": 1.0}, {"coverage": 0.0}])
    assert covered[0] > covered[1]
    assert 0 < model.threshold < 1
