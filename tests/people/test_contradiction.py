"""Which statements end which, and above all which do not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from personable.people.contradiction import contradicts
from personable.people.slots import claim


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ("I moved to Trento", "I live in Rome"),
        ("I’ve just moved to Trento with my cat.", "I live in Rome, Italy"),
        ("i moved to trento", "I live in Rome"),
        ("I moved to Canada", "I live in London, UK"),
        ("Mi sono trasferita a Trento", "Vivo a Roma"),
        ("Abito a Trento", "I live in Rome"),
        ("I work as a nurse", "I work as a teacher in a school"),
        ("I'm retired", "I work as a nurse"),
        ("Lavoro come infermiera", "Il mio lavoro è la maestra"),
        ("My name is Eva", "My name is Ana"),
        ("Mi chiamo Eva", "My name is Ana"),
        ("I'm 35", "I'm 34 years old"),
        ("I just turned 35", "I am 34"),
        ("Ho 41 anni", "Ho 40 anni"),
        ("I'm divorced", "I'm married"),
        ("Sono divorziata", "Sono sposata"),
        ("I'm vegan", "I'm vegetarian"),
        ("I eat meat", "I am vegetarian"),
        ("Mangio carne", "Sono vegetariano"),
        ("I'm 32 weeks pregnant", "I am 30 weeks pregnant"),
        ("I'm 30 weeks pregnant and have gestational diabetes", "I'm 29 weeks pregnant"),
        ("I gave birth", "I'm 32 weeks pregnant"),
        ("Sono incinta di 20 settimane", "Sono alla 18a settimana di gravidanza"),
        ("I don't have a dog any more", "I have a dog"),
        ("I have no dog", "I have a dog"),
        ("I no longer eat meat", "I eat meat"),
        ("I'm no longer vegetarian", "I am vegetarian"),
        ("I don't like C", "I like C"),
        ("I can drive now", "I can't drive"),
        ("I hate coffee", "I love coffee"),
        ("I stopped smoking", "I smoke"),
        ("I'm not allergic to nuts", "I'm allergic to nuts"),
        ("Non mangio più carne", "Mangio carne"),
        ("Odio il caffè", "Mi piace il caffè"),
        ("Ho smesso di fumare", "Fumo"),
    ],
)
def test_these_cannot_both_hold(new: str, old: str) -> None:
    assert contradicts(new, old)


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ("I like C++", "I like C"),
        ("I don't like C++", "I like C"),
        ("I have a cat", "I have a dog"),
        ("I live in London", "I live in London, UK"),
        ("I live in the UK", "I live in London"),
        ("Abito in Italia", "Abito a Roma"),
        ("I live in New York City", "I live in New York"),
        ("I also live in Paris", "I live in Rome"),
        ("I live in a small flat", "I live in Rome"),
        ("I live in Rome and Milan", "I live in Oslo"),
        ("I moved to Trento 20 years ago", "I live in Rome"),
        ("I want to move to Trento", "I live in Rome"),
        ("I used to live in Oslo", "I live in Rome"),
        ("My sister moved to Trento", "I live in Rome"),
        ("I moved to Trento", "I live in Rome with my diabetic mother"),
        ("I'm 31 weeks pregnant", "I'm 30 weeks pregnant and have gestational diabetes"),
        ("I'm pregnant", "I'm 32 weeks pregnant"),
        ("I'm 32 weeks pregnant", "I'm 32"),
        ("I'm 26 years sober", "I'm 54"),
        ("Ho 12 anni di esperienza", "Ho 41 anni"),
        ("I'm single", "I'm divorced"),
        ("I'm engaged in politics", "I'm single"),
        ("My name is Ana Bianchi", "My name is Ana"),
        ("Call me Bob", "My name is Robert"),
        ("My sister is not vegetarian", "I am vegetarian"),
        ("I am allergic to penicillin", "I am allergic to nuts"),
        ("I'm allergic to nuts and milk", "I'm allergic to nuts"),
        ("I'm not only vegetarian but vegan", "I'm vegetarian"),
        ("I work nights", "I work as a nurse"),
        ("I like tea", "I like coffee"),
    ],
)
def test_these_both_live(new: str, old: str) -> None:
    assert not contradicts(new, old)


@given(st.text(max_size=80))
def test_nothing_contradicts_itself(text: str) -> None:
    assert not contradicts(text, text)


@given(st.text(max_size=60), st.text(max_size=60))
def test_any_text_is_read_without_an_error(new: str, old: str) -> None:
    assert contradicts(new, old) in (True, False)


def test_a_statement_that_says_more_is_not_whole() -> None:
    plain, more = claim("I am 30 weeks pregnant"), claim("I am 30 weeks pregnant and have diabetes")
    assert plain is not None
    assert more is not None
    assert (plain.value, plain.whole, more.value, more.whole) == ("30", True, "30", False)
