"""SQLite files seen from outside: whether a text found in the bytes stands in a living row, and whose."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

_HEAD = b"SQLite format 3\0"
_BESIDE = ("-wal", "-journal", "-shm")


def is_sqlite(path: Path) -> bool:
    """Whether a file is a SQLite database, or the log of one. Raises OSError."""
    main = _main(path)
    if not main.is_file():
        return False
    with main.open("rb") as file:
        return file.read(len(_HEAD)) == _HEAD


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
