"""What a reader yields: documents, and problems with what could not become one."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import NamedTuple

from pydantic import Field

from personable.types import Scalar, Value


class ReadOptions(Value):
    """Which fields of CSV, TSV, JSON and JSONL records to use; None means a guess by the usual names."""

    text_field: str | None = None
    title_field: str | None = None
    id_field: str | None = None


class Document(Value):
    """A text with where it came from. `id` is stable: it depends on no machine and no date.

    `pages` holds the character offset at which each page of a paged format begins (empty otherwise). `start` is where
    `text` begins in the text of its file, in characters: above 0 for the later parts of a long one.
    """

    id: str = Field(min_length=1)
    text: str
    title: str = ""
    source: str = ""
    meta: dict[str, Scalar] = Field(default_factory=dict)
    pages: tuple[int, ...] = ()
    start: int = 0

    @property
    def digest(self) -> str:
        """sha256 (hex) of everything in this document that ends up in the collection."""
        return hashlib.sha256(self.model_dump_json().encode()).hexdigest()


@dataclass(frozen=True)
class Problem:
    """A part of a file that could not be read; the rest of the file was. `source` says which part."""

    source: str
    error: str


class Origin(NamedTuple):
    """Where documents come from: `name` becomes their id (or its beginning), `source` is shown in citations."""

    name: str
    source: str


def clean(text: str) -> str:
    """`text` without lone surrogates and NULs, which no store and no model accepts, and with plain line ends."""
    text = text.encode("utf-8", "replace").decode("utf-8")
    return text.replace("\0", "").replace("\r\n", "\n").replace("\r", "\n")
