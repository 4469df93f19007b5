"""One indexing run: make a collection mirror the files below some paths.

Files are known by their bytes: an unchanged one is not read again, a changed one replaces its documents, one that is
gone takes its documents along, and one whose passages the store has lost is read again. Bytes that stand under several
names are stored once, under the first name, so that a search does not return them twice; when that file goes, the next
copy takes its place. See `ledger` for what a killed run leaves.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from personable.errors import DataError, MissingExtraError, UnreadableFileError
from personable.retrieval.document import Document
from personable.retrieval.folder import Found, Search
from personable.retrieval.ledger import Entry, Ledger
from personable.retrieval.readers import READERS, read, readable
from personable.retrieval.report import Failed, IndexOptions, IndexReport, Progress, Skipped
from personable.retrieval.segment import passages
from personable.retrieval.store import PassageStore
from personable.retrieval.textfile import TextFile

VERSION = 2  # of readers and segmenter; a higher number makes every file be read again
EVERY = 2000  # passages are stored together; what is stored survives a kill
_PROBLEMS = 10  # reported one by one for a file, the others are counted
_PAUSE = 0.1  # seconds between two reports of progress


@dataclass
class _Pending:
    """What the ledger may only learn after the passages are stored."""

    finished: list[tuple[Entry, list[Failed]]] = field(default_factory=list)
    dropped: set[str] = field(default_factory=set)
    gone: list[Path] = field(default_factory=list)


class IndexRun:
    """A single use of `run`."""

    def __init__(
        self,
        store: PassageStore,
        ledger: Ledger,
        options: IndexOptions,
        progress: Callable[[Progress], None] | None = None,
        below: Path | None = None,
    ) -> None:
        self._store, self._ledger, self._options = store, ledger, options
        self._language = store.manifest.language
        self._progress = progress
        self._below = f"{below.resolve()}{os.sep}" if below is not None else ""
        self._stored = store.documents()
        self._lost = {Path(path) for document, path in ledger.owned() if document not in self._stored}
        self._counts = dict.fromkeys(("added", "replaced", "unchanged", "removed", "passages"), 0)
        self._failed: list[Failed] = []
        self._skipped: list[Skipped] = []
        self._pending = _Pending()
        self._found: dict[Path, Found] = {}
        self._leaving: set[Path] = set()
        self._originals: dict[str, Path] = {}  # of this run, by digest
        self._buffered = self._alright = 0
        self._began, self._told = time.monotonic(), 0.0
        self._done = self._total = 0

    def run(self, found: Search) -> IndexReport:
        """Index what was found. Raises DataError where nothing can be read and nothing was there before."""
        self._found = found.files
        known = [entry.path for entry in self._ledger.entries() if found.covers(entry.path)]
        if not known and not any(TextFile(path).kind in READERS for path in found.files):
            where = ", ".join(str(root) for root in found.roots)
            raise DataError(f"no file that can be read in {where}; can read: {readable()}")
        self._leaving = {path for path in known if path not in found.files}
        self._failed += [Failed(source=str(path), error=error) for path, error in found.failed.items()]
        self._total = sum(file.size for file in found.files.values())
        queue = deque(found.files.values())
        for path in sorted(self._leaving):
            queue += self._heirs(path)
        queue += self._lost_elsewhere()
        while queue:
            file = queue.popleft()
            queue += self._file(file)
            self._done += file.size
        if self._alright or not self._failed:
            self._drop_leaving()
            self._checkpoint()
        self._told = -_PAUSE
        self._tell(Path())
        return IndexReport(
            **self._counts,
            failed=self._failed,
            skipped=self._skipped,
            seconds=time.monotonic() - self._began,
        )

    def _file(self, file: Found) -> list[Found]:
        """Bring one file up to date; returns the copies that lost their original by it."""
        self._tell(file.path)
        source = TextFile(file.path)
        if source.kind not in READERS:
            return self._skip(file, f"no reader for {source.kind or 'files without a suffix'}")
        try:
            digest = self._digest(source)
            entry = self._ledger.entry(file.path)
            if self._is_stored(entry, digest):
                self._alright += 1
                self._counts["unchanged"] += len(self._ledger.documents(file.path))
                self._failed += self._ledger.problems(file.path)
                self._originals.setdefault(digest, file.path)
                return []
            original = self._original(digest, file.path)
            heirs = self._heirs(file.path) if entry is not None and entry.digest != digest else []
            if original is not None:
                self._retire(file.path, keep=set())
                self._pending.finished.append((Entry(file.path, None, digest), []))
                return [*heirs, *self._skip(file, f"the same bytes as {original}, which is cited instead")]
            self._read(file, source, digest)
            return heirs
        except (UnreadableFileError, MissingExtraError) as error:
            self._failed.append(Failed(source=str(file.path), error=str(error)))
            return []

    def _read(self, file: Found, source: TextFile, digest: str) -> None:
        """Read, cut and store one file; its earlier documents that are no longer in it go."""
        name, moved = self._name(file, digest)
        seen: set[str] = set()
        failed = len(self._failed)
        for document in self._documents(file, source, name):
            if not seen:
                if moved is not None:
                    self._ledger.move(moved, file.path)
                self._ledger.enter(Entry(file.path, name, ""))
            document = self._unique(document, file.path, name)
            seen.add(document.id)
            self._put(document, file.path)
        if not seen and len(self._failed) > failed:
            return  # nothing in it could be read: what is known of it stays
        self._retire(file.path, keep=seen)
        self._alright += 1
        if seen:
            self._originals[digest] = file.path
            self._pending.finished.append((Entry(file.path, name, digest), self._failed[failed:]))
        else:
            self._pending.gone.append(file.path)
            self._skip(file, "holds no text" if file.size else "is empty")

    def _documents(self, file: Found, source: TextFile, name: str) -> Iterator[Document]:
        problems = 0
        for found in read(file.path, self._options, name, source) if file.size else ():
            self._tell(file.path, source.position)
            if isinstance(found, Document):
                yield found.model_copy(update={"source": found.source.removeprefix(self._below)})
                continue
            problems += 1
            if problems <= _PROBLEMS:
                self._failed.append(Failed(source=found.source, error=found.error))
        if problems > _PROBLEMS:
            more = f"{problems - _PROBLEMS} more problems of this kind in this file"
            self._failed.append(Failed(source=str(file.path), error=more))

    def _put(self, document: Document, path: Path) -> None:
        self._ledger.own(document.id, path)
        self._pending.dropped.discard(document.id)
        cut = f"{VERSION} {self._options.passage_tokens} {self._options.overlap_tokens} {document.digest}"
        digest = hashlib.sha256(cut.encode()).hexdigest()
        before = self._stored.get(document.id)
        if before == digest:
            self._counts["unchanged"] += 1
            return
        pieces = list(passages(document, self._options.passage_tokens, self._options.overlap_tokens, self._language))
        self._store.put(document.id, digest, pieces)
        self._stored[document.id] = digest
        self._counts["added" if before is None else "replaced"] += 1
        self._counts["passages"] += len(pieces)
        self._buffered += len(pieces)
        if self._buffered >= EVERY:
            self._checkpoint()

    def _checkpoint(self) -> None:
        """Store what is buffered. The order of the three steps is what makes a kill between them harmless."""
        self._ledger.save()
        self._store.commit()
        for document in self._pending.dropped:
            self._ledger.disown(document)
        for path in self._pending.gone:
            self._ledger.forget(path)
        for entry, problems in self._pending.finished:
            self._ledger.enter(entry, problems)
        self._ledger.save()
        self._pending, self._buffered = _Pending(), 0

    def _drop_leaving(self) -> None:
        for path in sorted(self._leaving):
            self._retire(path, keep=set())
            self._pending.gone.append(path)

    def _retire(self, path: Path, keep: set[str]) -> None:
        """Drop the documents of a file that are not in `keep`."""
        gone = [document for document in self._ledger.documents(path) if document not in keep]
        for document in gone:
            if self._stored.pop(document, None) is not None:
                self._store.drop(document)
        self._pending.dropped.update(gone)
        self._counts["removed"] += len(gone)

    def _digest(self, source: TextFile) -> str:
        """Of the bytes and of everything that decides what is made of them."""
        made = f"{VERSION} {source.kind} {self._options.model_dump_json()} {source.digest()}"
        return hashlib.sha256(made.encode()).hexdigest()

    def _original(self, digest: str, path: Path) -> Path | None:
        """Another file that holds the same bytes now and whose documents are or will be stored."""
        if digest in self._originals:
            return self._originals[digest]
        entry = self._ledger.original(digest)
        if entry is None or entry.path in self._leaving or entry.path == path:
            return None
        try:
            return entry.path if self._digest(TextFile(entry.path)) == digest else None
        except UnreadableFileError:
            return None

    def _is_stored(self, entry: Entry | None, digest: str) -> bool:
        """Whether these bytes were read before and all their documents are still in the store."""
        return entry is not None and entry.name is not None and entry.digest == digest and entry.path not in self._lost

    def _lost_elsewhere(self) -> list[Found]:
        """The files outside this search whose passages are gone, as when `passages.sqlite` was deleted."""
        entries = [self._ledger.entry(path) for path in sorted(self._lost - self._found.keys() - self._leaving)]
        return _standing(entry for entry in entries if entry is not None and entry.name and entry.digest)

    def _heirs(self, path: Path) -> list[Found]:
        """The copies of a file that still stand outside this search; those inside it see to themselves."""
        entry = self._ledger.entry(path)
        if entry is None or entry.name is None or not entry.digest:
            return []
        return _standing(copy for copy in self._ledger.copies(entry.digest) if copy.path not in self._found)

    def _name(self, file: Found, digest: str) -> tuple[str, Path | None]:
        """The id of a file's document: its relative path, led by as many folders as it takes to be the only one.

        A file that was moved with its whole folder keeps its name; the second value is where it stood.
        """
        entry = self._ledger.entry(file.path)
        if entry is not None and entry.name is not None:
            return entry.name, None
        name, length = file.name, len(PurePosixPath(file.name).parts)
        while (other := self._ledger.named(name)) is not None:
            if other.digest == digest and not other.path.exists():
                return name, other.path
            length += 1
            name = "/".join(file.path.parts[-length:])
        return name, None

    def _unique(self, document: Document, path: Path, name: str) -> Document:
        """A record whose id another file's record has already gets its file's name before it."""
        owner = self._ledger.owner(document.id)
        if owner in (None, path) or owner in self._leaving or document.id in self._pending.dropped:
            return document
        return document.model_copy(update={"id": f"{name}/{document.id}"})

    def _skip(self, file: Found, reason: str) -> list[Found]:
        self._skipped.append(Skipped(source=str(file.path), reason=reason))
        return []

    def _tell(self, path: Path, position: int = 0) -> None:
        seconds = time.monotonic() - self._began
        if self._progress is not None and seconds - self._told >= _PAUSE:
            self._told = seconds
            done = min(self._done + position, self._total)
            file = str(path) if path.name else ""
            self._progress(Progress(done, self._total, file, self._counts["passages"], seconds))


def _standing(entries: Iterable[Entry]) -> list[Found]:
    paths = [entry.path for entry in entries if entry.path.is_file()]
    return [Found(path, path.name, path.stat().st_size) for path in paths]
