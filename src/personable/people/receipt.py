"""The receipt of an erasure: what was removed, where it was looked for, and what was found left. It holds no text."""

from __future__ import annotations

import hashlib
import json
from typing import Literal

from pydantic import Field

from personable.people.checks import Instant
from personable.types import Value

MARK = "[erased]"
"""Stands in a path where it would name the person."""


class Place(Value):
    """A place that was searched: the home, a registered run, or the builder's documents, which are left as they are.

    `records` counts the recorded answers and lines of runs that were removed from its files.
    """

    path: str
    kind: Literal["home", "run", "documents"]
    files: int = 0
    bytes: int = 0
    records: int = 0


class Left(Value):
    """A file in which `texts` of the erased texts still stand."""

    file: str
    texts: int


class Receipt(Value):
    """Proof of an erasure, without any personal text: `subject` is the SHA-256 of the person's id.

    `removed` counts rows by table. Of the person's texts, `texts` were searched for, in every file of `places`;
    `common` are too short or too usual to tell anything when they are found. `shared` stand in other people's data too,
    where they stay. `left` are files that still hold some, `unread` files that could not be searched: both must be
    empty. `documents` hold texts of the builder's own collections that say the same. `digest` is the SHA-256 of all of
    this.
    """

    subject: str
    time: Instant
    removed: dict[str, int]
    places: list[Place]
    texts: int
    common: int
    shared: int = 0
    left: list[Left] = Field(default_factory=list)
    unread: list[str] = Field(default_factory=list)
    documents: list[Left] = Field(default_factory=list)
    digest: str = ""

    @property
    def clean(self) -> bool:
        """Whether nothing was found left, in files that could all be searched."""
        return not self.left and not self.unread

    def sealed(self) -> Receipt:
        """This receipt with its digest."""
        return self.model_copy(update={"digest": self._digest()})

    def genuine(self) -> bool:
        """Whether the digest is that of the rest."""
        return self.digest == self._digest()

    def _digest(self) -> str:
        fields = self.model_dump(mode="json", exclude={"digest"})
        return hashlib.sha256(json.dumps(fields, sort_keys=True).encode()).hexdigest()
