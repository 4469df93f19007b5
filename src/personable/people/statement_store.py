"""The part of the store that keeps statements."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import bindparam, delete, insert, update
from sqlalchemy.ext.asyncio import AsyncConnection

from personable.errors import NotFoundError, UsageError
from personable.people import schema
from personable.people.base import Store, fields, mine, one_of
from personable.people.checks import checked_statement, checked_text, utc
from personable.people.events import now
from personable.people.statements import Kind, Source, State, Statement, guess_kind, new_id, sameness

_IS = schema.statements.c
_ALL = (
    fields(schema.statements)
    .where(_IS.person == bindparam("person"), _IS.state.in_(bindparam("states", expanding=True)))
    .order_by(_IS.row)
)
_UNENDED = _ALL.where(_IS.valid_to.is_(None) | (_IS.valid_to > bindparam("now")))


class StatementStore(Store):
    """Statements: told, inferred, confirmed, rejected, forgotten."""

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
        a proposed or rejected statement confirms it; inferring one again changes nothing.
        """
        if not 0 <= confidence <= 1:
            raise UsageError(f"the confidence of a statement is between 0 and 1, not {confidence}")
        words = checked_statement(text)
        new = Statement(
            id=new_id(),
            person=person,
            text=words,
            kind=guess_kind(words) if kind is None else one_of(Kind, kind, "kind"),
            source=one_of(Source, source, "source"),
            cause=checked_text(cause, "cause"),
            confidence=confidence,
            valid_from=valid_from and utc(valid_from),
            valid_to=valid_to and utc(valid_to),
            sensitive=sensitive,
            state=one_of(State, state or ("confirmed" if source == "told" else "proposed"), "state"),
            created=now(),
        )
        if new.valid_from and new.valid_to and new.valid_from >= new.valid_to:
            raise UsageError("a statement must begin to hold before it ends; check valid_from and valid_to")
        async with self._write() as connection:
            await self._known(connection, person, lock=True)
            return await self._keep(connection, new)

    async def _keep(self, connection: AsyncConnection, new: Statement) -> Statement:
        table, key = schema.statements, sameness(new.text)
        same = (table.c.person == new.person) & (table.c.sameness == key)
        rows = (await connection.execute(fields(table).where(same).order_by(table.c.row))).all()
        stored = [Statement(**row._mapping) for row in rows]
        first = next((old for old in stored if old.valid_to is None or old.valid_to > now()), None)
        if first is None:
            await connection.execute(insert(table).values(sameness=key, **new.model_dump()))
            return new
        if new.source == "told" and first.state != new.state == "confirmed":
            await connection.execute(update(table).where(table.c.id == first.id).values(state="confirmed"))
            return first.model_copy(update={"state": "confirmed"})
        return first

    async def statements(
        self, person: str, states: Sequence[State] = ("confirmed",), *, ended: bool = False
    ) -> list[Statement]:
        """The person's statements in these states, oldest first; with `ended` also those that no longer hold."""
        async with self._read() as connection:
            return await self._statements(connection, person, states, ended)

    async def _statements(
        self, connection: AsyncConnection, person: str, states: Sequence[State], ended: bool
    ) -> list[Statement]:
        query = _ALL if ended else _UNENDED
        given = {} if ended else {"now": now()}
        rows = await self._rows(connection, query, person, states=list(states), **given)
        return [Statement(**row._mapping) for row in rows]

    async def confirm(self, person: str, statement: str) -> Statement:
        """Confirm a statement by its id. Raises NotFoundError when this person has none with that id."""
        return await self._set_state(person, statement, "confirmed")

    async def reject(self, person: str, statement: str) -> Statement:
        """Reject a statement: it is used no more, and inferring it again does not bring it back."""
        return await self._set_state(person, statement, "rejected")

    async def forget(self, person: str, statement: str) -> Statement:
        """Remove a statement for good and return it. Raises NotFoundError when this person has none with that id."""
        async with self._write() as connection:
            old = await self._statement(connection, person, statement)
            await connection.execute(delete(schema.statements).where(mine(schema.statements, person, statement)))
        return old

    async def _set_state(self, person: str, statement: str, state: State) -> Statement:
        async with self._write() as connection:
            old = await self._statement(connection, person, statement)
            own = mine(schema.statements, person, statement)
            await connection.execute(update(schema.statements).where(own).values(state=state))
        return old.model_copy(update={"state": state})

    async def _statement(self, connection: AsyncConnection, person: str, statement: str) -> Statement:
        await self._known(connection, person, lock=True)
        query = fields(schema.statements).where(mine(schema.statements, person, statement))
        row = (await connection.execute(query)).first()
        if row is None:
            raise NotFoundError(f"person {person!r} has no statement {statement!r}; list them to see their ids")
        return Statement(**row._mapping)
