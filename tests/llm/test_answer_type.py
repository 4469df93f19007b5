import pytest

from personable.llm.answer_type import answer_type


@pytest.mark.parametrize(
    ("question", "kind", "head"),
    [
        ("Who wrote Antigone?", "person", ""),
        ("when was kudzu introduced to the united states", "date", ""),
        ("What year did the Phillies begin?", "date", "year"),
        ("where is the un based?", "place", ""),
        ("In which Arizona town did the gunfight take place?", "place", "town"),
        ("what countries were part of the spanish empire?", "place", "countries"),
        ("How many moons has Mars?", "number", ""),
        ("which former prime minister was born in Kent", "person", "minister"),
        ("Which 1983 film starring Shirley MacLaine won five Oscars?", "thing", "film"),
        ("what movies queen latifah is in", "thing", "movies"),
        ("what kind of money do i bring to mexico?", "thing", "money"),
        ("who was carolus linnaeus?", "definition", ""),
        ("What is (are) Glycogen storage disease type 4 ?", "definition", "disease"),
        ("What are the symptoms of asthma?", "account", "symptoms"),
        ("Why is the sky blue?", "account", ""),
        ("How do I treat a burn?", "account", ""),
        ("Is asthma inherited?", "yesno", ""),
        ("Welche Brücke ist neu?", "thing", ""),
        ("", "thing", ""),
    ],
)
def test_the_kind_and_the_noun_that_a_question_asks_for(question, kind, head):
    found = answer_type(question)
    assert found.kind == kind
    if kind != "definition":
        assert found.head == head


def test_the_phrase_names_the_class_of_the_answer():
    assert answer_type("which river flows through Cologne?").phrase == "river"
    assert answer_type("who sang it first").phrase == "name of a person"
