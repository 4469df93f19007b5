"""The database below the store: opens it, sets it up for several writers, brings it to the newest schema."""

from __future__ import annotations

import logging
import os
import sqlite3
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, event, inspect, make_url, text
from sqlalchemy.exc import ArgumentError, DBAPIError, IntegrityError
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

from personable.errors import ConfigurationError, DataError, MissingExtraError
from personable.people.schema import HEAD
from personable.settings import make_folder

_DRIVERS = {"sqlite": "sqlite+aiosqlite", "postgresql": "postgresql+psycopg"}
_MIGRATIONS = Path(__file__).parent / "migrations"
WAIT_MS = 30_000
"""How long a writer waits for another."""


async def open_engine(where: str | Path) -> AsyncEngine:
    """An engine for `where`, a path of a SQLite file (made if need be) or a `sqlite:` or `postgresql:` URL.

    Raises DataError when the file is damaged or cannot be used, ConfigurationError for a place where none can be made,
    an address that makes no sense, and a database that a newer Personable wrote.
    """
    url = address(where)
    if url.database and url.drivername.startswith("sqlite"):
        _make_file(Path(url.database))
    try:
        # In another zone the server's own clock could push a time out of the years that Python knows.
        options = {"options": "-c timezone=utc"} if url.drivername.startswith("postgresql") else {}
        engine = create_async_engine(url, connect_args=options, hide_parameters=True)
    except ModuleNotFoundError as error:
        raise MissingExtraError("people in PostgreSQL", "postgres") from error
    if url.drivername.startswith("sqlite"):
        _hush("aiosqlite")
        event.listen(engine.sync_engine, "connect", _set_up)
        event.listen(engine.sync_engine, "begin", _begin)
    try:
        await _migrate(engine)
    except DBAPIError as error:
        await engine.dispose()
        raise failure(url, error) from error
    except ConfigurationError:
        await engine.dispose()
        raise
    return engine


def address(where: str | Path) -> URL:
    """The URL of `where` with the driver that the store uses. Raises ConfigurationError for another database."""
    if isinstance(where, Path) or "://" not in where:
        return URL.create("sqlite+aiosqlite", database=str(Path(where).expanduser().absolute()))
    try:
        url = make_url(where)
    except ArgumentError as error:
        raise ConfigurationError("the address of the people store is not a valid database URL") from error
    kind = url.get_backend_name()
    if kind not in _DRIVERS:
        raise ConfigurationError(f"people cannot be kept in {kind!r}; use a path, sqlite:///… or postgresql://…")
    if kind == "sqlite" and url.database in (None, "", ":memory:"):
        raise ConfigurationError("people cannot be kept in memory only; give the path of a file")
    return url.set(drivername=_DRIVERS[kind])


def failure(url: URL, error: DBAPIError) -> DataError:
    """What a driver's error means, in a sentence: the store, the reason and what to do."""
    reason = str(error.orig)
    if isinstance(error, IntegrityError):
        return DataError(f"nothing was stored: an id is taken, or its person was erased meanwhile ({reason})")
    place = url.database if url.drivername.startswith("sqlite") else url.render_as_string(hide_password=True)
    hint = {
        "database is locked": "another process is writing for long; try again",
        "file is not a database": "name another file, or restore this one from a copy",
    }.get(reason, "check that it exists, can be written and has room")
    return DataError(f"the people store {place} failed: {reason}; {hint}")


def _make_file(path: Path) -> None:
    """Make the file before SQLite does, so that only its owner may read it, and refuse a place that SQLite could not
    open: its driver would then leave a thread behind that reports to an event loop which is closed by then."""
    try:
        make_folder(path.parent)
        path.touch(mode=0o600, exist_ok=True)
    except OSError as error:
        raise ConfigurationError(
            f"the people store {path} cannot be made: {error.strerror}; name another place"
        ) from error
    if not path.is_file() or not os.access(path, os.R_OK | os.W_OK):
        raise ConfigurationError(f"the people store {path} is no file that can be read and written; name another place")


def _hush(library: str) -> None:
    # At DEBUG it logs every value that is stored or asked for. Who wants that can still set the level.
    logger = logging.getLogger(library)
    if logger.level == logging.NOTSET:
        logger.setLevel(logging.INFO)


# With a write-ahead log, NORMAL loses nothing when the program dies; a power cut may cost the last commits.
_PRAGMAS = (
    f"busy_timeout = {WAIT_MS}",
    "journal_mode = WAL",
    "synchronous = NORMAL",
    "foreign_keys = ON",
    "secure_delete = ON",
)


def _set_up(connection: Any, _record: object) -> None:
    # The driver's own transactions would begin late and break atomic schema changes: _begin does it instead.
    connection.isolation_level = None
    try:
        cursor = connection.cursor()
        for pragma in _PRAGMAS:
            cursor.execute(f"PRAGMA {pragma}")
        cursor.close()
    except sqlite3.Error:
        connection.close()  # the pool would leave it, and its thread, to the garbage collector
        raise


def _begin(connection: Connection) -> None:
    # A single query needs no transaction. A writer takes the lock at once: one that read first could not wait for
    # another writer, only fail.
    if begin := connection.get_execution_options().get("begin"):
        connection.exec_driver_sql(begin)


async def _migrate(engine: AsyncEngine) -> None:
    async with engine.connect() as connection:
        if await connection.run_sync(_version) == HEAD:
            return
    async with engine.execution_options(begin="BEGIN IMMEDIATE").begin() as connection:
        await connection.run_sync(_upgrade)


def _version(connection: Connection) -> str | None:
    if not inspect(connection).has_table("alembic_version"):
        return None
    return connection.execute(text("SELECT version_num FROM alembic_version")).scalar()


def _upgrade(connection: Connection) -> None:
    from alembic import command
    from alembic.config import Config
    from alembic.util import CommandError

    if connection.dialect.name == "postgresql":  # two processes that open a new store at once
        connection.execute(text("SELECT pg_advisory_xact_lock(7407)"))
    config = Config()
    config.set_main_option("script_location", str(_MIGRATIONS).replace("%", "%%"))
    config.attributes["connection"] = connection
    try:
        command.upgrade(config, "head")
    except CommandError as error:
        raise ConfigurationError(
            f"the people store has schema {_version(connection)!r}, which this Personable ({HEAD!r}) does not know; "
            "upgrade Personable"
        ) from error
