"""What words give away: a sensitive topic, or nothing."""

from __future__ import annotations

import pytest

from personable.people.sensitivity import Topic, classify, sensitive_topic


@pytest.mark.parametrize(
    ("text", "topic"),
    [
        ("I am on hemodialysis", "health"),
        ("Sono allergica alle noci", "health"),
        ("I'm 30 weeks pregnant", "health"),
        ("Soffro di diabete", "health"),
        ("I take my daughter to the mosque", "beliefs"),
        ("Sono cattolico", "beliefs"),
        ("I voted for them", "politics"),
        ("Sono di sinistra", "politics"),
        ("I am gay", "sexuality"),
        ("Sono omosessuale", "sexuality"),
        ("I came here as a refugee", "origin"),
        ("I'm black", "origin"),
        ("My income is low", "finances"),
        ("Ho un mutuo", "finances"),
        ("I was in prison", "crime"),
        ("Sono stato condannato", "crime"),
    ],
)
def test_a_word_gives_the_topic_away(text: str, topic: Topic) -> None:
    assert sensitive_topic(text) == topic
    assert classify(text) is True


@pytest.mark.parametrize(
    "text",
    [
        "I like black tea", "I'll take a taxi", "In genere prendo il treno", "I investigate birds", "I learn Italian",
        "I run races", "I work in hospitality", "I love white chocolate", "אני גרה בחיפה", "", "🍜",
    ],
)  # fmt: skip
def test_what_no_word_gives_away_stays_unclassified_and_is_never_called_harmless(text: str) -> None:
    assert classify(text) is None
