"""What goes into an indexing run and what comes out: options, progress, report."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import Field

from personable.retrieval.document import ReadOptions
from personable.types import Value


class IndexOptions(ReadOptions):
    """How to read and cut; sizes in tokens (`personable.text.tokens`)."""

    passage_tokens: int = Field(256, ge=32, le=4096)
    overlap_tokens: int = Field(32, ge=0, le=1024)


class Failed(Value):
    """What could not be indexed: a file, or the part of it that `source` names."""

    source: str
    error: str


class Skipped(Value):
    """What was left out on purpose."""

    source: str
    reason: str


class IndexReport(Value):
    """What a run changed, in documents; `passages` is how many were written, `seconds` wall time."""

    added: int = 0
    replaced: int = 0
    unchanged: int = 0
    removed: int = 0
    passages: int = 0
    failed: list[Failed] = Field(default_factory=list)
    skipped: list[Skipped] = Field(default_factory=list)
    seconds: float = 0.0


@dataclass(frozen=True)
class Progress:
    """How far a run is: `done` of `total` bytes, the current file ("" at the end), passages written, seconds."""

    done: int
    total: int
    file: str
    passages: int
    seconds: float
