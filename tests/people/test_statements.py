"""Statements as values: kinds, sameness, validity, and what may leave."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from personable.errors import UsageError
from personable.people.checks import checked_id, checked_statement, utc
from personable.people.person import start_questions
from personable.people.statements import Kind, Statement, guess_kind, may_leave, sameness

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


def statement(**fields: object) -> Statement:
    given = {"id": "1", "person": "ana", "text": "t", "kind": "fact", "created": NOON, **fields}
    return Statement.model_validate(given)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("I'm vegetarian", "constraint"),
        ("I am allergic to peanuts and like soup", "constraint"),
        ("I can't drive", "constraint"),
        ("My budget is 50 euros", "constraint"),
        ("I want to run a marathon", "goal"),
        ("I'm learning Italian", "goal"),
        ("I love jazz", "preference"),
        ("I can't stand horror films", "preference"),
        ("I'd rather walk", "preference"),
        ("I live in Trento", "fact"),
        ("My sister is likely older", "fact"),
        ("Ho due figli", "fact"),
    ],
)
def test_the_kind_is_guessed_by_wording(text: str, kind: Kind) -> None:
    assert guess_kind(text) == kind


@given(st.text(max_size=30), st.sampled_from("aÉ字7"))
def test_case_space_and_full_stops_do_not_make_another_statement(lead: str, letter: str) -> None:
    text = lead + letter
    assert sameness(f"  {text} . ") == sameness(text)
    assert sameness(text.casefold()) == sameness(text)


def test_composed_and_decomposed_letters_are_the_same() -> None:
    assert sameness("caf\u00e9") == sameness("cafe\u0301")


@pytest.mark.parametrize(("one", "other"), [("I like C", "I like C#"), ("!", "?"), ("5 km", "-5 km"), ("m²", "m2")])
def test_other_signs_make_another_statement(one: str, other: str) -> None:
    assert sameness(one) != sameness(other)


@pytest.mark.parametrize(
    ("sensitive", "remote", "allowed"),
    [(True, True, False), (None, True, False), (False, True, True), (True, False, True), (None, False, True)],
)
def test_only_what_is_known_to_be_harmless_leaves(sensitive: bool | None, remote: bool, allowed: bool) -> None:
    assert may_leave(statement(sensitive=sensitive), remote) is allowed


def test_a_statement_holds_from_its_beginning_until_before_its_end() -> None:
    hour = timedelta(hours=1)
    one = statement(valid_from=NOON, valid_to=NOON + hour)
    assert [one.holds(NOON + n * hour / 2) for n in (-1, 0, 1, 2)] == [False, True, True, False]
    assert statement().holds(datetime.min.replace(tzinfo=UTC))


@given(st.text(max_size=50))
def test_an_id_is_kept_exactly_or_refused(text: str) -> None:
    try:
        assert checked_id(text, "person") == text
    except UsageError:
        assert not text.strip() or any(not character.isprintable() for character in text)


@given(st.text(max_size=50))
def test_a_statement_is_only_trimmed_or_refused(text: str) -> None:
    try:
        assert checked_statement(text) == text.strip()
    except UsageError:
        assert not text.strip() or any(not character.isprintable() for character in text)


def test_a_refusal_names_the_character_and_its_place() -> None:
    with pytest.raises(UsageError, match=r"control character U\+0007 at position 2"):
        checked_statement("ab\a")


def test_a_time_outside_of_the_calendar_is_refused() -> None:
    with pytest.raises(UsageError, match="years 1 to 9999"):
        utc(datetime.max.replace(tzinfo=timezone(timedelta(hours=-5))))


def test_three_questions_end_a_cold_start() -> None:
    assert len({question for question in start_questions() if question.endswith("?")}) == 3
