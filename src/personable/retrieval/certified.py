"""Certified collections: what their manifest says, and their emergency texts.

A manifest is a TOML file beside the documents that somebody approved:

    name = "Kidney leaflets"
    approver = "Dr Example, County Health Service"
    [[emergency]]
    phrases = ["chest pain"]
    text = "Call the emergency number now."
    [[documents]]
    path = "leaflets"            # a folder of .md and .txt files, one such file, or a .jsonl file of cards
    version = "2026-1"
    approved = 2026-01-15
"""

from __future__ import annotations

import hashlib
import tomllib
from datetime import date
from pathlib import Path
from typing import Annotated, Self

from pydantic import Field, ValidationError, model_validator

from personable.errors import DataError, NotFoundError
from personable.retrieval.alarm import Heard
from personable.types import Value

STORED = "certified.json"
ORIGINALS = "originals"


class Emergency(Value):
    """An approved `text` that comes before everything else where a question holds one of the `phrases`."""

    phrases: tuple[Annotated[str, Field(pattern=r"[^\W_]")], ...] = Field(min_length=1)
    text: str = Field(pattern=r"\S")


class Approved(Value):
    """Documents that were approved together. `path` is relative to the manifest; `sha256` (hex, of the file as it
    lies there) refuses any other file. Records of cards may name their own `source`, `url` and `version`."""

    path: str = Field(min_length=1)
    version: str = Field(min_length=1)
    approved: date
    approver: str = ""
    source: str = ""
    url: str = ""
    expires: date | None = None
    sha256: str = ""


class CertifiedManifest(Value):
    """What is certified, by whom. A medical collection names at least one emergency text; `embedder` is a setting's
    value for this collection ("": the settings' own)."""

    name: str = Field(min_length=1)
    approver: str = Field(min_length=1)
    language: str = Field("en", pattern=r"^[a-z]{2}$")
    medical: bool = True
    embedder: str = ""
    emergency: tuple[Emergency, ...] = ()
    documents: tuple[Approved, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _ready_for_emergencies(self) -> Self:
        if self.medical and not self.emergency:
            raise ValueError(
                "a medical collection needs an approved emergency text: add [[emergency]] with phrases and text "
                "(or medical = false, where nobody could ask in an emergency)"
            )
        return self

    def alarm(self, question: str) -> str:
        """The approved texts of all emergencies of which the question holds a phrase, each once, a blank line between
        them; "" where it holds none. Missing one is held to be worse than a false alarm (`retrieval.alarm`)."""
        heard = Heard(question, self.language)
        return "\n\n".join(dict.fromkeys(one.text for one in self.emergency if any(map(heard.holds, one.phrases))))


class _Stored(Value):
    manifest: CertifiedManifest
    sha256: str


def read_approval(path: Path) -> CertifiedManifest:
    """The manifest in `path`. Raises NotFoundError without the file, DataError that says what is wrong with it."""
    if not path.is_file():
        raise NotFoundError(
            f"no manifest {path}: a certified collection is made from a .toml file that names its documents"
        )
    try:
        return CertifiedManifest.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise DataError(f"{path} is not valid TOML: {error}") from error
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise DataError(
            f"{path}{f', {place}' if place else ''}: {first['msg'].removeprefix('Value error, ')}"
        ) from error


def store_approval(folder: Path, manifest: CertifiedManifest) -> None:
    """Keep the manifest with its collection."""
    stored = _Stored(manifest=manifest, sha256=_digest(manifest))
    new = folder / f"{STORED}.new"
    new.write_text(stored.model_dump_json(indent=2), encoding="utf-8")
    new.replace(folder / STORED)


def is_certified(folder: Path) -> bool:
    """Whether the collection in `folder` is certified, also where the manifest kept with it was removed."""
    return (folder / STORED).is_file() or (folder / ORIGINALS).is_dir()


def stored_approval(folder: Path) -> CertifiedManifest:
    """The manifest of the certified collection in `folder`.

    Raises DataError for a collection that is not certified, and for a manifest that was altered since.
    """
    path = folder / STORED
    if is_certified(folder) and not path.is_file():
        raise DataError(f"{path} is missing; index the certified collection again from its manifest")
    if not path.is_file():
        raise DataError(
            f"the collection at {folder} is not certified: personable index MANIFEST.toml --certified --into NAME "
            "makes one that is"
        )
    try:
        stored = _Stored.model_validate_json(path.read_bytes())
    except ValidationError as error:
        raise DataError(f"{path} is damaged; index the certified collection again") from error
    if _digest(stored.manifest) != stored.sha256:
        raise DataError(f"{path} was altered since the collection was certified; index it again from its manifest")
    return stored.manifest


def _digest(manifest: CertifiedManifest) -> str:
    return hashlib.sha256(manifest.model_dump_json().encode()).hexdigest()
