"""SQLite files seen from outside: whether a text found in the bytes stands in a living row, and whose.

A process that closes any descriptor of a file loses all POSIX locks on it, also SQLite's: another program would then
take itself for the only one and remove the log with what was written there (SQLite, "How to corrupt an SQLite database
file", section 2.2). So descriptors of databases and their logs stay open.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from threading import Lock

_HEAD = b"SQLite format 3\0"
_BESIDE = ("-wal", "-journal", "-shm")
_KEPT: dict[tuple[int, int], int] = {}
"""Descriptors that stay open, by device and inode."""
_TURN = Lock()


def is_sqlite(path: Path) -> bool:
    """Whether a file is a SQLite database, or the log of one. Raises OSError."""
    main = _main(path)
    if not main.is_file():
        return False
    with _TURN:
        inode = main.stat()
        if (inode.st_dev, inode.st_ino) in _KEPT:
            return True
        descriptor = os.open(main, os.O_RDONLY)
        if os.read(descriptor, len(_HEAD)) != _HEAD:
            os.close(descriptor)
            return False
        _keep(descriptor)
        return True


def blocks(path: Path, size: int) -> Iterator[bytes]:
    """The bytes of a file, `size` at a time. Raises OSError."""
    if not is_sqlite(path):
        with path.open("rb") as file:
            while block := file.read(size):
                yield block
        return
    with _TURN:
        inode = path.stat()
        descriptor = _KEPT.get((inode.st_dev, inode.st_ino))
        if descriptor is None:
            descriptor = os.open(path, os.O_RDONLY)
            _keep(descriptor)
    at = 0
    while block := _read(descriptor, at, size):
        yield block
        at += len(block)


def _read(descriptor: int, at: int, size: int) -> bytes:
    with _TURN:
        os.lseek(descriptor, at, os.SEEK_SET)
        return os.read(descriptor, size)


def _keep(descriptor: int) -> None:
    found = os.fstat(descriptor)
    _KEPT[found.st_dev, found.st_ino] = descriptor


def held_by_others(path: Path, form: bytes, person: str) -> bool:
    """Whether `form` (small letters, UTF-8) stands in a row that belongs to somebody other than `person`.

    A row belongs to whom its column `person` names, a row of `people` to its `id`. Bytes that are in no such row are
    free pages or the log: nobody's. A database that cannot be read holds nothing for others.
    """
    try:
        with closing(sqlite3.connect(f"{_main(path).absolute().as_uri()}?mode=ro", uri=True)) as connection:
            return any(
                connection.execute(query, {"form": form, "person": person}).fetchone() for query in _queries(connection)
            )
    except sqlite3.Error:
        return False


def _queries(connection: sqlite3.Connection) -> list[str]:
    names = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
    queries = []
    for (table,) in names:
        columns = [row[1] for row in connection.execute(f"PRAGMA table_info({_quoted(table)})")]
        owner = "person" if "person" in columns else "id" if table == "people" else None
        if owner is not None:
            orders = [columns, *_indexed(connection, table)]
            holds = " OR ".join(f"instr({' || '.join(map(_stored, order))}, :form)" for order in orders)
            queries.append(
                f"SELECT 1 FROM {_quoted(table)} WHERE {_quoted(owner)} IS NOT :person AND ({holds}) LIMIT 1"
            )
    return queries


def _indexed(connection: sqlite3.Connection, table: str) -> list[list[str]]:
    indexes = [row[1] for row in connection.execute(f"PRAGMA index_list({_quoted(table)})")]
    return [[row[2] for row in connection.execute(f"PRAGMA index_info({_quoted(name)})")] for name in indexes]


def _stored(column: str) -> str:
    """A column as it lies in the file, where the texts of a row touch each other: "1381" before "2f…" reads "13812".

    NULL, 0 and 1 take no room; another number parts its neighbours.
    """
    name = _quoted(column)
    room = f"CASE WHEN typeof({name}) = 'null' OR {name} IN (0, 1) THEN '' ELSE char(1) END"
    return f"CAST(CASE WHEN typeof({name}) IN ('text', 'blob') THEN lower({name}) ELSE {room} END AS BLOB)"


def _main(path: Path) -> Path:
    """The database that a log belongs to."""
    for ending in _BESIDE:
        if path.name.endswith(ending):
            return path.with_name(path.name.removesuffix(ending))
    return path


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
