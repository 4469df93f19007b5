"""The files that were uploaded for a collection, under `<home>/uploads/<collection>/`, and how they are indexed.

Nothing is trusted: a name is a relative path that stays below that folder, and a manifest names files below it alone.
"""

from __future__ import annotations

import os
import re
import shutil
import unicodedata
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO

from pydantic import Field, ValidationError

from personable.errors import DataError, NotFoundError, UsageError
from personable.retrieval.corpus import Kind, uploads_folder
from personable.retrieval.folder import Found, search
from personable.retrieval.ledger import Ledger
from personable.retrieval.report import Skipped
from personable.settings import make_folder
from personable.types import Value

RECIPE, INCOMING = ".recipe.json", ".incoming"
LONGEST_PART, LONGEST_NAME = 255, 1_000
"""Bytes of a file's or folder's name, and of a whole path."""
_RESERVED = re.compile(r"(?:con|prn|aux|nul|com[1-9¹²³]|lpt[1-9¹²³])(?:\..*)?", re.IGNORECASE)
_DRIVE = re.compile(r"[A-Za-z]:")


class Recipe(Value):
    """How uploaded files are indexed, as said with the first of them. Fields are those of CSV and JSON records."""

    kind: Kind = "documents"
    language: str | None = Field(None, pattern=r"^[a-z]{2}$")
    text_field: str | None = Field(None, min_length=1, max_length=200)
    title_field: str | None = Field(None, min_length=1, max_length=200)
    id_field: str | None = Field(None, min_length=1, max_length=200)


@dataclass(frozen=True)
class Uploads:
    """What was uploaded for `collection`. All methods block; one writer at a time."""

    home: Path
    collection: str

    @property
    def folder(self) -> Path:
        """Raises UsageError for a name that cannot be a collection's."""
        return uploads_folder(self.home.resolve(), self.collection)

    @property
    def recipe(self) -> Recipe | None:
        """None where nothing was uploaded. Raises DataError where it was damaged."""
        path = self.folder / RECIPE
        try:
            return Recipe.model_validate_json(path.read_bytes()) if path.is_file() else None
        except ValidationError as error:
            raise DataError(f"the recipe of the uploads of {self.collection!r} is damaged; upload again") from error

    @property
    def marker(self) -> Path:
        """It is there while the collection is being indexed, and stays where that was stopped half-way."""
        return self.folder.with_name(f".{self.collection}.indexing")

    def files(self) -> list[Found]:
        """The files to index, without hidden ones. Raises NotFoundError where there are none."""
        found = list(search([self.folder]).files.values()) if self.folder.is_dir() else []
        if not found:
            raise NotFoundError(f"nothing was uploaded for {self.collection!r}; send files first")
        return found

    def keep(self, recipe: Recipe, sent: Sequence[tuple[str, IO[bytes]]]) -> list[Skipped]:
        """Store files, in the place of those of the same names; returns what was left out.

        All are written before the first appears under its name. Raises UsageError for a name that is not allowed, where
        nothing is stored, DataError for files that were to be indexed otherwise, and where they cannot be written.
        """
        known = self.recipe
        if known is not None and known != recipe:
            raise DataError(
                f"the uploads of {self.collection!r} are indexed as {known.model_dump_json(exclude_none=True)}; upload "
                "these to another collection, or delete this one"
            )
        named = [(upload_name(name), file) for name, file in sent]
        wanted = [(path, file) for path, file in named if not _hidden(path)]
        twice = len(wanted) - len({path for path, _ in wanted})
        if not wanted or twice:
            said = f"{twice} files have the name of another" if twice else "no file, apart from hidden ones, was sent"
            raise UsageError(f"{said}; nothing was stored")
        make_folder(self.folder)
        incoming = self.folder / INCOMING
        shutil.rmtree(incoming, ignore_errors=True)  # of a process that was killed
        try:
            self._store(recipe, wanted, incoming)
        except OSError as error:
            raise DataError(f"the files cannot be stored: {error.strerror or error}") from error
        finally:
            shutil.rmtree(incoming, ignore_errors=True)
        return [Skipped(source=str(path), reason="hidden or temporary") for path, _ in named if _hidden(path)]

    def remove(self, ledger_path: Path, document: str) -> list[str]:
        """Delete the uploaded file of a document, and its copies; returns their names, none where it was not uploaded.

        Raises DataError where the file holds other documents too.
        """
        with closing(Ledger(ledger_path)) as ledger:
            owner = ledger.owner(document)
            if owner is None or not owner.is_relative_to(self.folder):
                return []
            others = len(ledger.documents(owner)) - 1
            name = owner.relative_to(self.folder).as_posix()
            if others and not _parts_of_one(ledger.documents(owner), name):
                raise DataError(f"{name} holds {others} other documents; upload it again without this one")
            entry = ledger.entry(owner)
            same = [copy.path for copy in ledger.copies(entry.digest)] if entry and entry.digest else []
        gone = [path for path in (owner, *same) if path.is_relative_to(self.folder)]
        for path in gone:
            path.unlink(missing_ok=True)
        return [path.relative_to(self.folder).as_posix() for path in gone]

    def untold(self, text: str) -> str:
        """`text` without where on this machine the folder is."""
        return text.replace(f"{self.folder}{os.sep}", "").replace(str(self.folder), "the uploads")

    def _store(self, recipe: Recipe, wanted: Sequence[tuple[PurePosixPath, IO[bytes]]], incoming: Path) -> None:
        incoming.mkdir()
        sent = {path for path, _ in wanted}
        for number, (path, file) in enumerate(wanted):
            below = any(above in sent or (self.folder / above).is_file() for above in path.parents)
            if below or (self.folder / path).is_dir():
                raise DataError(f"{path} would stand in the place of a folder, or below a file; nothing was stored")
            with (incoming / str(number)).open("xb") as new:
                shutil.copyfileobj(file, new, 1 << 20)
        (incoming / RECIPE).write_text(recipe.model_dump_json(), encoding="utf-8")
        (incoming / RECIPE).replace(self.folder / RECIPE)
        for number, (path, _) in enumerate(wanted):
            target = self.folder / path
            target.parent.mkdir(parents=True, exist_ok=True)
            (incoming / str(number)).replace(target)


