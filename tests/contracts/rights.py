"""What every store must do when a person wants their data out, or gone. A subclass gives the fixture `people`."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from personable.errors import NotFoundError
from personable.people.events import Event
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
            "answers": 1, "changes": 1, "events": 1, "people": 1, "sessions": 1, "statements": 1, "turns": 1,
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

    async def test_who_comes_back_after_erasure_starts_empty(self, people: People) -> None:
        await self._filled(people, "ana")
        await people.erase("ana")
        await people.add("ana")
        assert (await people.recall("ana", "s"))[1:] == ([], [], [], None)

    async def test_many_at_once_see_only_their_own(self, people: People) -> None:
        names = [f"p{n}" for n in range(20)]

        async def live(name: str) -> list[str]:
            await people.add(name)
            await asyncio.gather(*(people.tell(name, f"{name} says {n}") for n in range(5)))
            return [one.text for one in await people.statements(name)]

        for name, texts in zip(names, await asyncio.gather(*map(live, names)), strict=True):
            assert sorted(texts) == [f"{name} says {n}" for n in range(5)]
