"""The part of the store that changes statements: each change is logged with what was before it, and can be undone."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Row, bindparam, delete, insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from personable.errors import DataError, NotFoundError, UsageError
from personable.people import schema
from personable.people.base import Store, fields, mine, one_of
from personable.people.checks import checked_statement, utc
from personable.people.contradiction import contradicted
from personable.people.events import now
from personable.people.redaction import Words, redact
from personable.people.sensitivity import classify
from personable.people.statements import Bound, Change, Kind, Statement, What, new_id, sameness

_CHANGES = fields(schema.changes).where(schema.changes.c.person == bindparam("person")).order_by(schema.changes.c.row)


class ChangeStore(Store):
    """What becomes of statements: confirmed, rejected, edited, ended, undone, forgotten."""

    async def changes(self, person: str, statement: str | None = None) -> list[Change]:
        """Every change of the person's statements, or of one of them, oldest first."""
        query = _CHANGES if statement is None else _CHANGES.where(schema.changes.c.statement == statement)
        async with self._read() as connection:
            rows = await self._theirs(connection, person, await self._rows(connection, query, person))
        return [_change(row) for row in rows]

    async def wordings(self, person: str) -> Words:
        """Every text that the person's statements have or had, by the statements' ids; none for an unknown person."""
        held, changed = schema.statements.c, schema.changes.c
        now_said = select(held.id, held.text).where(held.person == person)
        said_before = select(changed.statement, changed.before).where(
            changed.person == person, changed.what.in_(("edited", "undone")), changed.before.is_not(None)
        )
        found: dict[str, set[str]] = {}
        async with self._read(snapshot=True) as connection:
            for statement, text in await connection.execute(now_said):
                found.setdefault(statement, set()).add(text)
            for statement, before in await connection.execute(said_before):
                found.setdefault(statement, set()).add(before["text"])
        return found

    async def confirm(self, person: str, statement: str) -> Statement:
        """Confirm a statement: it is certain from now on, and ends what it contradicts.

        Raises NotFoundError when this person has none with that id.
        """
        return await self._set(person, statement, "confirmed", {"state": "confirmed", "confidence": 1.0})

    async def reject(self, person: str, statement: str) -> Statement:
        """Reject a statement: it is used no more, and inferring it again does not bring it back."""
        return await self._set(person, statement, "rejected", {"state": "rejected"})

    async def edit(
        self,
        person: str,
        statement: str,
        text: str | None = None,
        kind: Kind | None = None,
        sensitive: bool | None = None,
        *,
        valid_from: datetime | None = None,
        valid_to: datetime | None = None,
        unbounded: Collection[Bound] = (),
    ) -> Statement:
        """Change what is given and leave the rest. Who words a statement anew stands behind it: that confirms it.
        `unbounded` names what is taken away of when it begins and ends to hold.

        A new text is classified anew, but what was sensitive stays so unless `sensitive` says otherwise. Raises
        DataError when the person has another statement that says the same.
        """
        given: dict[str, Any] = {
            "kind": kind and one_of(Kind, kind, "kind"),
            "sensitive": sensitive,
            "valid_from": valid_from and utc(valid_from),
            "valid_to": valid_to and utc(valid_to),
        }
        given = {name: value for name, value in given.items() if value is not None}
        for name in unbounded:
            if one_of(Bound, name, "bound") in given:
                raise UsageError(f"{name} is set and taken away at once; give one of the two")
            given[name] = None
        if text is not None:
            words = checked_statement(text)
            given |= {"text": words, "state": "confirmed", "confidence": 1.0}
        async with self._write() as connection:
            old = await self._statement(connection, person, statement)
            if text is not None and sensitive is None and sameness(words) != sameness(old.text):
                given["sensitive"] = old.sensitive or classify(words)
            return await self._replace(connection, old, old.model_copy(update=given).checked(), "edited")

    async def undo(self, person: str, statement: str) -> Statement | None:
        """Undo the last change of a statement that was not undone yet, and what it ended holds again.

        Undoing the first one, which stored the statement, forgets it as `forget` does: None. Raises
        NotFoundError when nothing is left to undo, DataError when the person said the same again since.
        """
        async with self._removing() as connection:
            old = await self._statement(connection, person, statement)
            last = await self._last(connection, old)
            if last is None:
                raise NotFoundError(f"nothing of statement {statement!r} is left to undo")
            if last.before is None:
                await self._forget(connection, old)
            else:
                await self._replace(connection, old, last.before, "undone", last.id)
            for ended, before, change in await self._ended_by(connection, person, last):
                await self._replace(connection, ended, before, "undone", change)
        return last.before

    async def forget(self, person: str, statement: str) -> Statement:
        """Remove a statement and its history for good and return it; only that something was forgotten stays.

        In answers, boards, turns and events its words are marked "[forgotten]". Raises NotFoundError when this person
        has none with that id.
        """
        async with self._removing() as connection:
            old = await self._statement(connection, person, statement)
            await self._forget(connection, old)
        return old

    async def _forget(self, connection: AsyncConnection, old: Statement) -> None:
        await redact(connection, old)
        await connection.execute(delete(schema.statements).where(mine(schema.statements, old.person, old.id)))
        history = (schema.changes.c.person == old.person) & (schema.changes.c.statement == old.id)
        await connection.execute(delete(schema.changes).where(history))
        gone = Change(id=new_id(), person=old.person, statement=old.id, what="forgotten", time=now())
        await connection.execute(insert(schema.changes).values(gone.model_dump()))

    async def _set(self, person: str, statement: str, what: What, new: dict[str, Any]) -> Statement:
        async with self._write() as connection:
            old = await self._statement(connection, person, statement)
            return await self._replace(connection, old, old.model_copy(update=new), what)

    async def _replace(
        self, connection: AsyncConnection, old: Statement, new: Statement, what: What, cause: str = ""
    ) -> Statement:
        """Put `new` in the place of `old` and log it; a confirmed statement ends what it contradicts."""
        if old == new:
            return new
        twin = await self._same(connection, new)
        if twin is not None and new.valid_to is None:
            raise DataError(f"statement {twin.id!r} says the same already; forget one of the two")
        row = {"sameness": sameness(new.text), **new.model_dump()}
        own = mine(schema.statements, old.person, old.id)
        await connection.execute(update(schema.statements).where(own).values(row))
        change = await self._log(connection, what, old, new, cause)
        if what != "undone":
            await self._end_contradicted(connection, new, change)
        return new

    async def _log(
        self, connection: AsyncConnection, what: What, old: Statement | None, new: Statement, cause: str
    ) -> Change:
        change = Change(
            id=new_id(), person=new.person, statement=new.id, what=what, before=old, after=new, cause=cause, time=now()
        )
        row = change.model_dump(exclude={"before", "after"})
        row |= {"before": old and old.model_dump(mode="json"), "after": new.model_dump(mode="json")}
        await connection.execute(insert(schema.changes).values(row))
        return change

    async def _end_contradicted(self, connection: AsyncConnection, new: Statement, change: Change) -> None:
        """End what the confirmed statement `new` contradicts. The cause is the change's id, never its text, so that
        forgetting `new` forgets it here too."""
        if new.state != "confirmed" or (new.valid_to is not None and new.valid_to <= change.time):
            return
        others = [one for one in await self._current(connection, new.person, change.time) if one.id != new.id]
        clashes = contradicted(new.text, [one.text for one in others])
        for old in [one for one, clash in zip(others, clashes, strict=True) if clash]:
            begins = new.valid_from or change.time
            end = change.time if old.valid_from is not None and old.valid_from >= begins else begins
            if old.valid_from is None or old.valid_from < end:
                await self._replace(connection, old, old.model_copy(update={"valid_to": end}), "ended", change.id)

    async def _current(self, connection: AsyncConnection, person: str, at: datetime) -> Sequence[Statement]:
        table = schema.statements
        query = fields(table).where(
            table.c.person == person,
            table.c.state != "rejected",
            table.c.valid_to.is_(None) | (table.c.valid_to > at),
        )
        return [Statement(**row._mapping) for row in await connection.execute(query.order_by(table.c.row))]

    async def _same(self, connection: AsyncConnection, new: Statement) -> Statement | None:
        """The person's first other statement that says the same as `new` and has not ended."""
        table = schema.statements
        query = fields(table).where(
            table.c.person == new.person,
            table.c.sameness == sameness(new.text),
            table.c.id != new.id,
            table.c.valid_to.is_(None) | (table.c.valid_to > now()),
        )
        row = (await connection.execute(query.order_by(table.c.row).limit(1))).first()
        return None if row is None else Statement(**row._mapping)

    async def _last(self, connection: AsyncConnection, statement: Statement) -> Change | None:
        """The last change of a statement that can be undone."""
        query = _CHANGES.where(schema.changes.c.statement == statement.id)
        rows = await connection.execute(query, {"person": statement.person})
        changes = [_change(row) for row in rows]
        undone = {change.cause for change in changes if change.what == "undone"}
        left = [change for change in changes if change.what != "undone" and change.id not in undone]
        return left[-1] if left else None

    async def _ended_by(
        self, connection: AsyncConnection, person: str, change: Change
    ) -> list[tuple[Statement, Statement, str]]:
        """What `change` ended, as it is and as it was, and the change that did it; without what was changed or said
        again since."""
        query = _CHANGES.where(schema.changes.c.what == "ended", schema.changes.c.cause == change.id)
        found = []
        for row in (await connection.execute(query, {"person": person})).all():
            ended = _change(row)
            if ended.before is None or ended.after is None or await self._same(connection, ended.before) is not None:
                continue
            last = await self._last(connection, ended.after)
            if last is not None and last.id == ended.id:
                found.append((ended.after, ended.before, ended.id))
        return found

    async def _statement(self, connection: AsyncConnection, person: str, statement: str) -> Statement:
        await self._known(connection, person, lock=True)
        query = fields(schema.statements).where(mine(schema.statements, person, statement))
        row = (await connection.execute(query)).first()
        if row is None:
            raise NotFoundError(f"person {person!r} has no statement {statement!r}; list them to see their ids")
        return Statement(**row._mapping)


def _change(row: Row[Any]) -> Change:
    return Change(**row._mapping)
