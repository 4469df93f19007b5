import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from personable.llm.quote import quote
from personable.llm.quote_span import length
from personable.text import words
from personable.types import Passage

TOWER = Passage(
    id="tower",
    text="The Eiffel Tower is in Paris. It was finished in 1889 by the company of Gustave Eiffel. Many people visit.",
)
LIBERTY = Passage(id="liberty", text="The Statue of Liberty stands in New York Harbor. It was dedicated in 1886.")
CARD = Passage(
    id="card",
    title="Asthma",
    text="What are the symptoms of asthma?\n\nThe symptoms of asthma may include:\n- wheezing\n- chest tightness\n"
    "- a cough at night\n\nAsthma is common in children. Doctors study its causes in many countries.",
)


def texts(found):
    return [quoted.text for quoted in found.sentences]


def test_a_date_answers_when():
    found = quote("When was the Eiffel Tower finished?", [LIBERTY, TOWER], similar=None)
    assert found.answer_type == "date"
    assert "1889" in found.sentences[0].text
    assert found.found


def test_a_pronoun_borrows_the_sentence_before_it():
    found = quote("When was the Statue of Liberty dedicated?", [TOWER, LIBERTY], similar=None, max_words=8)
    assert "1886" in " ".join(texts(found))


def test_the_title_counts_as_context():
    untitled = Passage(id="a", text="It was first sold in 1975 by two friends. It has four strings.")
    titled = untitled.model_copy(update={"title": "Banjo Supreme"})
    question = "When was the Banjo Supreme first sold?"
    assert quote(question, [titled], similar=None).score > quote(question, [untitled], similar=None).score


def test_a_list_is_quoted_with_the_sentence_that_introduces_it():
    found = quote("What are the symptoms of asthma?", [CARD], similar=None)
    assert found.answer_type == "account"
    assert texts(found)[0] == ("The symptoms of asthma may include:\n- wheezing\n- chest tightness\n- a cough at night")


def test_a_question_in_a_document_is_no_answer():
    found = quote("What are the symptoms of asthma?", [CARD], similar=None, max_words=100)
    assert not any("What are" in text for text in texts(found))


def test_a_title_that_only_repeats_the_question_is_not_quoted():
    title = Passage(id="t", text="Eiffel Tower")
    found = quote("Where is the Eiffel Tower?", [title, TOWER], similar=None)
    assert "Eiffel Tower" not in texts(found)


GUIDE = Passage(
    id="guide",
    title="Kettles",
    text="# How to descale a kettle safely\nFill it with vinegar. Wait for an hour.\n## Descale a kettle\n"
    "- rinse twice\n### Kettle\n- dry it well\n\n#hashtags are no headings.",
)


def test_a_heading_is_never_quoted_and_what_follows_it_is():
    found = quote("How to descale a kettle?", [GUIDE], similar=None, max_words=100)
    assert sorted(texts(found)) == [
        "#hashtags are no headings.",
        "- dry it well",
        "- rinse twice",
        "Fill it with vinegar.",
        "Wait for an hour.",
    ]


def test_a_heading_counts_as_context():
    headed = Passage(id="a", text="# Banjo Supreme\nIt was first sold in 1975 by two friends. It has four strings.")
    bare = headed.model_copy(update={"text": headed.text.partition("\n")[2]})
    question = "When was the Banjo Supreme first sold?"
    assert quote(question, [headed], similar=None).score > quote(question, [bare], similar=None).score


def by_words(question, texts):
    """The cosine of bags of words: 1 for the same words, as with any embedding."""
    asked, bags = set(words(question)), [set(words(text)) for text in texts]
    return np.array([len(asked & bag) / (len(asked) * len(bag)) ** 0.5 for bag in bags], dtype=np.float32)


@pytest.mark.parametrize("similar", [None, by_words])
@pytest.mark.parametrize(
    ("question", "statement"),
    [
        ("Metformin lowers blood sugar.", "Metformin lowers blood sugar."),
        ("metformin lowers blood sugar", "Metformin lowers blood sugar."),
        ("Cats sleep most of the day", "Cats sleep most of the day"),
        ("Asthma is common in children.", "Asthma is common in children."),
        ("Does metformin lower blood sugar?", "Metformin lowers blood sugar."),
        ("Does metformin lower blood sugar?", "Metformin does not lower blood sugar."),
    ],
)
def test_a_statement_of_just_what_was_asked_is_an_answer(question, statement, similar):
    found = quote(question, [TOWER, Passage(id="a", text=f"It is old.\n\n{statement}")], similar=similar)
    assert texts(found)[0] == statement
    assert found.found


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("Eiffel Tower", "Eiffel Tower"),
        ("Does metformin lower sugar?", "Metformin lowers."),
        ("Who sleeps?", "Sleep."),
        ("Is it?", "It is."),
    ],
)
def test_a_name_or_half_of_the_question_is_no_answer(question, text):
    assert texts(quote(question, [Passage(id="a", text=text)], similar=None)) == []


def test_other_topics_are_not_an_answer():
    found = quote("Who discovered the structure of penicillin?", [TOWER, LIBERTY, CARD], similar=None)
    assert not found.found


