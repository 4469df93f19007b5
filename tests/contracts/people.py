"""What every store of people must do, whichever database is below. A subclass gives the fixture `people`."""

from __future__ import annotations

import asyncio
import math
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from personable.errors import DataError, NotFoundError, UsageError
from personable.people.events import Event, EventKind
from personable.people.store import People

ODD_IDS = ["a/b/../c", 'O\'Brien "x"; --', "%_*", "👩‍🔬", "שרה", "x" * 200, " padded ", "Ana", "ana"]
BAD_IDS = ["", "   ", "a\nb", "a\0b", "a\u2028b", "\ud800", "x" * 201]
MISVALUED: list[tuple[EventKind, float | None]] = [
    *(("rating", value) for value in (None, 0, 5.5, 99)),
    *(("thumbs", value) for value in (None, 0, 7)),
    *(("dwell", value) for value in (None, -5, 1e9)),
    ("click", 1),
]


class PeopleContract:
    # People

    async def test_a_person_is_found_again_as_added(self, people: People) -> None:
        added = await people.add("ana", "Ana B.", "on")
        assert await people.get("ana") == added
        assert (added.name, added.dial) == ("Ana B.", "on")

    async def test_adding_a_taken_id_changes_nothing(self, people: People) -> None:
        first = await people.add("ana", "first")
        with pytest.raises(DataError, match="'ana' exists already"):
            await people.add("ana", "second")
        assert await people.list() == [first]

    async def test_an_unknown_person_is_an_error_that_says_how_to_make_one(self, people: People) -> None:
        calls = [
            people.get("bob"),
            people.statements("bob"),
            people.events("bob"),
            people.turns("bob", "s"),
            people.recall("bob"),
            people.export("bob"),
            people.erase("bob"),
            people.tell("bob", "I like tea"),
            people.forget("bob", "1"),
            people.record(Event(person="bob", kind="query")),
            people.add_turn("bob", "s", "q", "a"),
            people.open_session("bob"),
            people.sessions("bob"),
            people.had("bob", "shop"),
            people.answers("bob"),
            people.set_dial("bob", "on"),
            people.weights("bob"),
            people.weight_history("bob"),
            people.set_weights("bob", {}, "none"),
            people.roll_back_weights("bob", "start"),
            people.roll_back_weights("bob", "1"),
            people.undo_weights("bob"),
            people.learn(Event(person="bob", kind="click"), lambda *_: None),
            people.save_answer("a1", "bob", None, "{}", "[]"),
        ]
        for call in calls:
            with pytest.raises(NotFoundError, match="'bob'; make one with: personable person add"):
                await call
        assert await people.list() == []

    async def test_odd_ids_are_kept_exactly_and_apart(self, people: People) -> None:
        for id in ODD_IDS:
            await people.add(id)
            await people.tell(id, f"my id is {id[:20]!r}")
        assert {person.id for person in await people.list()} == set(ODD_IDS)
        for id in ODD_IDS:
            assert [one.text for one in await people.statements(id)] == [f"my id is {id[:20]!r}"]

    @pytest.mark.parametrize("id", BAD_IDS)
    async def test_a_bad_id_is_refused(self, people: People, id: str) -> None:
        with pytest.raises(UsageError):
            await people.add(id)
        with pytest.raises((UsageError, NotFoundError)):
            await people.get(id)
        assert await people.list() == []

    async def test_the_dial_is_set_and_checked(self, people: People) -> None:
        await people.add("ana")
        assert (await people.set_dial("ana", "off")).dial == (await people.get("ana")).dial == "off"
        with pytest.raises(UsageError, match="off, auto, on"):
            await people.set_dial("ana", "loud")  # type: ignore[arg-type]

    async def test_settings_are_set_one_by_one(self, people: People) -> None:
        added = await people.add("ana", "Ana")
        assert (added.learned, added.share_sensitive) == ("ask", False)
        await people.set("ana", learned="use")
        await people.set("ana", share_sensitive=True)
        wanted = added.model_copy(update={"learned": "use", "share_sensitive": True})
        assert await people.set("ana") == await people.get("ana") == wanted
        for wrong in ({"learned": "always"}, {"name": "x" * 201}, {"dial": "loud"}):
            with pytest.raises(UsageError):
                await people.set("ana", **wrong)  # type: ignore[arg-type]
        assert await people.get("ana") == wanted

    # Weights and runs

    async def test_the_newest_weights_hold_and_the_older_ones_are_history(self, people: People) -> None:
        await people.add("ana")
        assert await people.weights("ana") is None
        first = await people.set_weights("ana", {"dense": 0.5, "source:nhs": -1.25}, "clicked", "e1")
        second = await people.set_weights("ana", {"dense": 0.75}, "thumbs up")
        assert await people.weights("ana") == (await people.recall("ana")).weights == second
        back = await people.roll_back_weights("ana", first.id)
        assert back.values == first.values
        start = await people.roll_back_weights("ana", "start")
        assert start.values == {}
        assert await people.weight_history("ana") == [first, second, back, start]

    async def test_a_lesson_stores_event_and_weights_together_or_neither(self, people: People) -> None:
        await people.add("ana")
        asked = Event(person="ana", kind="query", text="soup", answer="a1")
        await people.record_many([asked, Event(person="ana", kind="click", answer="a2")])
        click = Event(person="ana", kind="click", passage="p", answer="a1")
        seen: list[Any] = []

        def lesson(latest: Any, earlier: Any) -> tuple[dict[str, float], str]:
            seen.append((latest, list(earlier)))
            return {"dense": (latest.values["dense"] if latest else 0.0) + 1.0}, "a click"

        first = await people.learn(click, lesson)
        assert first is not None
        assert (first.values, first.reason, first.event) == ({"dense": 1.0}, "a click", click.id)
        assert seen == [(None, [asked])]
        before = await people.export("ana")
        for bad, wrong in ((click, lesson), (Event(person="ana", kind="click"), lambda *_: ({"dense": math.nan}, "?"))):
            with pytest.raises((DataError, UsageError)):
                await people.learn(bad, wrong)
        assert await people.export("ana") == before
        assert await people.learn(Event(person="ana", kind="comment", text="fine"), lambda *_: None) is None
        assert await people.weight_history("ana") == [first]

    async def test_lessons_at_once_build_on_each_other(self, people: People) -> None:
        await people.add("ana")

        def lesson(latest: Any, _earlier: Any) -> tuple[dict[str, float], str]:
            return {"dense": (latest.values["dense"] if latest else 0.0) + 1.0}, "a click"

        await asyncio.gather(*(people.learn(Event(person="ana", kind="click"), lesson) for _ in range(10)))
        assert [one.values["dense"] for one in await people.weight_history("ana")] == [*range(1, 11)]

    async def test_undo_goes_back_lesson_by_lesson(self, people: People) -> None:
        await people.add("ana")
        for weight in (1.0, 2.0):
            await people.set_weights("ana", {"dense": weight}, "a click")
        assert (await people.undo_weights("ana")).values == {"dense": 1.0}
        assert (await people.undo_weights("ana")).values == {}
        with pytest.raises(UsageError, match="nothing to undo"):
            await people.undo_weights("ana")
        assert len(await people.weight_history("ana")) == 4

    async def test_weights_of_another_are_out_of_reach(self, people: People) -> None:
        await people.add("ana")
        await people.add("bob")
        hers = await people.set_weights("ana", {"dense": 1.0}, "clicked")
        with pytest.raises(NotFoundError, match="no change of weights"):
            await people.roll_back_weights("bob", hers.id)
        assert await people.weight_history("bob") == []

    async def test_a_weight_that_is_no_number_is_refused(self, people: People) -> None:
        await people.add("ana")
        for wrong in (float("nan"), float("inf")):
            with pytest.raises(UsageError, match="'dense' is not a finite number"):
                await people.set_weights("ana", {"dense": wrong}, "?")
        assert await people.weight_history("ana") == []

    async def test_run_folders_are_registered_once(self, people: People, tmp_path: Path) -> None:
        await people.register_run(tmp_path / "b")
        await people.register_run(str(tmp_path / "a"))
        await people.register_run(tmp_path / "b")
        assert await people.runs() == [tmp_path / "b", tmp_path / "a"]

    # Events, sessions and turns

    async def test_events_come_in_the_order_of_their_times(self, people: People) -> None:
        await people.add("ana")
        start = datetime(1899, 12, 31, tzinfo=UTC)
        events = [
            Event(
                person="ana",
                kind="dwell",
                session=f"s{n % 2}",
                passage="no such",
                value=n,
                answer=f"answer {n}",
                position=n + 1,
                time=start + n * timedelta(1),
            )
            for n in range(6)
        ]
        assert await people.record_many(reversed(events)) == 6
        assert await people.events("ana") == events
        assert await people.events("ana", limit=2) == events[-2:]
        assert await people.events("ana", "s1", limit=2) == [events[3], events[5]]

    async def test_a_batch_with_one_bad_event_stores_none(self, people: People) -> None:
        await people.add("ana")
        good = Event(person="ana", kind="query", text="soup")
        for bad, error in (
            (Event(person="bob", kind="query"), NotFoundError),
            (good, DataError),
            (Event(person="ana", kind="comment", text="zero \0"), UsageError),
            (Event(person="ana", kind="comment", text="half \ud800"), UsageError),
            (Event(person="ana", kind="comment", session=""), UsageError),
            *((Event(person="ana", kind=kind, value=value), UsageError) for kind, value in MISVALUED),
            *((Event(person="ana", kind="click", item=item), UsageError) for item in ("", " ", "x" * 201)),
        ):
            with pytest.raises(error):
                await people.record_many([good, bad])
            assert await people.events("ana") == []

    async def test_events_of_another_are_not_seen(self, people: People) -> None:
        await people.add("ana")
        await people.add("bob")
        await people.record(Event(person="ana", kind="query", session="s", text="secret"))
        assert await people.events("bob") == await people.events("bob", "s") == []

    async def test_what_was_only_shown_does_not_push_out_what_was_done(self, people: People) -> None:
        await people.add("ana")
        done = Event(person="ana", kind="click", text="soup", time=datetime(2020, 1, 1, tzinfo=UTC))
        await people.record_many([done, *(Event(person="ana", kind="impression") for _ in range(9))])
        assert (await people.recall("ana", events=3)).events == [done]

    async def test_what_a_person_ever_did_something_with_was_had(self, people: People) -> None:
        await people.add("ana")
        await people.add("bob")

        def event(kind: EventKind, item: str, value: float | None = None, collection: str | None = "shop") -> Event:
            return Event(person="ana", kind=kind, item=item, value=value, collection=collection)

        done = [event("click", "pen"), event("purchase", "pen"), event("thumbs", "ink", -1), event("rating", "desk", 3)]
        done += [event("dwell", "lamp", 2), event("purchase", "clock", collection=None)]
        nothing = [event("dwell", "cup", 0), event("impression", "jug"), event("click", "fork", collection="other")]
        await people.record_many([*done, *nothing, Event(person="bob", kind="click", item="bowl")])
        assert await people.had("ana", "shop") == {"pen", "ink", "desk", "lamp", "clock"}
        assert await people.had("bob", "other") == {"bowl"}

    async def test_turns_are_numbered_within_a_session_of_one_person(self, people: People) -> None:
        await people.add("ana")
        await people.add("bob")
        session = await people.open_session("ana")
        assert await people.open_session("ana", session) == session
        await asyncio.gather(*(people.add_turn("ana", session, f"q{n}", "a") for n in range(8)))
        mine = await people.add_turn("bob", session, "mine", "a", "answer 1")
        assert [turn.number for turn in await people.turns("ana", session, limit=99)] == list(range(1, 9))
        assert [turn.number for turn in await people.turns("ana", session)] == [6, 7, 8]
        assert await people.turns("bob", session) == [mine]
        assert await people.turns("ana", "unknown") == []

    # Answers

    async def test_an_answer_is_found_only_by_whom_it_was_given_to(self, people: People) -> None:
        await people.add("ana")
        await people.add("bob")
        await people.save_answer("a1", "ana", "s", '{"text": "hers"}', "[1]")
        await people.save_answer("a2", None, None, '{"text": "anybody"}', "[2]")
        kept = await people.answer("a1", "ana")
        assert (kept.person, kept.session, kept.answer, kept.board) == ("ana", "s", '{"text": "hers"}', "[1]")
        assert (await people.answer("a2")).board == "[2]"
        assert await people.any_answer("a1") == kept
        for id, person in (("a1", "bob"), ("a1", None), ("a2", "ana"), ("a3", None)):
            with pytest.raises(NotFoundError, match=f"no answer '{id}'"):
                await people.answer(id, person)

    async def test_answers_are_listed_newest_first_and_only_to_whom_they_were_given(self, people: People) -> None:
        await people.add("ana")
        await people.add("bob")
        for number in range(5):
            await people.save_answer(f"a{number}", "ana", None, f"{number}", "[]")
        await people.save_answer("b", "bob", "s", "his", "[]")
        await people.save_answer("n", None, None, "anybody's", "[]")
        assert [one.id for one in await people.answers("ana", limit=2)] == ["a4", "a3"]
        assert [one.id for one in await people.answers("ana", limit=9, before="a3")] == ["a2", "a1", "a0"]
        assert [(one.id, one.session, one.answer) for one in await people.answers("bob")] == [("b", "s", "his")]
        assert [one.id for one in await people.answers()] == ["n"]
        for other in ("b", "n", "unknown"):
            with pytest.raises(NotFoundError, match=other):
                await people.answers("ana", before=other)

    async def test_sessions_are_listed_newest_first_with_their_turns_counted(self, people: People) -> None:
        await people.add("ana")
        await people.add("bob")
        await people.add_turn("ana", "first", "q", "a")
        await people.add_turn("ana", "first", "q", "a")
        await people.open_session("ana", "second")
        await people.add_turn("bob", "first", "q", "a")
        assert [(one.id, one.turns) for one in await people.sessions("ana")] == [("second", 0), ("first", 2)]
        assert [(one.id, one.turns) for one in await people.sessions("ana", limit=1)] == [("second", 0)]
        assert [(one.id, one.turns) for one in await people.sessions("bob")] == [("first", 1)]

    async def test_an_answer_is_never_overwritten(self, people: People) -> None:
        await people.add("ana")
        await people.save_answer("a1", None, None, "first", "[]")
        with pytest.raises(DataError, match="nothing was stored"):
            await people.save_answer("a1", "ana", None, "second", "[]")
        assert (await people.answer("a1")).answer == "first"

    async def test_answers_to_strangers_are_forgotten_once_old_enough_and_those_of_people_stay(
        self, people: People
    ) -> None:
        await people.add("ana")
        await people.save_answer("a1", "ana", None, "hers", "[]")
        await people.save_answer("a2", None, None, "anybody's", "[]")
        assert await people.forget_answers(timedelta(hours=1)) == 0
        assert (await people.answer("a2")).answer == "anybody's"
        assert await people.forget_answers() == 1
        with pytest.raises(NotFoundError, match="a2"):
            await people.any_answer("a2")
        assert (await people.answer("a1", "ana")).answer == "hers"
