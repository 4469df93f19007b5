"""What every part of the store stands on: the engine, reading and writing in transactions, and who is known."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Coroutine, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any, Self, TypeVar, get_args

from sqlalchemy import ColumnElement, CursorResult, Executable, Row, Select, Table, bindparam, select, text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from personable.errors import DataError, NotFoundError, UsageError
from personable.people import schema
from personable.people.database import WAIT_MS, failure, open_engine
from personable.people.person import Person

T = TypeVar("T")
LOGGER = logging.getLogger("personable.people")
FOLD_SECONDS = 5.0
"""Between two tries to fold the write-ahead log while somebody reads what stands in it."""
FOLD_MS = 500
"""How long such a try waits for readers. Meanwhile nobody else can write."""

# Queries that are asked often are built once: building one costs as much as running it.
_PERSON = select(schema.people).where(schema.people.c.id == bindparam("person"))


class _Unbroken(AsyncConnection):
    """A connection to SQLite on which a query that has begun comes to its end also for a caller who is cancelled.

    Where it is broken off, the driver keeps the transaction, and with it the lock or the old pages of the log,
    until the garbage collector finds the query's cursor.
    """

    async def execute(self, statement: Executable, parameters: Any = None, **options: Any) -> CursorResult[Any]:
        return await _to_its_end(super().execute(statement, parameters, **options))


class Store:
    """An open database of people. Reads see one moment; writes are whole or not at all."""

    def __init__(self, engine: AsyncEngine) -> None:
        self._engine = engine
        one_moment = {"isolation_level": "REPEATABLE READ"} if engine.dialect.name == "postgresql" else {}
        self._snapshots = engine.execution_options(begin="BEGIN", **one_moment)
        self._writer = engine.execution_options(begin="BEGIN IMMEDIATE")
        self._is_sqlite = engine.dialect.name == "sqlite"
        self._folding = set[asyncio.Task[None]]()
        self._unfolded = 0

    @classmethod
    async def open(cls, where: str | Path) -> Self:
        """Open the store at a path (made if need be), a `sqlite:///` or a `postgresql://` URL.

        Raises DataError when the file cannot be used and ConfigurationError for an address that makes no sense or a
        store that a newer Personable wrote.
        """
        return cls(await open_engine(where))

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_error: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Let go of every connection."""
        for task in self._folding:
            task.cancel()
        await asyncio.gather(*self._folding, return_exceptions=True)
        await self._engine.dispose()

    @asynccontextmanager
    async def _read(self, snapshot: bool = False) -> AsyncIterator[AsyncConnection]:
        """A connection for one query, or with `snapshot` for several that see the same moment."""
        async with self._translated(), self._connect(self._snapshots if snapshot else self._engine) as connection:
            yield connection

    @asynccontextmanager
    async def _write(self) -> AsyncIterator[AsyncConnection]:
        async with self._translated(), self._connect(self._writer) as connection, connection.begin():
            yield connection

    @asynccontextmanager
    async def _removing(self) -> AsyncIterator[AsyncConnection]:
        """As `_write`; what is removed leaves SQLite's write-ahead log too, also for a caller who is cancelled."""
        try:
            async with self._write() as connection:
                yield connection
        except asyncio.CancelledError:  # perhaps only after it was written
            await self._fold_log()
            raise
        await self._fold_log()

    async def _fold_log(self) -> None:
        """Fold SQLite's write-ahead log, which still holds what was removed, into the file. Where somebody still reads
        it, that is told, and tried again until it is done or the store is closed."""
        if self._is_sqlite:
            await _to_its_end(self._start(self._fold()))

    async def _fold(self) -> None:
        if not await self._log_is_read():
            return
        LOGGER.warning(
            "what was removed may still stand in the log beside %s: another program, such as a backup, is reading it; "
            "it goes when that has ended",
            self._engine.url.database,
        )
        self._unfolded += 1
        if self._unfolded == 1:
            self._start(self._fold_later())

    async def _fold_later(self) -> None:
        while self._unfolded:
            known = self._unfolded
            await asyncio.sleep(FOLD_SECONDS)
            with suppress(DataError):
                if not await self._log_is_read() and known == self._unfolded:
                    self._unfolded = 0

    async def _log_is_read(self) -> bool:
        async with self._read() as connection:
            await connection.execute(text(f"PRAGMA busy_timeout = {FOLD_MS}"))
            try:
                return bool(await connection.scalar(text("PRAGMA wal_checkpoint(TRUNCATE)")))
            finally:
                await connection.execute(text(f"PRAGMA busy_timeout = {WAIT_MS}"))

    def _start(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        self._folding.add(task)
        task.add_done_callback(self._folding.discard)
        return task

    def _connect(self, engine: AsyncEngine) -> AsyncConnection:
        return _Unbroken(engine) if self._is_sqlite else engine.connect()

    @asynccontextmanager
    async def _translated(self) -> AsyncIterator[None]:
        try:
            yield
        except DBAPIError as error:
            if "NUL" in str(error.orig):  # PostgreSQL refuses it also where it only compares
                raise UsageError("an id or a text holds a zero character, which cannot be stored; remove it") from error
            raise failure(self._engine.url, error) from error
        except PoolTimeout as error:
            raise DataError("the people store is too busy: no connection became free in time; try again") from error
        except UnicodeEncodeError as error:
            raise UsageError(
                "an id or a text holds half a surrogate pair, which cannot be stored; remove it"
            ) from error

    async def _known(self, connection: AsyncConnection, person: str, lock: bool = False) -> Person:
        """The person; with `lock`, other writers about this person wait (SQLite lets only one write anyway)."""
        query = _PERSON.with_for_update() if lock else _PERSON
        row = (await connection.execute(query, {"person": person})).first()
        if row is None:
            raise NotFoundError(f"there is no person {person!r}; make one with: personable person add ID")
        return Person(**row._mapping)

    async def _rows(
        self, connection: AsyncConnection, query: Select[Any], person: str, **given: Any
    ) -> Sequence[Row[Any]]:
        """The rows of `query` for `person`: none for an unknown one."""
        rows: Sequence[Row[Any]] = (await connection.execute(query, {"person": person, **given})).all()
        return rows

    async def _theirs(self, connection: AsyncConnection, person: str, found: T) -> T:
        """`found`, of a person; where it is nothing, an unknown person is an error and not an empty answer."""
        if not found:
            await self._known(connection, person)
        return found


async def _to_its_end(work: Awaitable[T]) -> T:
    """What `work` gives. However often the caller is cancelled meanwhile, they are only told when it is over."""
    task, left = asyncio.ensure_future(work), None
    while not task.done():
        try:
            await asyncio.wait([task])
        except asyncio.CancelledError as error:
            left = error
    if left is None:
        return task.result()
    if not task.cancelled():
        task.exception()  # nobody asks for it any more
    raise left


def mine(table: Table, person: str, id: str) -> ColumnElement[bool]:
    """The condition that a row has this id and belongs to this person."""
    return (table.c.person == person) & (table.c.id == id)


def fields(table: Table, *without: str) -> Select[Any]:
    """A query for the columns that are fields of a value: without the database's own and those named."""
    return select(*(column for column in table.c if column.name not in ("row", "sameness", *without)))


def one_of(options: Any, value: Any, what: str) -> Any:
    """`value` when it is one of a Literal's options. Raises UsageError that lists them otherwise."""
    if value not in get_args(options):
        raise UsageError(f"{value!r} is not a {what}; choose one of: {', '.join(get_args(options))}")
    return value
