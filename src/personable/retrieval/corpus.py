"""Collections: named folders of passages under `<home>/collections/`, made and kept up to date by indexing files."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from types import TracebackType
from typing import Literal, Self

from personable.embed import Embedder
from personable.errors import DataError, NotFoundError, UsageError
from personable.retrieval.catalogue import ITEM, MARK, is_catalogue
from personable.retrieval.certified import is_certified
from personable.retrieval.database import Database
from personable.retrieval.folder import search
from personable.retrieval.indexing import IndexRun
from personable.retrieval.ledger import Entry, Ledger
from personable.retrieval.report import IndexOptions, IndexReport, Progress
from personable.retrieval.store import PassageStore
from personable.settings import make_folder

__all__ = [
    "Collection",
    "IndexOptions",
    "IndexReport",
    "Kind",
    "Progress",
    "choose_catalogue",
    "choose_collection",
    "collection_identity",
    "collection_kind",
    "delete_collection",
    "list_collections",
    "open_collection",
    "unknown_items",
    "uploads_folder",
]
Kind = Literal["documents", "items", "certified"]
"""What a collection holds: documents, the items of a catalogue, or certified documents."""
_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,62}[A-Za-z0-9_-])?")


class Collection:
    """An open collection. `store` holds its passages; close it after use, or use it in a `with` statement.

    Document ids are paths relative to the indexed folder (`guides/install.md`; POSIX separators), or the records' own;
    passage ids are `<document id>#<n>`. Where two files claim one id, the later one is led by its folders' names.
    """

    def __init__(self, name: str, folder: Path, store: PassageStore, new: bool = False) -> None:
        self.name = name
        self.folder = folder
        self.store = store
        self._new, self._closed = new, False

    def index(
        self,
        paths: Sequence[Path],
        options: IndexOptions | None = None,
        progress: Callable[[Progress], None] | None = None,
        *,
        below: Path | None = None,
    ) -> IndexReport:
        """Make the collection mirror the files at and below `paths`; documents from elsewhere stay as they are.

        A file or record that cannot be read is reported, and the rest is indexed; where nothing can be read at all the
        collection stays as it was. A killed run is taken up by the next. With `below` documents from under that folder
        say where in it they are from, and not where it is. Raises DataError for a path that is not there or holds no
        file that can be read, and where the collection holds items or certified documents; ModelError where embedding
        fails (what was stored until then stays; open the collection again to go on).
        """
        held = "items" if is_catalogue(self.store) else ""
        held = "certified documents" if is_certified(self.folder) else held
        if held:
            raise DataError(f"collection {self.name!r} holds {held}; give documents a collection of their own")
        found = search(paths)
        with closing(self._ledger()) as ledger:
            run = IndexRun(self.store, ledger, options or IndexOptions(), progress, below)
            with ExitStack() as stopped:
                stopped.callback(self.close)  # and with it forget what is half done
                stopped.callback(ledger.save)
                report = run.run(found)
                stopped.pop_all()
        return report

    def remove(self, target: str) -> int:
        """Take out a document (by its id) or all that came from a file or folder (by its path); how many documents.

        They come back when their file is indexed again. Raises NotFoundError.
        """
        with closing(self._ledger()) as ledger:
            path = Path(target).expanduser().resolve()
            files = [entry.path for entry in ledger.entries() if entry.path.is_relative_to(path)]
            owner = ledger.owner(target)
            gone = [target] if owner else [document for file in files for document in ledger.documents(file)]
            if not gone:
                raise NotFoundError(f"collection {self.name!r} holds no document or path {target!r}")
            if owner:
                entry = ledger.entry(owner)
                ledger.enter(Entry(owner, entry.name if entry else None, ""))
                ledger.save()
            for document in gone:
                self.store.drop(document)
            self.store.commit()
            for document in gone:
                ledger.disown(document)
            for file in files if not owner else []:
                ledger.forget(file)
            ledger.save()
        return len(gone)

    def close(self) -> None:
        """Let go of it. A collection that was made just now and stayed empty is deleted again."""
        if not self._closed:
            self._closed = True
            unused = self._new and not len(self.store)
            self.store.close()
            if unused:
                shutil.rmtree(self.folder)

    def _ledger(self) -> Ledger:
        return Ledger(self.folder / "files.sqlite")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def open_collection(
    home: Path,
    name: str,
    *,
    language: str | None = None,
    embedder: Embedder | None = None,
    write: bool = False,
    create: bool = False,
) -> Collection:
    """Open a collection, to search it or (`write`) to change it; `create` opens it to change it, there already or not.

    `language` is its own, or "en" for a new one, where it is not given.

    Raises NotFoundError that names the collections there are, UsageError for a name that cannot be one,
    ConfigurationError for a home in which nothing can be made, and what
    `PassageStore` raises for a language or embedder that it was not made with.
    """
    folder = _folder(home, name)
    if not create and not (folder / "manifest.json").exists():
        raise NotFoundError(_missing(home, name))
    if create:
        make_folder(home)
    new = not (folder / "manifest.json").exists()
    store = PassageStore(folder, language=language, embedder=embedder, write=write or create)
    return Collection(name, folder, store, new)


def choose_collection(home: Path, named: str | None = None, option: str = "--in") -> str:
    """The collection meant: the named one, else `default` if there is one, else the only one.

    `option` is what names one on the command line.

    Raises NotFoundError where there is none yet, UsageError that lists them where it could be any of several.
    """
    if named is not None:
        return named
    there = list_collections(home)
    if not there:
        raise NotFoundError("there is no collection yet: personable index PATH… makes one (or try: personable demo)")
    if len(there) > 1 and "default" not in there:
        raise UsageError(f"which collection? Name one ({option} on the command line): {', '.join(there)}")
    return "default" if "default" in there else there[0]


def list_collections(home: Path) -> list[str]:
    """Names of the collections under `home`, sorted."""
    base = home / "collections"
    if not base.is_dir():
        return []
    return sorted(
        place.name for place in base.iterdir() if (place / "manifest.json").is_file() and _NAME.fullmatch(place.name)
    )


def collection_kind(home: Path, name: str) -> Kind:
    """What a collection holds; an empty one will hold documents. Raises NotFoundError, and DataError for a damaged one.

    Only its database is opened, so that many collections can be asked.
    """
    folder = _folder(home, name)
    if not (folder / "manifest.json").exists():
        raise NotFoundError(_missing(home, name))
    if is_certified(folder):
        return "certified"
    with closing(Database(folder, write=False)) as database:
        return "items" if database.holds(MARK, ITEM) else "documents"


def collection_identity(home: Path, name: str) -> tuple[int, int] | None:
    """Device and number of the file that holds the passages, by which a collection deleted and made anew differs from
    one that is still open; None where there is none. Raises UsageError for a name that cannot be one."""
    try:
        found = (_folder(home, name) / "passages.sqlite").stat()
    except (FileNotFoundError, NotADirectoryError):  # the latter where a file has the folder's name
        return None
    return found.st_dev, found.st_ino


def choose_catalogue(home: Path, named: str | None = None) -> str | None:
    """The named catalogue, else the only one under `home`; None where there is none, or several.

    Raises NotFoundError and UsageError for a name of none.
    """
    if named is not None and collection_kind(home, named) != "items":
        raise UsageError(f"the collection {named!r} is no catalogue: it holds no items")
    there = [named] if named else [name for name in list_collections(home) if _is_catalogue(home, name)]
    return there[0] if len(there) == 1 else None


def unknown_items(home: Path, catalogue: str, items: Sequence[str]) -> list[str]:
    """Which of `items` the catalogue does not hold."""
    with closing(Database(_folder(home, catalogue), write=False)) as database:
        held = database.documents(*items)
    return [item for item in items if item not in held]


def _is_catalogue(home: Path, name: str) -> bool:
    try:
        return collection_kind(home, name) == "items"
    except DataError:  # damaged: nothing can be said of it
        return False


def delete_collection(home: Path, name: str) -> None:
    """Delete a collection with its passages, vectors and files, and what was uploaded for it.

    Raises NotFoundError and UsageError.
    """
    folders = [folder for folder in (uploads_folder(home, name), _folder(home, name)) if folder.is_dir()]
    if not folders:
        raise NotFoundError(_missing(home, name))
    for folder in folders:
        grave = folder.with_name(f".{name}.deleted")
        shutil.rmtree(grave, ignore_errors=True)
        folder.rename(grave)  # at once for everybody else, also where deleting is then interrupted
        shutil.rmtree(grave)


def uploads_folder(home: Path, name: str) -> Path:
    """Where the files lie that were uploaded for a collection. Raises UsageError for a name that cannot be one."""
    return home / "uploads" / _folder(home, name).name


def _folder(home: Path, name: str) -> Path:
    if not _NAME.fullmatch(name):
        raise UsageError(
            f"{name!r} cannot name a collection: at most 64 letters, digits, '-', '_' and '.', first a letter or digit"
        )
    return home / "collections" / name


def _missing(home: Path, name: str) -> str:
    there = list_collections(home)
    known = f"there are: {', '.join(there)}" if there else "there are none yet"
    return f"no collection {name!r}; {known}; make it with: personable index PATH --into {name}"
