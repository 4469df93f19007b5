"""The portrait: what of a person matters for a question."""

from __future__ import annotations

import asyncio
import math
import threading
from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from personable.errors import NotFoundError
from personable.people.events import Event, EventKind, now
from personable.people.portrait import Interest, Portrait, _bounded, interests, overlap, portrait, worth
from personable.people.store import People
from personable.text import tokens
from personable.types import Question
from tests.stores import new_people

NOON = datetime(2026, 1, 31, 12, tzinfo=UTC)


@pytest.fixture
async def people(tmp_path: Path) -> AsyncIterator[People]:
    async with await new_people(tmp_path / "people.db") as opened:
        await opened.add("ana", "Ana")
        yield opened


def ask(text: str = "What shall I cook?", session: str | None = None, **fields: str) -> Question:
    return Question.model_validate({"text": text, "person": "ana", "session": session, **fields})


def event(kind: EventKind, text: str = "", days: float = 0, value: float | None = None, session: str = "old") -> Event:
    return Event(person="ana", kind=kind, text=text, session=session, value=value, time=NOON - timedelta(days=days))


async def test_a_question_without_a_person_has_an_empty_portrait(people: People) -> None:
    assert await portrait(people, Question(text="What is tea?")) == Portrait()


async def test_an_unknown_person_is_an_error(people: People) -> None:
    with pytest.raises(NotFoundError, match="'bob'"):
        await portrait(people, Question(text="What is tea?", person="bob"))


async def test_a_cold_start_says_that_nothing_is_known(people: People) -> None:
    assert await portrait(people, ask(session="new")) == Portrait(person="ana", name="Ana")


async def test_statements_are_ranked_by_similarity_in_a_worker_thread(people: People) -> None:
    for text in ("I play chess", "I am vegetarian", "I like soup"):
        await people.tell("ana", text)
    threads = []

    def similar(question: str, texts: Sequence[str]) -> list[float]:
        threads.append(threading.current_thread())
        return [{"I play chess": -0.2, "I am vegetarian": 0.8, "I like soup": 0.5}[text] for text in texts]

    drawn = await portrait(people, ask(), similar)
    ranked = [(one.statement.text, one.score) for one in drawn.statements]
    assert ranked == [("I am vegetarian", 0.8), ("I like soup", 0.5), ("I play chess", 0.0)]
    assert drawn.known
    assert threads != [threading.main_thread()]


async def test_without_similarity_shared_rare_words_rank(people: People) -> None:
    for text in ("I like long walks", "I like spicy soups"):
        await people.tell("ana", text)
    drawn = await portrait(people, ask("Which soup is spicy?"))
    assert [one.statement.text for one in drawn.statements] == ["I like spicy soups", "I like long walks"]


async def test_similarities_that_do_not_match_the_statements_are_an_error(people: People) -> None:
    await people.tell("ana", "I like soup")
    with pytest.raises(ValueError, match="zip"):
        await portrait(people, ask(), lambda question, texts: [])


async def test_only_confirmed_statements_that_hold_now_appear(people: People) -> None:
    await people.tell("ana", "I own a dog", source="inferred")
    await people.tell("ana", "I live in Rome", valid_to=now() - timedelta(days=1))
    await people.tell("ana", "I will live in Oslo", valid_from=now() + timedelta(days=1))
    rejected = await people.tell("ana", "I smoke")
    await people.reject("ana", rejected.id)
    assert not (await portrait(people, ask())).known
    later = await portrait(people, ask(), at=now() + timedelta(days=2))
    assert [one.statement.text for one in later.statements] == ["I will live in Oslo"]


@pytest.mark.parametrize("who", ["person", "question"])
async def test_a_dial_that_is_off_leaves_everything_out(people: People, who: str) -> None:
    await people.tell("ana", "I like soup")
    await people.add_turn("ana", "s", "q", "a")
    await people.set_dial("ana", "off" if who == "person" else "on")
    drawn = await portrait(people, ask(session="s", dial="on" if who == "person" else "off"))
    assert drawn == Portrait(person="ana", name="Ana", dial="off")


@pytest.mark.parametrize(
    ("own", "asked", "counts"), [("on", "auto", "on"), ("auto", "on", "on"), ("auto", "auto", "auto")]
)
async def test_the_dial_of_the_question_comes_before_the_persons(
    people: People, own: str, asked: str, counts: str
) -> None:
    await people.set_dial("ana", own)  # type: ignore[arg-type]
    assert (await portrait(people, ask(dial=asked))).dial == counts


async def test_for_what_is_remote_what_may_not_leave_stands_apart(people: People) -> None:
    await people.tell("ana", "I like soup", sensitive=False)
    await people.tell("ana", "I have diabetes", sensitive=True)
    await people.tell("ana", "I have two sisters")
    await people.record(event("query", "insulin prices"))
    seen: list[str] = []

    def similar(question: str, texts: Sequence[str]) -> list[float]:
        seen.extend(texts)
        return [0.5] * len(texts)

    drawn = await portrait(people, ask(session="s"), similar, remote=True, similar_remote=True)
    assert (seen, [one.statement.text for one in drawn.statements]) == (["I like soup"], ["I like soup"])
    assert {one.statement.text for one in drawn.withheld} == {"I have diabetes", "I have two sisters"}
    assert (drawn.interests, drawn.need, drawn.known) == ([], "", True)
    assert len((await portrait(people, ask(), similar)).statements) == 3
    assert len(seen) == 4