def test_repeated_passages_are_quoted_once():
    again = TOWER.model_copy(update={"id": "again"})
    found = quote("When was the Eiffel Tower finished?", [TOWER, again], similar=None, max_words=60)
    assert len(set(texts(found))) == len(found.sentences)
    assert {quoted.passage for quoted in found.sentences} == {0}


def test_weights_decide_between_equal_passages():
    first = Passage(id="a", text="The city library opens at nine in the morning on Monday.")
    second = Passage(id="b", text="The city library opens at ten in the morning on Sunday.")
    for favoured, weights in ((0, [4.0, 0.25]), (1, [0.25, 4.0])):
        found = quote("When does the city library open?", [first, second], similar=None, weights=weights)
        assert found.sentences[0].passage == favoured


def test_a_passage_of_weight_zero_is_never_quoted():
    found = quote("When was the Eiffel Tower finished?", [TOWER, LIBERTY], similar=None, weights=[0.0, 1.0])
    assert all(quoted.passage == 1 for quoted in found.sentences)


@pytest.mark.parametrize(
    ("weights", "message"),
    [([1.0], "1 weights for 2 passages"), ([1.0, -1.0], "not negative"), ([1.0, float("nan")], "finite")],
)
def test_bad_weights_are_refused(weights, message):
    with pytest.raises(ValueError, match=message):
        quote("Where?", [TOWER, LIBERTY], similar=None, weights=weights)


def test_no_words_allowed_is_refused():
    with pytest.raises(ValueError, match="max_words is 0"):
        quote("Where?", [TOWER], similar=None, max_words=0)


@pytest.mark.parametrize("passages", [[], [Passage(id="a", text="")], [Passage(id="a", text=" \n\n . ")]])
def test_nothing_to_read_finds_nothing(passages):
    found = quote("Where is it?", passages, similar=None)
    assert (found.sentences, found.found, found.score) == ([], False, 0.0)


def test_chinese_is_quoted_and_counted_by_characters():
    passage = Passage(id="zh", text="长城位于中国北方。它建于公元前七世纪。熊猫吃竹子。")
    found = quote("长城位于哪里", [passage], similar=None, language="zh", max_words=12)
    assert found.sentences[0].text == "长城位于中国北方。"
    assert sum(length(text) for text in texts(found)) <= 12


def test_german_words_are_stemmed():
    passage = Passage(id="de", text="Der Dom wurde 1248 begonnen. Die Brücken der Stadt sind neu.")
    found = quote("Welche Brücke ist neu?", [passage], similar=None, language="de", max_words=7)
    assert found.sentences[0].text == "Die Brücken der Stadt sind neu."


def test_similarity_is_asked_for_few_texts_only():
    asked: list[int] = []

    def similar(question, texts):
        asked.append(len(texts))
        return np.linspace(0, 1, len(texts), dtype=np.float32)

    long = Passage(id="long", text=" ".join(f"Person{i} Smith was born in town{i} in 19{i:02}." for i in range(60)))
    quote("Who was born in town7?", [long], similar=similar)
    assert asked[0] == 8
    assert 0 < asked[1] == asked[2] <= 24


def test_a_sentence_longer_than_the_limit_is_cut_between_words():
    passage = Passage(id="a", text="alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu")
    found = quote("What is omega?", [passage], similar=None, max_words=3)
    assert texts(found) == ["alpha beta gamma"]


def test_a_very_long_question_is_answered():
    found = quote("When was the Eiffel Tower finished? " + "please " * 15000, [TOWER], similar=None)
    assert any("1889" in text for text in texts(found))


PIECES = st.lists(
    st.sampled_from(
        ["Ada Lovelace", "in 1843", "wrote", ",", "(", ")", ".", "the notes", "\n- ", "“", "é", "長城", "?"]
    ),
    max_size=40,
).map(" ".join)


@settings(deadline=None, max_examples=60)
@given(question=PIECES, bodies=st.lists(PIECES, max_size=4), max_words=st.integers(1, 50))
def test_quotations_are_exact_within_the_limit_and_the_same_every_time(question, bodies, max_words):
    passages = [Passage(id=str(i), text=body) for i, body in enumerate(bodies)]
    found = quote(question, passages, similar=None, max_words=max_words)
    assert all(passages[q.passage].text[q.start : q.end] == q.text != "" for q in found.sentences)
    assert sum(length(text) for text in texts(found)) <= max_words
    assert [q.score for q in found.sentences] == sorted((q.score for q in found.sentences), reverse=True)
    assert found == quote(question, passages, similar=None, max_words=max_words)


@pytest.mark.embedder
def test_meaning_finds_what_words_do_not():
    from personable.embed import make_embedder

    embedder = make_embedder("minilm")

    def similar(question, texts):
        return embedder.passages(texts) @ embedder.queries([question])[0]

    passage = Passage(
        id="a",
        text="Rain is common in spring. The physician Maria Keller cured the boy's illness. The lake is cold.",
    )
    found = quote("Which doctor healed the child's disease?", [passage], similar=similar, max_words=8)
    assert "Maria Keller" in " ".join(texts(found))
    assert not quote("Who painted the ceiling of the chapel?", [passage], similar=similar).found
