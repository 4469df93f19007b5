"""Exports that come back as they were, Markdown lists and iKAT's ptkb."""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from personable.errors import DataError
from personable.people.exchange import from_markdown, from_ptkb, moment, to_markdown, to_ptkb
from personable.people.person import Person
from personable.people.statements import Statement, Told
from personable.people.store import People

pytestmark = pytest.mark.slow

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
ANA = Person(id="ana", name="Ana", created=NOON)
texts = st.text(st.characters(exclude_categories=("Cs", "Cc")) | st.sampled_from("\n\t*_`-#\\()<"), min_size=1).filter(
    lambda text: text.strip() == text
)
moments = st.datetimes(datetime(1800, 1, 1), datetime(2200, 1, 1), timezones=st.just(UTC))
statements = st.builds(
    Statement,
    id=st.just("1"),
    person=st.just("ana"),
    text=texts,
    kind=st.sampled_from(["fact", "preference", "constraint", "goal"]),
    state=st.sampled_from(["proposed", "confirmed", "rejected"]),
    sensitive=st.sampled_from([None, True, False]),
    valid_from=st.none() | moments,
    valid_to=st.none() | moments,
    created=st.just(NOON),
)


@given(statements)
def test_markdown_gives_back_what_it_was_made_of(one: Statement) -> None:
    (told,) = from_markdown(to_markdown(ANA, [one]))
    state = None if one.state == "confirmed" else one.state
    assert told == Told(
        one.text,
        one.kind,
        state=state,
        sensitive=one.sensitive,
        valid_from=one.valid_from,
        valid_to=one.valid_to,
    )


def test_markdown_is_fit_to_read() -> None:
    one = Statement(id="1", person="ana", text="I have gout", kind="constraint", sensitive=True, created=NOON)
    assert to_markdown(ANA, [one]) == "# What is known about Ana\n\n## Constraints\n\n- I have gout *(sensitive)*\n"


def test_markdown_of_other_origin_is_read() -> None:
    text = "# Me\n\nSome prose.\n\n* I like tea\r\n2. I play chess\n## Goals\n+ To run\n  far *(until 2026-01-31)*\n"
    assert from_markdown(text) == [
        Told("I like tea"),
        Told("I play chess"),
        Told("To run\nfar", "goal", valid_to=datetime(2026, 1, 31, tzinfo=UTC)),
    ]


@pytest.mark.parametrize("text", ["", "only prose", "- tea *(odd)*", "- tea *(until tomorrow)*"])
def test_markdown_that_cannot_be_read_is_refused(text: str) -> None:
    with pytest.raises(DataError, match=r"no statement|unknown|is no date"):
        from_markdown(text)


@pytest.mark.parametrize(
    "value",
    [
        {"ptkb": {"1": "I like tea", "2": "I play chess"}},
        {"1": "I like tea", "2": "I play chess"},
        {"number": "9-1", "ptkb": [{"id": "1", "text": "I like tea"}, {"id": "2", "text": "I play chess"}]},
        ["I like tea", "I play chess"],
    ],
)
def test_every_form_of_a_ptkb_is_read(value: object) -> None:
    assert from_ptkb(value) == [Told("I like tea"), Told("I play chess")]


@pytest.mark.parametrize("value", [{}, [], 7, None, {"ptkb": "x"}, {"ptkb": {"1": 7}}, [{"id": "1"}]])
def test_what_is_no_ptkb_is_refused(value: object) -> None:
    with pytest.raises(DataError, match="ptkb"):
        from_ptkb(value)


@given(st.lists(statements, min_size=1))
def test_a_ptkb_comes_back(ones: list[Statement]) -> None:
    assert [told.text for told in from_ptkb(to_ptkb(ones))] == [one.text for one in ones]


def test_a_date_without_a_zone_is_utc() -> None:
    assert moment("1899-12-31") == datetime(1899, 12, 31, tzinfo=UTC)
    assert moment("2026-01-01T13:00:00+01:00") == NOON


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    told=st.lists(st.tuples(texts, st.sampled_from(["told", "inferred"]), st.none() | moments), max_size=5),
    acts=st.lists(st.tuples(st.sampled_from(["confirm", "reject", "undo", "forget", "edit"]), st.integers(0, 4))),
    weights=st.dictionaries(st.sampled_from(["dense", "sparse"]), st.floats(-9, 9)),
)
def test_whatever_happened_comes_back_the_same(
    tmp_path: Path, told: list[tuple[str, str, datetime | None]], acts: list[tuple[str, int]], weights: dict[str, float]
) -> None:
    async def live() -> None:
        async with await People.open(tmp_path / "people.db") as people:
            await people.add("ana")
            try:
                kept = await people.tell_many(
                    "ana",
                    [Told(text, source=source, valid_from=since) for text, source, since in told],  # type: ignore[arg-type]
                )
                await people.set_weights("ana", weights, "a click")
                for act, place in acts:
                    await _act(people, act, kept, place)
                before = await people.export("ana")
                await people.erase("ana")
                await people.restore(json.loads(json.dumps(before)))
                assert await people.export("ana") == before
            finally:
                await people.erase("ana")

    asyncio.run(live())


async def _act(people: People, act: str, kept: list[Statement], place: int) -> None:
    if place < len(kept):
        more = ("I live in Rome", "I like tea")[place % 2 : place % 2 + 1] if act == "edit" else ()
        try:
            await getattr(people, act)("ana", kept[place].id, *more)
        except DataError:  # forgotten before, or the same was said already
            assert act in ("confirm", "reject", "undo", "forget", "edit")
