"""The part of the store that keeps statements: told, inferred, read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import bindparam, insert
from sqlalchemy.ext.asyncio import AsyncConnection

from personable.errors import UsageError
from personable.people import schema
from personable.people.base import fields, one_of
from personable.people.change_store import ChangeStore
from personable.people.checks import checked_statement, checked_text, utc
from personable.people.events import now
from personable.people.sensitivity import classify
from personable.people.statements import Kind, Source, State, Statement, Told, guess_kind, new_id, sameness

_IS = schema.statements.c
_ALL = (
    fields(schema.statements)
    .where(_IS.person == bindparam("person"), _IS.state.in_(bindparam("states", expanding=True)))
    .order_by(_IS.row)
)
_UNENDED = _ALL.where(_IS.valid_to.is_(None) | (_IS.valid_to > bindparam("now")))


class StatementStore(ChangeStore):
    """Statements: told, inferred and read. What becomes of them later is in `ChangeStore`."""

    async def tell(
        self,
        person: str,
        text: str,
        kind: Kind | None = None,
        source: Source = "told",
        cause: str = "",
        state: State | None = None,
        confidence: float = 1.0,
        sensitive: bool | None = None,
        *,
        valid_from: datetime | None = None,
        valid_to: datetime | None = None,
    ) -> Statement:
        """Store a statement; the first one is returned when the person has the same one already.

        What the person tells is confirmed, what was inferred is only proposed, unless `state` says otherwise. Telling
        a proposed or rejected statement confirms it, and with `valid_from` or `valid_to` sets that; inferring one again
        changes nothing. A confirmed statement ends those that it contradicts. `sensitive` None leaves it to the words:
        see `sensitivity`.

        Raises UsageError for something inferred about a person who lets nothing be learnt.
        """
        told = Told(text, kind, source, cause, state, confidence, sensitive, valid_from, valid_to)
        return (await self.tell_many(person, [told]))[0]

    async def tell_many(self, person: str, told: Iterable[Told]) -> list[Statement]:
        """Store several statements in their order as `tell` does, all or none."""
        told = list(told)
        async with self._write() as connection:
            known = await self._known(connection, person, lock=True)
            if known.learned == "off" and any(one.source == "inferred" for one in told):
                raise UsageError(f"nothing may be learnt about {person!r}: personable person set ID --learned ask")
            return await self._keep_told(connection, person, told)

    async def _keep_told(self, connection: AsyncConnection, person: str, told: Iterable[Told]) -> list[Statement]:
        new = [(_statement(person, one), one.sensitive) for one in told]
        return [await self._keep(connection, one, explicit) for one, explicit in new]

    async def _keep(self, connection: AsyncConnection, new: Statement, explicit: bool | None) -> Statement:
        first = await self._same(connection, new)
        if first is None:
            row = {"sameness": sameness(new.text), **new.model_dump()}
            await connection.execute(insert(schema.statements).values(row))
            change = await self._log(connection, "told" if new.source == "told" else "proposed", None, new, new.cause)
            await self._end_contradicted(connection, new, change)
            return new
        update: dict[str, Any] = {}
        if new.source == "told" and first.state != new.state == "confirmed":
            update |= {"state": "confirmed", "confidence": new.confidence}
        if new.source == "told" and explicit not in (None, first.sensitive):
            update |= {"sensitive": explicit}
        bounds = {"valid_from": new.valid_from, "valid_to": new.valid_to} if new.source == "told" else {}
        update |= {name: when for name, when in bounds.items() if when not in (None, getattr(first, name))}
        if not update:
            return first
        again = first.model_copy(update=update).checked()
        await self._replace(connection, first, again, "confirmed" if "state" in update else "edited", new.cause)
        return again

    async def statements(
        self, person: str, states: Sequence[State] = ("confirmed",), *, ended: bool = False
    ) -> list[Statement]:
        """The person's statements in these states, oldest first; with `ended` also those that no longer hold."""
        async with self._read() as connection:
            return await self._theirs(connection, person, await self._statements(connection, person, states, ended))

    async def _statements(
        self, connection: AsyncConnection, person: str, states: Sequence[State], ended: bool
    ) -> list[Statement]:
        query = _ALL if ended else _UNENDED
        given = {} if ended else {"now": now()}
        rows = await self._rows(connection, query, person, states=list(states), **given)
        return [Statement(**row._mapping) for row in rows]


def _statement(person: str, told: Told) -> Statement:
    if not 0 <= told.confidence <= 1:
        raise UsageError(f"the confidence of a statement is between 0 and 1, not {told.confidence}")
    words = checked_statement(told.text)
    state = told.state or ("confirmed" if told.source == "told" else "proposed")
    return Statement(
        id=new_id(),
        person=person,
        text=words,
        kind=guess_kind(words) if told.kind is None else one_of(Kind, told.kind, "kind"),
        source=one_of(Source, told.source, "source"),
        cause=checked_text(told.cause, "cause"),
        confidence=told.confidence,
        valid_from=told.valid_from and utc(told.valid_from),
        valid_to=told.valid_to and utc(told.valid_to),
        sensitive=classify(words) if told.sensitive is None else told.sensitive,
        state=one_of(State, state, "state"),
        created=now(),
    ).checked()
