"""The part of the store that keeps what happened: events, sessions and their turns."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sqlalchemy import bindparam, func, insert, or_, select
from sqlalchemy.ext.asyncio import AsyncConnection

from personable.errors import UsageError
from personable.people import schema
from personable.people.base import Store, fields, mine
from personable.people.checks import checked_id, checked_text
from personable.people.events import Event, EventKind, Session, Turn, misvalued, now
from personable.people.statements import new_id

_EVENT, _TURN = schema.events.c, schema.turns.c
_EVENTS = (
    fields(schema.events)
    .where(_EVENT.person == bindparam("person"))
    .order_by(_EVENT.time.desc(), _EVENT.row.desc())
    .limit(bindparam("limit"))
)
_SESSION_EVENTS = _EVENTS.where(_EVENT.session == bindparam("session"))
# Every answer shows several passages: counted in, they would push out what the person did.
_DEEDS = _EVENTS.where(_EVENT.kind != "impression")
_OF_CATALOGUE = _EVENT.item.is_not(None), or_(_EVENT.collection.is_(None), _EVENT.collection == bindparam("collection"))
_WITH_ITEMS = _DEEDS.where(*_OF_CATALOGUE)
_HAD = (
    select(_EVENT.item)
    .distinct()
    .where(
        _EVENT.person == bindparam("person"),
        *_OF_CATALOGUE,
        _EVENT.kind.not_in(("impression", "comment", "edit")),
        or_(_EVENT.kind != "dwell", _EVENT.value > 0),
    )
)
# Whoever turned the dial off counts for nobody.
_EVERYBODY = (
    select(_EVENT.person, _EVENT.session, _EVENT.item, _EVENT.kind, _EVENT.value)
    .join(schema.people, schema.people.c.id == _EVENT.person)
    .where(*_OF_CATALOGUE, schema.people.c.dial != "off")
    .order_by(_EVENT.person, _EVENT.time, _EVENT.row)
)
_TURNS = (
    fields(schema.turns, "person")
    .where(_TURN.person == bindparam("person"), _TURN.session == bindparam("session"))
    .order_by(_TURN.number.desc())
    .limit(bindparam("limit"))
)


class HistoryStore(Store):
    """Events, sessions and turns, each read in the order in which it happened."""

    async def record(self, event: Event) -> Event:
        """Store one event. Raises UsageError for one that makes no sense, DataError when its id is stored already."""
        await self.record_many([event])
        return event

    async def record_many(self, events: Iterable[Event]) -> int:
        """Store events, all or none; returns how many. They may belong to several people."""
        rows = event_rows(events)
        async with self._write() as connection:
            await self._record(connection, rows)
        return len(rows)

    async def _record(self, connection: AsyncConnection, rows: list[dict[str, Any]]) -> None:
        for person in sorted({row["person"] for row in rows}):
            await self._known(connection, person)
        if rows:
            await connection.execute(insert(schema.events), rows)

    async def events(self, person: str, session: str | None = None, limit: int = 200) -> list[Event]:
        """The last `limit` events of the person, or of one of their sessions, in the order of their times."""
        async with self._read() as connection:
            return await self._theirs(connection, person, await self._events(connection, person, session, limit))

    async def _events(self, connection: AsyncConnection, person: str, session: str | None, limit: int) -> list[Event]:
        query = _EVENTS if session is None else _SESSION_EVENTS
        given = {"limit": limit} if session is None else {"limit": limit, "session": session}
        return [Event(**row._mapping) for row in reversed(await self._rows(connection, query, person, **given))]

    async def deeds(self, person: str, collection: str, limit: int) -> list[Event]:
        """The last `limit` events in which the person did something with an item of this catalogue or of an
        unnamed one, in the order of their times: not what was shown to them."""
        async with self._read() as connection:
            found = await self._rows(connection, _WITH_ITEMS, person, collection=collection, limit=limit)
            rows = await self._theirs(connection, person, found)
        return [Event(**row._mapping) for row in reversed(rows)]

    async def had(self, person: str, collection: str) -> frozenset[str]:
        """The ids of all items of this catalogue, or of an unnamed one, that the person ever did something with: not
        what was only shown, or looked at for no time."""
        async with self._read() as connection:
            rows = await self._theirs(
                connection, person, await self._rows(connection, _HAD, person, collection=collection)
            )
        return frozenset(item for (item,) in rows)

    async def item_events(self, collection: str) -> list[tuple[str, str | None, str, EventKind, float | None]]:
        """What everybody did with items of this catalogue, or of none that was named, for counting: person, session,
        item, kind and value, each person's oldest first. People whose dial is off are left out."""
        async with self._read() as connection:
            rows = (await connection.execute(_EVERYBODY, {"collection": collection})).all()
        return [(person, session, item, kind, value) for person, session, item, kind, value in rows]

    async def open_session(self, person: str, session: str | None = None) -> str:
        """Open a session, or go on with the person's session of that id; returns its id."""
        chosen = new_id() if session is None else checked_id(session, "session")
        async with self._write() as connection:
            await self._known(connection, person, lock=True)
            await self._session(connection, person, chosen)
        return chosen

    async def sessions(self, person: str, limit: int = 200) -> list[Session]:
        """The latest sessions of the person, the newest first."""
        table, turns = schema.sessions, schema.turns
        own = (turns.c.person == table.c.person) & (turns.c.session == table.c.id)
        count = select(func.count()).where(own).scalar_subquery().label("turns")
        query = select(table.c.id, table.c.opened, count).where(table.c.person == bindparam("person"))
        async with self._read() as connection:
            latest = query.order_by(table.c.opened.desc(), table.c.id).limit(limit)
            rows = await self._theirs(connection, person, await self._rows(connection, latest, person))
        return [Session(**row._mapping) for row in rows]

    async def turns(self, person: str, session: str, limit: int = 3) -> list[Turn]:
        """The last `limit` turns of the person's session, oldest first; none for a session that is not theirs."""
        async with self._read() as connection:
            return await self._theirs(connection, person, await self._turns(connection, person, session, limit))

    async def _deeds(self, connection: AsyncConnection, person: str, limit: int) -> list[Event]:
        rows = await self._rows(connection, _DEEDS, person, limit=limit)
        return [Event(**row._mapping) for row in reversed(rows)]

    async def _turns(self, connection: AsyncConnection, person: str, session: str, limit: int) -> list[Turn]:
        rows = await self._rows(connection, _TURNS, person, session=session, limit=limit)
        return [Turn(**row._mapping) for row in reversed(rows)]

    async def add_turn(self, person: str, session: str, question: str, answer: str, answer_id: str = "") -> Turn:
        """Add a turn at the end of the person's session, which is opened where it is new."""
        async with self._write() as connection:
            await self._known(connection, person, lock=True)
            return await self._add_turn(connection, person, session, question, answer, answer_id)

    async def _add_turn(
        self, connection: AsyncConnection, person: str, session: str, question: str, answer: str, answer_id: str
    ) -> Turn:
        checked_id(session, "session")
        checked_text(question, "question")
        checked_text(answer, "answer")
        await self._session(connection, person, session)
        own = (schema.turns.c.person == person) & (schema.turns.c.session == session)
        last = await connection.scalar(select(func.max(schema.turns.c.number)).where(own))
        turn = Turn(
            session=session,
            number=(last or 0) + 1,
            question=question,
            answer=answer,
            answer_id=answer_id,
            time=now(),
        )
        await connection.execute(insert(schema.turns).values(person=person, **turn.model_dump()))
        return turn

    async def _session(self, connection: AsyncConnection, person: str, session: str) -> None:
        table = schema.sessions
        found = await connection.scalar(select(table.c.id).where(mine(table, person, session)))
        if found is None:
            await connection.execute(insert(table).values(person=person, id=session, opened=now()))


def event_rows(events: Iterable[Event]) -> list[dict[str, Any]]:
    """Events as rows of their table. Raises UsageError for a value that its kind cannot have, for the id of an item
    that none can have, and what `event_row` raises."""
    return [event_row(_sound(event)) for event in events]


def _sound(event: Event) -> Event:
    if wrong := misvalued(event.kind, event.value):
        raise UsageError(wrong)
    if event.item is not None:
        checked_id(event.item, "item")
    return event


def event_row(event: Event) -> dict[str, Any]:
    """An event as a row, whatever an earlier version let it say. Raises UsageError for a text or an id that cannot be
    stored."""
    for text, what in ((event.text, "text of an event"), (event.passage, "passage"), (event.item, "item")):
        checked_text(text or "", what)
    for id, what in ((event.session, "session"), (event.collection, "collection"), (event.answer, "answer")):
        if id is not None:
            checked_id(id, what)
    return {**event.model_dump(), "id": checked_id(event.id, "event")}
