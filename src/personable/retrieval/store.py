"""One folder, one collection: passages, inverted index and vectors, kept in agreement."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from threading import Lock
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from pydantic_core import PydanticSerializationError

from personable.embed import Embedder, Vectors
from personable.errors import DataError, NotFoundError, UsageError
from personable.retrieval.certified import is_certified
from personable.retrieval.database import Database, writer_lock
from personable.retrieval.dense import DenseIndex
from personable.retrieval.manifest import check_manifest, read_manifest, write_manifest
from personable.retrieval.sparse import SparseIndex
from personable.settings import make_folder
from personable.types import Hit, Passage, Where

T = TypeVar("T")

Candidate = tuple[int, float, dict[str, float]]
"""Row id, score, and the features that its hit will carry."""

Find = Callable[[int, NDArray[np.int64] | None], list[Candidate]]
"""At most how many, and among which rows (None: all) → candidates, best first; fewer only if there are no more."""


def embedded_text(passage: Passage) -> str:
    """What of a passage its vector stands for."""
    return f"{passage.title}\n{passage.text}" if passage.title else passage.text


class PassageStore:
    """The passages of a collection and the engines over them.

    The database decides: a commit first adds to the engines under new row ids, which nobody sees as the database does
    not know them, then publishes in one transaction, then takes the replaced rows out of the engines. A crash anywhere
    leaves engines with too much, or without what they lost themselves; the next writer compares and mends that.

    One writer at a time (DataError for a second), any number of readers in threads and processes; a reader sees a
    commit at its next call, whole.
    """

    def __init__(
        self,
        folder: Path,
        *,
        language: str | None = None,
        embedder: Embedder | None = None,
        write: bool = False,
    ) -> None:
        """Open the collection in `folder`; with `write`, make it if there is none (`language` then defaults to "en").

        Raises NotFoundError where there is none to read, ConfigurationError if it was made for another language or with
        another embedder (None: search by words only), DataError if it is damaged or another process writes to it.
        """
        self.folder = folder
        self._embedder = embedder
        self._put: dict[str, tuple[str, list[Passage]] | None] = {}
        self._owners: dict[str, str] = {}  # passage id -> document, of what is buffered
        self._reloading = Lock()
        self._writing = write
        self._certified = is_certified(folder)
        with ExitStack() as opened:  # lets go of what is open if something below is refused
            if write:
                make_folder(folder)
                opened.callback(writer_lock(folder).close)
                if not (folder / "manifest.json").exists():
                    write_manifest(folder, language or "en", embedder)
            self.manifest = read_manifest(folder)
            check_manifest(folder, self.manifest, language, embedder, write)
            self._database = Database(folder, write)
            opened.callback(self._database.close)
            self.sparse = SparseIndex(folder / "sparse", self.manifest.language)
            opened.callback(self.sparse.close)
            self.dense = DenseIndex(folder / "dense", self.manifest.dim) if self.manifest.dim else None
            self._loaded = self._database.generation()
            if write:
                self._heal()
            else:
                self._check()
            self._opened = opened.pop_all()

    @property
    def certified(self) -> bool:
        """Whether its documents are certified; once seen it stays so, also where its folder is deleted meanwhile."""
        self._certified = self._certified or is_certified(self.folder)
        return self._certified

    def documents(self, *ids: str) -> dict[str, str]:
        """Committed document id → digest; of `ids` alone where some are given."""
        return self._database.documents(*ids)

    def put(self, document: str, digest: str, passages: Sequence[Passage]) -> None:
        """Replace all passages of `document` at the next commit. Passages without text and title are left out, as
        nothing could find them; a document may have none. Raises DataError for a passage id that is already taken."""
        self._writable()
        kept = [passage for passage in passages if passage.text.strip() or passage.title.strip()]
        seen: set[str] = set()
        for passage in kept:
            if passage.document not in ("", document):
                raise DataError(f"passage {passage.id!r} belongs to {passage.document!r}, not to {document!r}")
            if passage.id in seen or self._taken(passage.id, document):
                raise DataError(f"passage id {passage.id!r} of {document!r} is taken; ids are unique in a collection")
            _check_text(passage)
            seen.add(passage.id)
        self.drop(document)
        self._put[document] = (digest, [_of(document, passage) for passage in kept])
        self._owners.update(dict.fromkeys(seen, document))

    def drop(self, document: str) -> None:
        """Remove `document` and its passages at the next commit; an unknown one is no error."""
        self._writable()
        earlier = self._put.get(document)
        for passage in earlier[1] if earlier else ():
            del self._owners[passage.id]
        self._put[document] = None

    def commit(self) -> None:
        """Embed and write what is buffered. Readers see all of it or, if this raises or dies, nothing.

        After an error the buffer is kept and `commit` may be tried again. Raises ModelError where embedding fails.
        """
        self._writable()
        if not self._put:
            return
        new = [passage for put in self._put.values() if put for passage in put[1]]
        vectors = self._vectors(new)
        self._heal()
        first = self._database.next_row()
        numbered = list(enumerate(new, first))
        gone = self._database.rows_of(self._put)
        self._index(numbered, vectors, np.empty(0, dtype=np.int64))
        self._database.publish(gone, {id: put and put[0] for id, put in self._put.items()}, numbered)
        self._put, self._owners = {}, {}
        if len(gone):
            self._index([], vectors[:0], gone)

    def passage(self, id: str) -> Passage:
        """Raises NotFoundError."""
        found = self._database.by_id(id)
        if found is None:
            raise NotFoundError(f"no passage {id!r} in the collection at {self.folder}")
        return found

    def fetch(self, rows: Sequence[int]) -> list[Passage]:
        """The passages of these row ids, in this order. Raises NotFoundError if one is gone."""
        found = self._database.passages(rows)
        missing = [row for row in rows if row not in found]
        if missing:
            raise NotFoundError(f"no passage in row {missing[0]} of the collection at {self.folder}")
        return [found[row] for row in rows]

    def everything(self) -> tuple[list[Passage], Vectors | None]:
        """All passages and their vectors, shape (passages, dim), of one moment; None where there are no vectors."""

        def look() -> tuple[list[Passage], Vectors | None]:
            passages = self._database.passages(self._database.rows().tolist())
            vectors = self.dense.vectors(list(passages)) if self.dense is not None and passages else None
            return list(passages.values()), vectors

        return self._steady(look)

    def rows(self, where: Where | None) -> NDArray[np.int64] | None:
        """Ascending row ids that match the filter (on metadata, `document` and `source`); None where there is none."""
        return self._database.matching(where) if where else None

    def search(self, find: Find, k: int, where: Where | None) -> list[Hit]:
        """The best `k` that exist of what `find(limit, allowed rows)` returns, all from one state of the collection."""

        def look() -> list[Hit]:
            allowed, limit = self.rows(where), k
            while True:
                found = find(limit, allowed)
                held = self._database.passages([row for row, _, _ in found[:limit]])
                hits = [
                    Hit(passage=held[row], score=score, features=features)
                    for row, score, features in found[:limit]
                    if row in held
                ]
                if len(hits) >= k or len(found) < limit:
                    return hits
                limit *= 2  # some rows are of a commit under way, or of one just replaced

        return self._steady(look) if k > 0 else []

    def __len__(self) -> int:
        return self._database.count()

    def stats(self) -> dict[str, Any]:
        """Passages, documents, bytes on disk, language, embedder and dim."""
        size = sum(path.stat().st_size for path in self.folder.rglob("*") if path.is_file())
        made = self.manifest
        return {
            "passages": len(self),
            "documents": len(self.documents()),
            "bytes": size,
            "language": made.language,
            "embedder": made.embedder or None,
            "dim": made.dim,
        }

    def close(self) -> None:
        """Let go of files and lock; what was not committed is forgotten."""
        self._opened.close()
        self._writing = False

    def __enter__(self) -> PassageStore:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _steady(self, look: Callable[[], T]) -> T:
        """What `look` sees while no commit falls into it; after three that did, what it saw last."""
        for _ in range(4):
            generation = self._database.generation()
            if generation != self._loaded:
                self._reload(generation)
            seen = look()
            if self._database.generation() == generation:
                break
        return seen

    def _reload(self, generation: int) -> None:
        with self._reloading:
            self.sparse.reload()
            if self.dense is not None:
                self.dense.reload()
            self._loaded = generation

    def _check(self) -> None:
        """A reader cannot mend an engine that lost passages, and must not pretend that they are not there."""
        total = len(self)
        lost = len(self.sparse) < total or (self.dense is not None and len(self.dense) < total)
        if lost and self._database.generation() == self._loaded:
            raise DataError(f"the collection at {self.folder} lost a part of its index; index again to mend it")

    def _heal(self) -> None:
        """Bring the engines to what the database holds, if they differ."""
        self.sparse.rollback()
        total = len(self)
        if len(self.sparse) == total and (self.dense is None or len(self.dense) == total):
            return
        rows = self._database.rows()
        extra = np.setdiff1d(self.sparse.rows(), rows)
        missing = np.setdiff1d(rows, self.sparse.rows())
        self.sparse.delete(extra)
        self.sparse.add((row, p.title, p.text) for row, p in self._database.passages(missing.tolist()).items())
        self.sparse.commit()
        if self.dense is not None:
            extra, missing = np.setdiff1d(self.dense.rows(), rows), np.setdiff1d(rows, self.dense.rows())
            self.dense.update(missing, self._vectors(self.fetch(missing.tolist())), extra)

    def _index(self, added: Sequence[tuple[int, Passage]], vectors: Vectors, gone: NDArray[np.int64]) -> None:
        self.sparse.add((row, passage.title, passage.text) for row, passage in added)
        self.sparse.delete(gone)
        self.sparse.commit()
        if self.dense is not None:
            self.dense.update(np.array([row for row, _ in added], dtype=np.int64), vectors, gone)

    def _vectors(self, passages: Sequence[Passage]) -> Vectors:
        if self._embedder is None:
            return np.empty((len(passages), self.manifest.dim), dtype=np.float32)
        return self._embedder.passages([embedded_text(passage) for passage in passages])

    def _taken(self, passage: str, document: str) -> bool:
        """Whether another document holds this passage id once what is buffered is committed."""
        if self._owners.get(passage, document) != document:
            return True
        owner = self._database.document_of(passage)
        return owner is not None and owner != document and owner not in self._put

    def _writable(self) -> None:
        if not self._writing:
            raise UsageError(f"the collection at {self.folder} is open for reading only; open it with write=True")


def _of(document: str, passage: Passage) -> Passage:
    return passage if passage.document == document else passage.model_copy(update={"document": document})


def _check_text(passage: Passage) -> None:
    try:
        passage.model_dump_json().encode()
    except (UnicodeEncodeError, PydanticSerializationError) as error:
        raise DataError(
            f"passage {passage.id!r} holds text that is no Unicode ({error}); decode its file again"
        ) from error
