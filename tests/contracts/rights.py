"""What every store must do when a person wants their data out, or gone. A subclass gives the fixture `people`."""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime
from typing import Any

import pytest

from personable.errors import DataError, NotFoundError
from personable.people.events import Event, Kept, now
from personable.people.statements import Told
from personable.people.store import People


async def everything(people: People) -> list[dict[str, Any]]:
    """All that the store holds, to see that nothing changed."""
    return [await people.export(person.id) for person in await people.list()]


class RightsContract:
    async def _filled(self, people: People, person: str) -> None:
        await people.add(person)
        await people.tell(person, f"canary {person}")
        await people.record(Event(person=person, kind="query", session="s", text=f"canary {person}"))
        await people.add_turn(person, "s", f"canary {person}", "a")
        await people.save_answer(f"answer {person}", person, "s", f"canary {person}", "[]")
        await people.set_weights(person, {"dense": 0.5}, "a click")

    async def test_export_holds_everything_and_nobody_else(self, people: People) -> None:
        await self._filled(people, "ana")
        await self._filled(people, "bob")
        held = await people.export("ana")
        sizes = {name: len(rows) for name, rows in held.items() if isinstance(rows, list)}
        assert sizes == {
            "answers": 1, "changes": 1, "events": 1, "sessions": 1, "statements": 1, "turns": 1, "weights": 1
        }  # fmt: skip
        text = json.dumps(held)
        assert text.count("canary ana") == 5
        assert "bob" not in text

    async def test_erasing_one_leaves_the_other(self, people: People) -> None:
        await self._filled(people, "ana")
        await self._filled(people, "bob")
        before = await people.export("bob")
        receipt = await people.erase("ana")
        assert receipt.removed == {
            "answers": 1, "changes": 1, "events": 1, "keys": 0, "people": 1, "sessions": 1, "statements": 1, "turns": 1,
            "weights": 1,
        }  # fmt: skip
        assert await everything(people) == [before]
        with pytest.raises(NotFoundError):
            await people.any_answer("answer ana")

    async def test_forgetting_takes_the_words_out_of_all_that_is_kept(self, people: People) -> None:
        await self._filled(people, "ana")
        await self._filled(people, "bob")
        before = await people.export("bob")
        statement = await people.tell("ana", "I am afraid of 50 % of O'Brien's marigolds.")
        said = "You say: i am afraid of  50 % of O’Brien's MARIGOLDS! So?"
        await people.record(Event(person="ana", kind="comment", text=said))
        await people.add_turn("ana", "s", said, said)
        await people.tell("ana", "I like roses", source="inferred", cause=said)
        await people.save_answer("a2", "ana", "s", json.dumps({"id": "a2", "text": said}), json.dumps([said]))
        await people.forget("ana", statement.id)
        held = json.dumps(await people.export("ana"), ensure_ascii=False)
        assert "marigolds" not in held.casefold()
        assert held.count("You say: [forgotten]! So?") == 8
        kept = await people.answer("a2", "ana")
        assert json.loads(kept.answer) == {"id": "a2", "text": "You say: [forgotten]! So?"}
        assert await people.export("bob") == before

    async def _lived(self, people: People) -> None:
        """A person with something in every table, odd texts and an eventful past."""
        await self._filled(people, "ana")
        await people.set("ana", name='Ana "B" 👩‍🔬', dial="on", learned="use", share_sensitive=True)
        await people.tell("ana", "I live in Rome", valid_from=datetime(1850, 1, 1, tzinfo=UTC), cause="\u05e9 line\n2")
        await people.tell("ana", "I moved to Trento")
        guess = await people.tell("ana", "I own a dog", source="inferred", confidence=0.1, sensitive=False)
        await people.edit("ana", guess.id, "I own two dogs 🐕")
        await people.undo("ana", guess.id)
        await people.forget("ana", (await people.tell("ana", "I am vegan")).id)
        await people.record(Event(person="ana", kind="thumbs", value=-1, answer="answer ana", position=2, passage="p"))
        await people.roll_back_weights("ana", "start")

    async def test_an_answer_under_way_is_kept_without_what_was_forgotten_meanwhile(self, people: People) -> None:
        await people.add("ana")
        told, stays = await people.tell("ana", "I play the xylophon"), await people.tell("ana", "I like tea")
        await people.edit("ana", told.id, "I play the xylophone")
        held = await people.wordings("ana")
        assert held == {told.id: {"I play the xylophon", "I play the xylophone"}, stays.id: {"I like tea"}}
        assert await people.wordings("nobody") == {}
        await people.forget("ana", told.id)
        said = "I play the xylophon and I like tea"
        await people.save_answer("a1", "ana", None, json.dumps({"text": said}), "[]", held)
        assert json.loads((await people.answer("a1", "ana")).answer)["text"] == "[forgotten] and I like tea"
        exchange = Kept(id="a3", person="ana", session="s", answer='{"text": ""}', board="[]", created=now())
        proposals = [Told(one, source="inferred", cause=said) for one in ("I play the xylophone.", "I own a dog")]
        await people.keep_exchange(exchange, said, said, said=proposals, held=held)
        assert [turn.question for turn in await people.turns("ana", "s")] == ["[forgotten] and I like tea"]
        (learnt,) = await people.statements("ana", ("proposed",))
        assert (learnt.text, learnt.cause) == ("I own a dog", "[forgotten] and I like tea")
        await people.save_answer("a2", "ana", None, json.dumps({"text": said}), "[]")
        assert json.loads((await people.answer("a2", "ana")).answer)["text"] == said  # nobody knows the words any more

    async def test_export_erase_import_gives_the_same_export(self, people: People) -> None:
        await self._lived(people)
        await self._filled(people, "bob")
        before, other = await people.export("ana"), await people.export("bob")
        statements = await people.statements("ana", ("proposed", "confirmed", "rejected"), ended=True)
        await people.erase("ana")
        restored = await people.restore(json.loads(json.dumps(before)))
        assert restored == await people.get("ana")
        assert await people.export("ana") == before
        assert await people.statements("ana", ("proposed", "confirmed", "rejected"), ended=True) == statements
        assert await people.export("bob") == other
        assert (await people.tell("ana", "I moved to Trento.")).id in {one.id for one in statements}

    async def test_an_export_is_not_imported_over_somebody(self, people: People) -> None:
        await self._filled(people, "ana")
        held = await people.export("ana")
        before = await everything(people)
        with pytest.raises(DataError, match="'ana' exists already"):
            await people.restore(held)
        with pytest.raises(DataError, match="an id is taken"):
            await people.restore({**held, "person": {**held["person"], "id": "eve"}, "changes": []})
        assert await everything(people) == before

    @pytest.mark.parametrize(
        ("table", "row", "says"),
        [
            ("statements", {"text": ""}, "statements: the statement is empty"),
            ("statements", {"text": "x" * 1_000_000}, "at most 2,000"),
            ("statements", {"confidence": 2}, "less than or equal to 1"),
            ("statements", {"mood": "good"}, "Extra inputs"),
            ("statements", {"created": "yesterday"}, "statements: Input should be a valid datetime"),
            ("events", {"text": "half \ud800"}, "surrogate"),
            ("events", {"kind": "nod"}, "events: Input should be"),
            ("turns", {"question": "zero \0"}, "zero character"),
            ("sessions", {"id": ""}, "id of a session is empty"),
            ("changes", {"statement": "another"}, "is about another statement"),
            ("weights", {"values": {"dense": "much"}}, "weights: Input should be a valid number"),
        ],
    )
    async def test_an_export_with_one_bad_row_stores_nothing(
        self, people: People, table: str, row: dict[str, Any], says: str
    ) -> None:
        await self._filled(people, "ana")
        held = await people.export("ana")
        await people.erase("ana")
        held[table][0] |= row
        with pytest.raises(DataError, match=says):
            await people.restore(held)
        assert await people.list() == []

    @pytest.mark.parametrize(
        "held",
        [
            {},
            {"format": 99},
            {"format": 2},
            {"format": 2, "person": []},
            {"format": 2, "person": {"id": "", "created": "2026-01-01T00:00:00Z"}},
            {"format": 2, "person": {"id": "a", "created": "2026-01-01T00:00:00Z"}, "moods": []},
            {"format": 2, "person": {"id": "a", "created": "2026-01-01T00:00:00Z"}, "events": ["x"]},
            {"format": 2, "person": {"id": "a", "created": "2026-01-01T00:00:00Z"}, "events": 7},
        ],
    )
    async def test_what_is_no_export_stores_nothing(self, people: People, held: dict[str, Any]) -> None:
        with pytest.raises(DataError, match="export"):
            await people.restore(held)
        assert await people.list() == []

    async def test_who_comes_back_after_erasure_starts_empty(self, people: People) -> None:
        await self._filled(people, "ana")
        await people.erase("ana")
        await people.add("ana")
        assert (await people.recall("ana", "s"))[1:] == ([], [], [], None)

    @pytest.mark.slow
    async def test_many_at_once_see_only_their_own(self, people: People) -> None:
        names = [f"p{n}" for n in range(20)]

        async def live(name: str) -> list[str]:
            await people.add(name)
            await asyncio.gather(*(people.tell(name, f"{name} says {n}") for n in range(5)))
            return [one.text for one in await people.statements(name)]

        for name, texts in zip(names, await asyncio.gather(*map(live, names)), strict=True):
            assert sorted(texts) == [f"{name} says {n}" for n in range(5)]
