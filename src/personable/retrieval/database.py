"""The passages of a collection in SQLite: what is committed here is what the collection holds."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from itertools import chain, starmap
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from personable.errors import DataError, NotFoundError
from personable.types import Passage, Scalar, Where

_SCHEMA = """
CREATE TABLE IF NOT EXISTS state (generation INTEGER NOT NULL);
INSERT INTO state SELECT 0 WHERE NOT EXISTS (SELECT 1 FROM state);
CREATE TABLE IF NOT EXISTS document (id TEXT PRIMARY KEY, digest TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS passage (
  row INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, document TEXT NOT NULL, title TEXT NOT NULL,
  source TEXT NOT NULL, start INTEGER NOT NULL, "end" INTEGER NOT NULL, text TEXT NOT NULL, meta TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS passage_document ON passage (document);
CREATE INDEX IF NOT EXISTS passage_source ON passage (source);
CREATE TABLE IF NOT EXISTS meta (
  key TEXT NOT NULL, value TEXT NOT NULL, row INTEGER NOT NULL, PRIMARY KEY (key, value, row)) WITHOUT ROWID;
"""
_COLUMNS = 'id, document, title, source, start, "end", text, meta'
_MANY = 500


class Database:
    """`passages.sqlite` of one collection; safe to use from several threads. A reader never waits for the writer."""

    def __init__(self, folder: Path, write: bool) -> None:
        self._path = folder / "passages.sqlite"
        if not write and not self._path.exists():
            raise NotFoundError(f"the collection at {folder} holds nothing yet; index something into it")
        self._turn = Lock()
        self._reader = self._connect()
        self._writer = self._connect() if write else None
        if self._writer is not None:
            self._writer.execute("PRAGMA journal_mode=WAL")
            self._writer.execute("PRAGMA synchronous=FULL")
            self._writer.executescript(_SCHEMA)

    def close(self) -> None:
        """What reads just now comes to its end first: SQLite does not survive losing its connection half-way."""
        with self._turn:
            self._reader.close()
        if self._writer is not None:
            self._writer.close()

    def generation(self) -> int:
        """Counts commits; a change tells a reader to look again."""
        return int(self._read("SELECT generation FROM state")[0][0])

    def count(self) -> int:
        return int(self._read("SELECT count(*) FROM passage")[0][0])

    def documents(self, *ids: str) -> dict[str, str]:
        ask = "SELECT id, digest FROM document"
        if not ids:
            return dict(self._read(ask))
        return {id: digest for one in ids for id, digest in self._read(f"{ask} WHERE id = ?", (one,))}

    def rows(self) -> NDArray[np.int64]:
        """All row ids, ascending."""
        return _column(self._read("SELECT row FROM passage ORDER BY row"))

    def next_row(self) -> int:
        """A row id above every one ever committed."""
        found = self._read("SELECT seq FROM sqlite_sequence WHERE name = 'passage'")
        return int(found[0][0]) + 1 if found else 1

    def rows_of(self, documents: Iterable[str]) -> NDArray[np.int64]:
        ask = "SELECT row FROM passage WHERE document = ?"
        found = [row for document in documents for (row,) in self._read(ask, (document,))]
        return np.array(sorted(found), dtype=np.int64)

    def matching(self, where: Where) -> NDArray[np.int64]:
        """Rows whose metadata, `document` or `source` match every key of the filter, ascending."""
        found: NDArray[np.int64] | None = None
        for key, wanted in where.items():
            any_of = self._holding(key, wanted if isinstance(wanted, list) else [wanted])
            found = any_of if found is None else np.intersect1d(found, any_of, assume_unique=True)
        return self.rows() if found is None else found

    def holds(self, key: str, value: Scalar) -> bool:
        """Whether any passage has this metadata."""
        ask = "SELECT 1 FROM meta WHERE key = ? AND value = ? LIMIT 1"
        return bool(self._read(ask, (key, canonical(value))))

    def _holding(self, key: str, values: Sequence[Scalar]) -> NDArray[np.int64]:
        """Rows that have any of these values, ascending."""
        found: list[NDArray[np.int64]] = []
        for start in range(0, len(values), _MANY):
            some = values[start : start + _MANY]
            marks = ",".join("?" * len(some))
            ask = f"SELECT row FROM meta WHERE key = ? AND value IN ({marks})"
            found.append(_column(self._read(ask, [key, *map(canonical, some)])))
            if key in ("document", "source"):
                ask = f"SELECT row FROM passage WHERE {key} IN ({marks})"
                texts = [value if isinstance(value, str) else None for value in some]
                found.append(_column(self._read(ask, texts)))
        return np.unique(np.concatenate(found)) if found else np.empty(0, dtype=np.int64)

    def passages(self, rows: Sequence[int]) -> dict[int, Passage]:
        """The passages among `rows` that exist."""
        found: dict[int, Passage] = {}
        for start in range(0, len(rows), _MANY):
            some = [int(row) for row in rows[start : start + _MANY]]
            ask = f"SELECT row, {_COLUMNS} FROM passage WHERE row IN ({','.join('?' * len(some))})"
            for row, *values in self._read(ask, some):
                found[row] = _passage(values)
        return found

    def by_id(self, passage: str) -> Passage | None:
        found = self._read(f"SELECT {_COLUMNS} FROM passage WHERE id = ?", (passage,))
        return _passage(found[0]) if found else None

    def document_of(self, passage: str) -> str | None:
        found = self._read("SELECT document FROM passage WHERE id = ?", (passage,))
        return found[0][0] if found else None

    def publish(
        self,
        gone: NDArray[np.int64],
        documents: Mapping[str, str | None],
        passages: Iterable[tuple[int, Passage]],
    ) -> None:
        """One transaction: drop the rows `gone`, set documents' digests (None drops one), add passages as new rows."""
        with self._transaction() as writer:
            for row in gone.tolist():
                (meta,) = writer.execute("SELECT meta FROM passage WHERE row = ?", (row,)).fetchone()
                writer.executemany("DELETE FROM meta WHERE key = ? AND value = ? AND row = ?", _meta(row, meta))
                writer.execute("DELETE FROM passage WHERE row = ?", (row,))
            dropped = [(document,) for document, digest in documents.items() if digest is None]
            kept = [(document, digest) for document, digest in documents.items() if digest is not None]
            writer.executemany("DELETE FROM document WHERE id = ?", dropped)
            writer.executemany("INSERT OR REPLACE INTO document VALUES (?, ?)", kept)
            added = list(passages)
            writer.executemany("INSERT INTO passage VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", starmap(_values, added))
            meta = chain.from_iterable(_meta(row, passage.meta) for row, passage in added)
            writer.executemany("INSERT INTO meta VALUES (?, ?, ?)", sorted(meta))
            writer.execute("UPDATE state SET generation = generation + 1")

    def _read(self, ask: str, values: Sequence[Scalar | None] = ()) -> list[Any]:
        with self._turn:
            return self._reader.execute(ask, values).fetchall()

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        assert self._writer is not None
        self._writer.execute("BEGIN IMMEDIATE")
        with ExitStack() as failed:
            failed.callback(self._writer.execute, "ROLLBACK")
            yield self._writer
            failed.pop_all()
        self._writer.execute("COMMIT")

    def _connect(self) -> sqlite3.Connection:
        try:
            connection = sqlite3.connect(self._path, timeout=30, isolation_level=None, check_same_thread=False)
            connection.execute("PRAGMA schema_version").fetchone()
        except sqlite3.DatabaseError as error:
            raise DataError(f"{self._path} cannot be opened ({error}); delete the folder and index again") from error
        return connection


def writer_lock(folder: Path) -> sqlite3.Connection:
    """An exclusive SQLite lock: it works on every platform and goes with the process, however that ends.

    Raises DataError where another process, or another part of this one, holds it.
    """
    held = sqlite3.connect(folder / "writer.lock", timeout=0, isolation_level=None, check_same_thread=False)
    try:
        held.execute("BEGIN EXCLUSIVE")
    except sqlite3.OperationalError as error:
        held.close()
        raise DataError(f"another process is writing to the collection at {folder}; wait for it, or end it") from error
    return held


def canonical(value: Scalar) -> str:
    """Equal values, equal text: 1 and 1.0 are the same, 1, "1" and True are not."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return json.dumps(value, ensure_ascii=False)


def _meta(row: int, meta: str | Mapping[str, Scalar]) -> list[tuple[str, str, int]]:
    held = json.loads(meta) if isinstance(meta, str) else meta
    return [(key, canonical(value), row) for key, value in held.items()]


def _values(row: int, passage: Passage) -> tuple[Scalar, ...]:
    kept = (
        passage.id,
        passage.document,
        passage.title,
        passage.source,
        passage.start,
        passage.end,
        passage.text,
    )
    return (row, *kept, json.dumps(passage.meta, ensure_ascii=False))


def _passage(values: Sequence[str | int]) -> Passage:
    names = ("id", "document", "title", "source", "start", "end", "text", "meta")
    kept = dict(zip(names, values, strict=True))
    return Passage.model_validate({**kept, "meta": json.loads(str(kept["meta"]))})


def _column(found: Iterable[tuple[int]]) -> NDArray[np.int64]:
    return np.fromiter((row for (row,) in found), dtype=np.int64)
