"""The store of people. Each read is filtered by its person; each write is whole or not at all."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

from sqlalchemy import ColumnElement, delete, insert, select, text, update
from sqlalchemy.ext.asyncio import AsyncConnection

from personable.errors import DataError, NotFoundError
from personable.people import schema
from personable.people.archive_store import ArchiveStore
from personable.people.base import fields, one_of
from personable.people.checks import checked_id, checked_line, checked_text
from personable.people.events import Event, Kept, KeptText, now
from personable.people.history_store import HistoryStore, event_rows
from personable.people.key_store import KeyStore
from personable.people.memory import Memory
from personable.people.person import Erased, Learned, Person
from personable.people.redaction import Wording, Words, forgotten, words_of
from personable.people.run_store import RunStore
from personable.people.statement_store import StatementStore
from personable.people.statements import State, Told
from personable.people.weight_store import WeightStore
from personable.types import Dial


class People(StatementStore, HistoryStore, WeightStore, RunStore, KeyStore, ArchiveStore):
    """People and what is known about them. Open it, use it from one event loop, close it:

        async with await People.open("people.db") as people:
            await people.add("ana")
            await people.tell("ana", "I am vegetarian")

    Several processes may have the same store open. Every method raises NotFoundError for an unknown person, UsageError
    for a text that cannot be stored, and DataError when the database fails; what raised has changed nothing.
    """

    async def add(self, person: str, name: str = "", dial: Dial = "auto") -> Person:
        """Make a person. Raises DataError when the id is taken."""
        made = Person(
            id=checked_id(person, "person"),
            name=checked_line(name, "name"),
            dial=one_of(Dial, dial, "dial"),
            created=now(),
        )
        taken = select(schema.people.c.id).where(schema.people.c.id == person)
        async with self._write() as connection:
            if await connection.scalar(taken) is not None:
                raise DataError(f"person {person!r} exists already; choose another id or use that one")
            await connection.execute(insert(schema.people).values(made.model_dump()))
        return made

    async def get(self, person: str) -> Person:
        """The person with this id."""
        async with self._read() as connection:
            return await self._known(connection, person)

    async def list(self) -> list[Person]:
        """Everybody, in the order of their ids."""
        async with self._read() as connection:
            rows = await connection.execute(select(schema.people).order_by(schema.people.c.id))
            return [Person(**row._mapping) for row in rows]

    async def set_dial(self, person: str, dial: Dial) -> Person:
        """Set how much the person counts: "off", "auto" or "on"."""
        return await self.set(person, dial=dial)

    async def set(
        self,
        person: str,
        *,
        name: str | None = None,
        dial: Dial | None = None,
        learned: Learned | None = None,
        share_sensitive: bool | None = None,
    ) -> Person:
        """Set what is given and leave the rest; returns the person as they are then."""
        given = {
            "name": name if name is None else checked_line(name, "name"),
            "dial": dial if dial is None else one_of(Dial, dial, "dial"),
            "learned": learned if learned is None else one_of(Learned, learned, "way to treat what is learnt"),
            "share_sensitive": share_sensitive,
        }
        new = {field: value for field, value in given.items() if value is not None}
        async with self._write() as connection:
            found = await self._known(connection, person, lock=True)
            if new:
                await connection.execute(update(schema.people).where(schema.people.c.id == person).values(new))
        return found.model_copy(update=new)

    async def save_answer(
        self,
        answer_id: str,
        person: str | None,
        session: str | None,
        answer_json: str,
        board_json: str,
        held: Words | None = None,
    ) -> None:
        """Keep an answer and its board, for a person or, with None, for a stranger. Words of statements on the board,
        or in `held`, the `wordings` before the answer was begun, that were forgotten meanwhile are marked as in
        `forget`.

        Raises DataError when an answer with that id is kept already.
        """
        kept = Kept(id=answer_id, person=person, session=session, answer=answer_json, board=board_json, created=now())
        async with self._write() as connection:
            await self._keep_answer(connection, kept, held)

    async def keep_exchange(
        self,
        kept: Kept,
        question: str,
        answer: str,
        events: Sequence[Event] = (),
        said: Sequence[Told] = (),
        held: Words | None = None,
    ) -> None:
        """Keep an answer, its turn where it has a session, what happened with it, and what was said of oneself with it,
        as `tell_many` does, where the person lets anything be learnt: all in one transaction.

        Words of statements on the board, or in `held`, the `wordings` before the answer was begun, that were forgotten
        meanwhile are marked in all of it as in `forget`, and not learnt again. `kept.person` must be known. Raises what
        `save_answer`, `add_turn`, `record_many` and `tell_many` raise.
        """
        rows = event_rows(events)
        async with self._write() as connection:
            gone = await self._keep_answer(connection, kept, held)
            asked, replied = gone.without(question), gone.without(answer)
            if kept.session is not None and kept.person is not None:
                await self._add_turn(connection, kept.person, kept.session, asked, replied, kept.id)
            await self._record(connection, [{**row, "text": gone.without(row["text"])} for row in rows])
            new = [one._replace(cause=gone.without(one.cause)) for one in said if gone.without(one.text) == one.text]
            if kept.person is not None and (await self._known(connection, kept.person)).learned != "off":
                await self._keep_told(connection, kept.person, new)

    async def _keep_answer(self, connection: AsyncConnection, kept: Kept, held: Words | None) -> Wording:
        checked_id(kept.id, "answer")
        checked_text(kept.answer, "answer")
        checked_text(kept.board, "board")
        if kept.person is not None:
            await self._known(connection, kept.person, lock=True)
        gone = await forgotten(connection, kept.person, words_of(kept.answer, kept.board), held or {})
        left = {name: gone.without(value) for name, value in (("answer", kept.answer), ("board", kept.board))}
        await connection.execute(insert(schema.answers).values(kept.model_dump() | left))
        return gone

    async def answer(self, answer_id: str, person: str | None = None) -> Kept:
        """The kept answer of this person or, with None, of a stranger. Another's raises NotFoundError."""
        owner = schema.answers.c.person
        return await self._answer(answer_id, owner.is_(None) if person is None else owner == person)

    async def answers(
        self, person: str | None = None, *, limit: int = 20, before: str | None = None
    ) -> Sequence[KeptText]:
        """The latest answers kept for this person or, with None, for strangers, newest first; only those older than the
        answer `before` where it is given, which raises NotFoundError unless it is one of them."""
        table = schema.answers
        owner = table.c.person.is_(None) if person is None else table.c.person == person
        query = select(*(table.c[name] for name in KeptText.model_fields)).where(owner)
        async with self._read() as connection:
            if before is not None:
                row = await connection.scalar(select(table.c.row).where(owner, table.c.id == before))
                if row is None:
                    raise NotFoundError(f"no answer {before!r} is kept for this person; begin with the newest")
                query = query.where(table.c.row < row)
            rows = (await connection.execute(query.order_by(table.c.row.desc()).limit(limit))).all()
            if person is not None:
                await self._theirs(connection, person, rows)
        return [KeptText(**row._mapping) for row in rows]

    async def any_answer(self, answer_id: str) -> Kept:
        """The kept answer, whoever it was given to: for who owns the store (the command line), never for a request."""
        return await self._answer(answer_id)

    async def _answer(self, answer_id: str, *conditions: ColumnElement[bool]) -> Kept:
        query = fields(schema.answers).where(schema.answers.c.id == answer_id, *conditions)
        async with self._read() as connection:
            row = (await connection.execute(query)).first()
        if row is None:
            raise NotFoundError(f"no answer {answer_id!r} is kept for this person; check its id and the person")
        return Kept(**row._mapping)

    async def recall(self, person: str, session: str | None = None, *, events: int = 100, turns: int = 3) -> Memory:
        """What is remembered about the person at one moment: the latest `events` apart from impressions, the last
        `turns` of `session`."""
        async with self._read(snapshot=True) as connection:
            known = await self._known(connection, person)
            states: Sequence[State] = ("confirmed", "proposed") if known.learned == "use" else ("confirmed",)
            return Memory(
                person=known,
                statements=await self._statements(connection, person, states, ended=True),
                events=await self._deeds(connection, person, events),
                turns=[] if session is None else await self._turns(connection, person, session, turns),
                weights=await self._weights(connection, person),
            )

    async def erase(self, person: str) -> Erased:
        """Remove the person and all that is held about them, in one transaction; returns how much that was."""
        removed: dict[str, int] = {}
        async with self._removing() as connection:
            await self._known(connection, person, lock=True)
            for table in (*schema.OWNED, schema.keys):
                removed[table.name] = (await connection.execute(delete(table).where(table.c.person == person))).rowcount
            gone = await connection.execute(delete(schema.people).where(schema.people.c.id == person))
            removed["people"] = gone.rowcount
        return Erased(person=person, removed=removed, time=now())

    @property
    def file(self) -> Path | None:
        """The file of a SQLite store; None where a server keeps it."""
        url = self._engine.url
        return Path(url.database) if url.database and url.get_backend_name() == "sqlite" else None

    async def compact(self) -> None:
        """Write a SQLite store anew without its free pages, which an older version did not overwrite."""
        if self.file is not None:
            async with self._read() as connection:
                await connection.execute(text("VACUUM"))
            await self._fold_log()

    async def forget_answers(self, older_than: timedelta = timedelta(0)) -> int:
        """Remove the answers given to strangers that are at least so old, with their boards; returns how many."""
        kept = schema.answers.c
        async with self._removing() as connection:
            old = kept.person.is_(None) & (kept.created <= now() - older_than)
            return (await connection.execute(delete(schema.answers).where(old))).rowcount
