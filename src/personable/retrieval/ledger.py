"""Which file each document of a collection came from, and which files are wholly in it: SQLite beside the passages.

The passages have their own transaction, so the order of writing matters. A file's documents are entered *before* their
passages are stored, its digest *after*. A killed run therefore leaves a file without digest, which is read again, and
never a passage that belongs to no file.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from personable.retrieval.report import Failed

_SCHEMA = """
create table if not exists files (
    path text primary key,
    name text unique,            -- the id of its document; null for a copy of another file, which has no documents
    digest text not null         -- of its bytes and the options it was read with; empty until all of it is stored
) without rowid;
create index if not exists files_digest on files (digest);
create table if not exists documents (id text primary key, path text not null) without rowid;
create index if not exists documents_path on documents (path);
create table if not exists problems (path text not null, source text not null, error text not null);
create index if not exists problems_path on problems (path);
"""


class Entry(NamedTuple):
    path: Path
    name: str | None
    digest: str


class Ledger:
    """The files and documents of one collection. Changes are kept by `save`; one writer at a time."""

    def __init__(self, path: Path) -> None:
        self._base = sqlite3.connect(path, timeout=30, isolation_level="IMMEDIATE", check_same_thread=False)
        self._base.executescript(_SCHEMA)

    def save(self) -> None:
        self._base.commit()

    def undo(self) -> None:
        self._base.rollback()

    def close(self) -> None:
        self._base.close()

    def entry(self, path: Path) -> Entry | None:
        return next(self._entries("where path = ?", str(path)), None)

    def entries(self) -> list[Entry]:
        return list(self._entries("order by path"))

    def original(self, digest: str) -> Entry | None:
        """The file with this digest that holds the documents of all its copies."""
        return next(self._entries("where digest = ? and name is not null", digest), None)

    def copies(self, digest: str) -> list[Entry]:
        return list(self._entries("where digest = ? and name is null order by path", digest))

    def named(self, name: str) -> Entry | None:
        return next(self._entries("where name = ?", name), None)

    def enter(self, entry: Entry, problems: Sequence[Failed] = ()) -> None:
        """`problems` are the parts of the file that could not be read."""
        path = str(entry.path)
        self._base.execute("replace into files values (?, ?, ?)", (path, entry.name, entry.digest))
        self._base.execute("delete from problems where path = ?", (path,))
        rows = [(path, problem.source, problem.error) for problem in problems]
        self._base.executemany("insert into problems values (?, ?, ?)", rows)

    def problems(self, path: Path) -> list[Failed]:
        rows = self._base.execute("select source, error from problems where path = ? order by rowid", (str(path),))
        return [Failed(source=source, error=error) for source, error in rows]

    def move(self, old: Path, new: Path) -> None:
        """A file stands elsewhere now; its documents keep their ids."""
        self._base.execute("delete from files where path = ?", (str(new),))
        self._base.execute("delete from problems where path in (?, ?)", (str(old), str(new)))
        self._base.execute("update files set path = ? where path = ?", (str(new), str(old)))
        self._base.execute("update documents set path = ? where path = ?", (str(new), str(old)))

    def forget(self, path: Path) -> None:
        self._base.execute("delete from files where path = ?", (str(path),))
        self._base.execute("delete from documents where path = ?", (str(path),))
        self._base.execute("delete from problems where path = ?", (str(path),))

    def owner(self, document: str) -> Path | None:
        row = self._base.execute("select path from documents where id = ?", (document,)).fetchone()
        return Path(row[0]) if row else None

    def own(self, document: str, path: Path) -> None:
        self._base.execute("replace into documents values (?, ?)", (document, str(path)))

    def disown(self, document: str) -> None:
        self._base.execute("delete from documents where id = ?", (document,))

    def owned(self) -> Iterator[tuple[str, str]]:
        """Each document with the path of its file."""
        return iter(self._base.execute("select id, path from documents"))

    def documents(self, path: Path) -> list[str]:
        rows = self._base.execute("select id from documents where path = ? order by id", (str(path),))
        return [row[0] for row in rows]

    def _entries(self, condition: str, *values: str) -> Iterator[Entry]:
        rows = self._base.execute(f"select path, name, digest from files {condition}", values)
        return (Entry(Path(path), name, digest) for path, name, digest in rows)
