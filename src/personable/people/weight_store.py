"""The part of the store that keeps ranking weights and their history."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from sqlalchemy import bindparam, insert, select
from sqlalchemy.ext.asyncio import AsyncConnection

from personable.errors import NotFoundError, UsageError
from personable.people import schema
from personable.people.base import Store, fields, mine
from personable.people.checks import checked_line, checked_text
from personable.people.events import Event, now
from personable.people.history_store import event_rows
from personable.people.memory import WeightsChange

START = "start"
"""The name of the time before any weights were set."""

_HISTORY = fields(schema.weights).where(schema.weights.c.person == bindparam("person"))
_LATEST = _HISTORY.order_by(schema.weights.c.row.desc()).limit(1)
_OF_ANSWER = (
    fields(schema.events)
    .where(schema.events.c.person == bindparam("person"), schema.events.c.answer == bindparam("answer"))
    .order_by(schema.events.c.row)
)

Lesson = Callable[[WeightsChange | None, Sequence[Event]], tuple[Mapping[str, float], str] | None]
"""From the present weights and what happened with an answer before: new weights and the reason; None keeps them."""


class WeightStore(Store):
    """Ranking weights: the newest row holds, and nothing is overwritten."""

    async def weights(self, person: str) -> WeightsChange | None:
        """The person's present weights; None where none were ever set."""
        async with self._read() as connection:
            return await self._theirs(connection, person, await self._weights(connection, person))

    async def _weights(self, connection: AsyncConnection, person: str) -> WeightsChange | None:
        rows = await self._rows(connection, _LATEST, person)
        return WeightsChange(**rows[0]._mapping) if rows else None

    async def set_weights(
        self, person: str, values: Mapping[str, float], reason: str, event: str | None = None
    ) -> WeightsChange:
        """Set all weights of the person, by feature name. Raises UsageError for a weight that is not finite."""
        change = _change(person, values, reason, event)
        async with self._write() as connection:
            await self._known(connection, person, lock=True)
            await connection.execute(insert(schema.weights).values(change.model_dump()))
        return change

    async def learn(self, event: Event, lesson: Lesson) -> WeightsChange | None:
        """Store an event and what `lesson` makes of it, both or neither; None where the weights stay as they are.

        Nobody else changes the person's weights meanwhile: of two lessons at once the second builds on the first.
        """
        async with self._write() as connection:
            await self._known(connection, event.person, lock=True)
            given = {"person": event.person, "answer": event.answer}
            earlier = [Event(**row._mapping) for row in await connection.execute(_OF_ANSWER, given)]
            found = lesson(await self._weights(connection, event.person), earlier)
            await connection.execute(insert(schema.events), event_rows([event]))
            if found is None:
                return None
            change = _change(event.person, *found, event.id)
            await connection.execute(insert(schema.weights).values(change.model_dump()))
        return change

    async def weight_history(self, person: str) -> list[WeightsChange]:
        """Every change of the person's weights, oldest first."""
        async with self._read() as connection:
            query = _HISTORY.order_by(schema.weights.c.row)
            rows = await self._theirs(connection, person, await self._rows(connection, query, person))
        return [WeightsChange(**row._mapping) for row in rows]

    async def roll_back_weights(self, person: str, change: str) -> WeightsChange:
        """Set the weights as they were after `change`, an id of the history, or "start" for none at all.

        Raises NotFoundError when this person has no such change.
        """
        if change == START:
            return await self.set_weights(person, {}, "rolled back to the start")
        query = select(schema.weights.c["values"]).where(mine(schema.weights, person, change))
        async with self._read() as connection:
            await self._known(connection, person)
            values = await connection.scalar(query)
        if values is None:
            raise NotFoundError(f"person {person!r} has no change of weights {change!r}; list the history to see ids")
        return await self.set_weights(person, values, f"rolled back to {change}")

    async def undo_weights(self, person: str) -> WeightsChange:
        """Set the weights as they were before the last change that was not undone yet.

        Raises UsageError where there is none.
        """
        history = await self.weight_history(person)
        first = next((n for n, one in enumerate(history) if one.values == history[-1].values), 0)
        if not history or not history[-1].values:
            raise UsageError(f"there is nothing to undo: no weights of person {person!r} were learnt")
        return await self.roll_back_weights(person, history[first - 1].id if first else START)


def _change(person: str, values: Mapping[str, float], reason: str, event: str | None) -> WeightsChange:
    if wrong := [name for name, value in values.items() if not math.isfinite(value)]:
        raise UsageError(f"the weight of {wrong[0]!r} is not a finite number")
    return WeightsChange(
        person=person,
        values={checked_line(name, "name of a feature"): float(value) for name, value in values.items()},
        reason=checked_text(reason, "reason"),
        event=event,
        created=now(),
    )
