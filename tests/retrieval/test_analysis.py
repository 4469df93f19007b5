from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from personable.retrieval.analysis import LONGEST, STEMMERS, Analyser
from personable.retrieval.stopwords import without_function_words

ENGLISH = Analyser("en")


@pytest.mark.parametrize(
    ("language", "text", "terms"),
    [
        ("en", "The running DOGS ran", ["the", "run", "dog", "ran"]),
        ("en", "patient's don't don’t O'Neill", ["patient", "dont", "dont", "oneil"]),
        ("en", "type-2 diabetes, vitamin_B12 3.5", ["type", "2", "diabet", "vitamin", "b12", "3", "5"]),
        ("en", "naïve café CAFÉ cafe", ["naiv", "cafe", "cafe", "cafe"]),
        ("it", "l’acqua dell'aquila perché", ["l", "acqua", "dell", "aquil", "perc"]),
        ("de", "Straße STRASSE Häuser", ["strass", "strass", "haus"]),
        ("zh", "高血压", ["高", "血", "压", "高血", "血压"]),
        ("zh", "COVID疫苗", ["covid", "疫", "苗", "疫苗"]),
        ("ja", "ｶﾞﾝ治療", ["ガ", "ン", "治", "療", "ガン", "ン治", "治療"]),
        ("ko", "당뇨병", ["당", "뇨", "병", "당뇨", "뇨병"]),
        ("hi", "मधुमेह", ["मधुमेह"]),
        ("ru", "Ёлки ёлки", ["елк", "елк"]),
        ("en", "ﬁne ２０２３", ["fine", "2023"]),
        ("xx", "running dogs", ["running", "dogs"]),
        ("en", " \n…?!", []),
        ("en", "x" * 1000, ["x" * LONGEST]),
    ],
)
def test_terms(language: str, text: str, terms: list[str]) -> None:
    assert Analyser(language).terms(text) == terms


@pytest.mark.parametrize("language", sorted(STEMMERS))
def test_every_language_has_its_stemmer(language: str) -> None:
    assert len(Analyser(language).terms("abc def")) == 2


@given(st.text())
def test_terms_are_words_without_white_space_and_analysis_is_repeatable(text: str) -> None:
    terms = ENGLISH.terms(text)
    assert all(term and not any(char.isspace() for char in term) for term in terms)
    assert terms == Analyser("en").terms(text)


@given(st.text(alphabet=st.characters(codec="utf-8")))
def test_composed_decomposed_and_upper_case_spellings_are_one(text: str) -> None:
    composed = ENGLISH.terms(unicodedata.normalize("NFC", text))
    assert ENGLISH.terms(unicodedata.normalize("NFD", text)) == composed


@given(st.text(), st.text())
def test_terms_of_two_texts_are_those_of_each(first: str, second: str) -> None:
    assert ENGLISH.terms(f"{first}\n{second}") == ENGLISH.terms(first) + ENGLISH.terms(second)


def test_the_memory_for_stems_is_bounded() -> None:
    analyser = Analyser("en")
    analyser._stems._limit = 10
    assert analyser.terms(" ".join(f"w{n}" for n in range(100))) == [f"w{n}" for n in range(100)]
    assert len(analyser._stems) <= 10


@pytest.mark.parametrize(
    ("language", "query", "content"),
    [
        ("en", "What is the treatment for my daughter's DVT?", ["treatment", "daughter", "dvt"]),
        ("en", "I've been there, haven’t you?", ["ive", "been", "there", "havent", "you"]),
        ("en", "who is the who", ["who", "is", "the", "who"]),
        ("it", "che cosa è il diabete", ["cos", "diab"]),
        ("zh", "什么", ["什", "么", "什么"]),
    ],
)
def test_content_leaves_function_words_out_unless_there_is_nothing_else(
    language: str, query: str, content: list[str]
) -> None:
    assert Analyser(language).content(query) == content


def test_a_language_without_a_list_keeps_every_word() -> None:
    assert without_function_words(["the", "x"], "xx") == ["the", "x"]