async def test_statements_that_may_leave_and_others_share_the_token_limit(people: People) -> None:
    for number in range(20):
        await people.tell("ana", f"I like dish number {number}", sensitive=bool(number % 2))
    drawn = await portrait(people, ask(), limit_tokens=60, remote=True)
    whole = await portrait(people, ask(), limit_tokens=60)
    assert 0 < len(drawn.statements) + len(drawn.withheld) == len(whole.statements) < 20
    assert drawn.tokens == whole.tokens <= 60


async def test_the_session_gives_the_need_and_the_past_the_interests(people: People) -> None:
    await people.record_many(
        [
            event("query", "pasta", days=30),
            event("click", "Lentil soup", session="now"),
            event("impression", "Never opened", session="now"),
            event("click", "Pea soup", session="now"),
            event("click", "Lentil soup", session="now"),
        ]
    )
    await people.add_turn("ana", "now", "Which soups are quick?", "These.")
    drawn = await portrait(people, ask(session="now"), at=NOON)
    assert drawn.clicks == ["Pea soup", "Lentil soup"]
    assert drawn.need == "Which soups are quick?; Pea soup; Lentil soup"
    assert drawn.interests == [Interest(text="pasta", weight=0.25)]


async def test_another_persons_session_of_the_same_name_is_not_seen(people: People) -> None:
    await people.add("bob")
    await people.add_turn("bob", "s", "secret", "a")
    await people.record(Event(person="bob", kind="click", session="s", text="secret"))
    assert not (await portrait(people, ask(session="s"))).known


def test_interests_halve_with_each_half_life_and_add_up() -> None:
    events = [
        event("click", "Soup", 0),
        event("click", "soup", 30),
        event("query", "soup", 60),
        event("click", "tea", 30),
    ]
    assert interests(events, NOON) == [Interest(text="soup", weight=1.625), Interest(text="tea", weight=0.5)]


def test_what_was_disliked_is_no_interest() -> None:
    events = [event("click", "soup"), event("rating", value=1), event("thumbs", value=-1)]
    named = [one.model_copy(update={"item": "tea"}) for one in events[1:]]
    assert interests([events[0], *named], NOON) == [Interest(text="soup", weight=1.0)]


def test_an_event_from_the_future_is_not_worth_more() -> None:
    assert interests([event("click", "soup", days=-400)], NOON) == [Interest(text="soup", weight=1.0)]


@pytest.mark.parametrize(
    ("kind", "value", "expected"),
    [
        ("rating", 5, 1.0), ("rating", 3, 0.0), ("rating", 1, -1.0), ("rating", 99, 1.0), ("rating", None, 0.0),
        ("thumbs", -1, -1.0), ("dwell", 30, 0.5), ("dwell", 900, 1.0), ("dwell", -5, 0.0),
        ("click", 3, 1.0), ("purchase", None, 2.0), ("impression", 1, 0.0),
    ],
)  # fmt: skip
def test_what_an_event_is_worth(kind: EventKind, value: float | None, expected: float) -> None:
    assert worth(event(kind, value=value)) == expected


def test_overlap_is_the_share_of_a_texts_rare_words() -> None:
    # "i" and "like" stand in both texts and weigh log(1 + 2/3); "tea" and "soup" in one: log(1 + 2/2).
    common, rare = math.log(5 / 3), math.log(2)
    assert overlap("like tea?", ["I like tea", "I like soup"]) == pytest.approx(
        [(common + rare) / (2 * common + rare), common / (2 * common + rare)]
    )
    assert overlap("?", ["I like tea", "!"]) == [0.0, 0.0]


async def test_a_long_statement_does_not_keep_the_next_one_out(people: People) -> None:
    await people.tell("ana", "soup " * 300)
    await people.tell("ana", "I like tea")
    drawn = await portrait(people, ask("soup"), limit_tokens=50)
    assert [one.statement.text for one in drawn.statements] == ["I like tea"]
    assert drawn.tokens == tokens("I like tea")


@given(
    st.lists(st.text(max_size=40), max_size=6),
    st.lists(st.text(min_size=1, max_size=40), max_size=6),
    st.integers(0, 80),
)
def test_a_portrait_never_exceeds_its_limit(clicks: list[str], found: list[str], limit: int) -> None:
    full = Portrait(clicks=clicks, interests=[Interest(text=text, weight=1) for text in found])
    bounded = _bounded(full, limit)
    assert bounded.tokens == sum(map(tokens, [*bounded.clicks, *(one.text for one in bounded.interests)]))
    assert bounded.tokens <= limit


@pytest.mark.slow
async def test_fifty_people_at_once_see_only_themselves(people: People) -> None:
    names = [f"p{n}" for n in range(50)]
    for name in names:
        await people.add(name)
        await people.tell(name, f"canary {name}.")
        await people.record(Event(person=name, kind="click", session="s", text=f"click {name}."))
    drawn = await asyncio.gather(
        *(portrait(people, Question(text="canary", person=name, session="s")) for name in names)
    )
    for name, one in zip(names, drawn, strict=True):
        assert ([r.statement.text for r in one.statements], one.clicks) == ([f"canary {name}."], [f"click {name}."])