def upload_name(name: str) -> PurePosixPath:
    """The relative path that a file was sent under; `\\` parts folders as `/` does.

    Raises UsageError for one that is empty, absolute, too long, leads upwards, or holds what not every system allows.
    """
    text = unicodedata.normalize("NFC", name).replace("\\", "/")
    parts = text.split("/")
    checks: tuple[tuple[bool, str], ...] = (
        (not text.strip(), "is empty"),
        (text.startswith("/") or bool(_DRIVE.match(text)), "is absolute"),
        (any(part in ("", ".", "..") for part in parts), "leads elsewhere"),
        (any(unicodedata.category(one) in ("Cc", "Cs") for one in text), "holds control characters"),
        (any(_RESERVED.fullmatch(part) or part[-1:] in (".", " ") for part in parts), "is reserved on some systems"),
        (any(len(part.encode("utf-8", "replace")) > LONGEST_PART for part in parts), "is too long"),
        (len(text.encode("utf-8", "replace")) > LONGEST_NAME, "is too long"),
    )
    for wrong, why in checks:
        if wrong:
            raise UsageError(f"the file name {name[:100]!r} {why}; send a relative path such as guides/install.md")
    return PurePosixPath(text)


def _hidden(path: PurePosixPath) -> bool:
    return any(part.startswith(".") for part in path.parts) or path.name.startswith("~$")


def _parts_of_one(documents: Sequence[str], name: str) -> bool:
    """Whether documents are the parts of one long text, which are named so."""
    return all(id.startswith(f"{name}:") and id.removeprefix(f"{name}:").isdecimal() for id in documents)
