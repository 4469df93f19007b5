"""The part of the store that gives a person's data out whole, and takes it in again."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from pydantic import ValidationError
from sqlalchemy import Row, insert, select

from personable.errors import DataError, UsageError
from personable.people import schema
from personable.people.base import Store, fields
from personable.people.checks import Instant, checked_id, checked_line, checked_statement, checked_text
from personable.people.events import Event, Kept, Turn
from personable.people.history_store import event_row
from personable.people.memory import WeightsChange
from personable.people.person import Person
from personable.people.statements import Change, Statement, sameness
from personable.types import Value

FORMATS = (1, 2)
"""Formats of exports that can be taken in; the last one is written."""


class _Session(Value):
    id: str
    opened: Instant


class ArchiveStore(Store):
    """Exports and what reads them."""

    async def export(self, person: str) -> dict[str, Any]:
        """Everything held about the person, as JSON values: `person` and one list for each table."""
        async with self._read(snapshot=True) as connection:
            known = await self._known(connection, person)
            held: dict[str, Any] = {"format": FORMATS[-1], "person": known.model_dump(mode="json")}
            for table in sorted(schema.OWNED, key=lambda table: table.name):
                order = [table.c.row] if "row" in table.c else [table.c.opened, table.c.id]
                rows = await connection.execute(
                    fields(table, "person").where(table.c.person == person).order_by(*order)
                )
                held[table.name] = [_plain(row) for row in rows]
        return held

    async def restore(self, held: Mapping[str, Any]) -> Person:
        """Take in what `export` gave, with every id and time as it was; the person must not be there.

        Raises DataError for a person or an id that is there already and for an export that is not whole or not
        well-formed; nothing is stored then.
        """
        person, rows = _read(held)
        async with self._write() as connection:
            taken = select(schema.people.c.id).where(schema.people.c.id == person.id)
            if await connection.scalar(taken) is not None:
                raise DataError(f"person {person.id!r} exists already; erase them before importing their export")
            await connection.execute(insert(schema.people).values(person.model_dump()))
            for table in reversed(schema.OWNED):
                if rows[table.name]:
                    await connection.execute(insert(table), rows[table.name])
        return person


def _read(held: Mapping[str, Any]) -> tuple[Person, dict[str, list[dict[str, Any]]]]:
    if held.get("format") not in FORMATS:
        known = " or ".join(map(str, FORMATS))
        raise DataError(f"this is no export of format {known}: its format is {held.get('format')!r}")
    if unknown := set(held) - {"format", "person", *_READERS}:
        raise DataError(f"the export holds {sorted(unknown)[0]!r}, which this Personable does not know; upgrade it")
    where = "person"
    try:
        person = Person.model_validate(held.get("person"))
        checked_id(person.id, "person")
        checked_line(person.name, "name")
        rows: dict[str, list[dict[str, Any]]] = {}
        for where, read in _READERS.items():
            rows[where] = [read(person.id, dict(row)) for row in held.get(where, [])]
    except (ValidationError, UsageError, TypeError, ValueError) as error:
        reason = error.errors()[0]["msg"] if isinstance(error, ValidationError) else error
        raise DataError(f"the export cannot be read: {where}: {reason}; nothing was imported") from error
    return person, rows


def _statement(person: str, row: dict[str, Any]) -> dict[str, Any]:
    one = Statement(person=person, **row).checked()
    checked_id(one.id, "statement")
    checked_text(one.cause, "cause")
    return {**one.model_dump(), "text": checked_statement(one.text), "sameness": sameness(one.text)}


def _change(person: str, row: dict[str, Any]) -> dict[str, Any]:
    change = Change(person=person, **row)
    for state in (change.before, change.after):
        if state is not None and (state.person, state.id) != (person, change.statement):
            raise UsageError(f"change {change.id!r} is about another statement")
    checked_text(change.cause, "cause")
    return {**change.model_dump(), "before": row.get("before"), "after": row.get("after")}


def _turn(person: str, row: dict[str, Any]) -> dict[str, Any]:
    turn = Turn(**row)
    checked_text(turn.question, "question")
    checked_text(turn.answer, "answer")
    return {"person": person, **turn.model_dump()}


def _answer(person: str, row: dict[str, Any]) -> dict[str, Any]:
    kept = Kept(person=person, **row)
    checked_id(kept.id, "answer")
    checked_text(kept.answer, "answer")
    checked_text(kept.board, "board")
    return kept.model_dump()


def _session(person: str, row: dict[str, Any]) -> dict[str, Any]:
    session = _Session(**row)
    checked_id(session.id, "session")
    return {"person": person, **session.model_dump()}


_READERS: dict[str, Callable[[str, dict[str, Any]], dict[str, Any]]] = {
    "statements": _statement,
    "changes": _change,
    "sessions": _session,
    "turns": _turn,
    "events": lambda person, row: event_row(Event(person=person, **row)),
    "answers": _answer,
    "weights": lambda person, row: WeightsChange(person=person, **row).model_dump(),
}


def _plain(row: Row[Any]) -> dict[str, Any]:
    pairs = row._mapping.items()
    return {name: value.isoformat() if isinstance(value, datetime) else value for name, value in pairs}
