"""Recorded answers of models: one JSON line a request, found by the digest of everything that was asked."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from difflib import SequenceMatcher
from pathlib import Path, PurePath
from typing import Any

from pydantic import BaseModel, Field, ValidationError

from personable.errors import DataError, ModelError
from personable.llm.base import Prompt
from personable.llm.settling import Raw
from personable.types import Scalar, Tokens, Value

Parameters = Mapping[str, Scalar]


class Request(Value):
    """Everything that a model's answer depends on, and nothing secret: keys and addresses are no part of it."""

    model: str
    system: str
    shared: str
    task: str
    output: str = ""
    max_tokens: int | None = None
    parameters: dict[str, Scalar] = Field(default_factory=dict)

    def key(self) -> str:
        """sha256 of the request as JSON with sorted names, in hexadecimal."""
        text = json.dumps(self.model_dump(), sort_keys=True, ensure_ascii=True, separators=(",", ":"))
        return hashlib.sha256(text.encode("ascii")).hexdigest()


class Record(Value):
    """A request and what came of it: a reply with its value as JSON and its pieces if streamed, or an output error and
    what it cost."""

    key: str
    request: Request
    reply: Raw | None = None
    value: dict[str, Any] | None = None
    pieces: list[str] | None = None
    error: str | None = None
    calls: int = 1
    tokens: Tokens = Tokens()
    cost: float | None = 0.0


def request(
    model: str, prompt: Prompt, output: type[BaseModel] | None, max_tokens: int | None, parameters: Parameters
) -> Request:
    """The request of one call. A model file counts by its name, so a recording can move to another folder."""
    kind, colon, rest = model.partition(":")
    name = f"{kind}:{PurePath(rest).name}" if kind == "llamacpp" and colon else model
    schema = json.dumps(output.model_json_schema(), sort_keys=True) if output else ""
    return Request(
        model=name,
        system=prompt.system,
        shared=prompt.shared,
        task=prompt.task,
        output=schema,
        max_tokens=max_tokens,
        parameters=dict(parameters),
    )


class Tape:
    """The records of one JSONL file. The first record of a request counts; a torn last line is dropped.

    Raises DataError for any other line that is no record, with file and line.
    """

    def __init__(self, path: Path, *, writable: bool) -> None:
        self.path = path
        self.records: dict[str, Record] = {}
        if not path.exists() and not writable:
            raise DataError(f"there is no recording at {path}; make one with RecordingModel")
        content = path.read_bytes() if path.exists() else b""
        whole = content[: content.rfind(b"\n") + 1]
        for number, line in enumerate(whole.splitlines(), start=1):
            try:
                record = Record.model_validate_json(line)
            except ValidationError as error:
                raise DataError(f"{path}, line {number}: not a recorded answer ({error.errors()[0]['msg']})") from error
            self.records.setdefault(record.key, record)
        if writable and len(whole) < len(content):
            os.truncate(path, len(whole))

    def add(self, record: Record) -> Record:
        """Keep `record` on disk, as one whole line, unless its request has one already; returns the one that counts."""
        if record.key not in self.records:
            line = record.model_dump_json().encode() + b"\n"
            self.path.parent.mkdir(parents=True, exist_ok=True)
            handle = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
            try:
                with os.fdopen(handle, "ab", buffering=0, closefd=False) as file:
                    file.write(line)
                os.fsync(handle)
            finally:
                os.close(handle)
            self.records[record.key] = record
        return self.records[record.key]

    def find(self, wanted: Request) -> Record:
        """The record of `wanted`. Raises ModelError that says what the nearest recorded request has otherwise."""
        key = wanted.key()
        if key not in self.records:
            raise ModelError(f"{self.path} holds no answer to request {key[:16]}…; {self._nearest(wanted)}")
        return self.records[key]

    def _nearest(self, wanted: Request) -> str:
        if not self.records:
            return "it is empty; record it first"
        parts = list(Request.model_fields)
        said = wanted.model_dump()

        def differing(record: Record) -> list[str]:
            other = record.request.model_dump()
            return [part for part in parts if other[part] != said[part]]

        def rank(record: Record) -> tuple[int, float]:
            near = SequenceMatcher(None, record.request.task[-500:], wanted.task[-500:]).quick_ratio()
            return len(differing(record)), -near

        nearest = min(self.records.values(), key=rank)
        found = [_difference(part, getattr(nearest.request, part), said[part]) for part in differing(nearest)]
        return f"the nearest one, {nearest.key[:16]}…, differs in {'; '.join(found)}. Record it again"


def _difference(part: str, recorded: Any, asked: Any) -> str:
    if not (isinstance(recorded, str) and isinstance(asked, str)) or max(len(recorded), len(asked)) < 80:
        return f"{part} ({recorded!r}, asked {asked!r})"
    same = (at for at, (left, right) in enumerate(zip(recorded, asked, strict=False)) if left != right)
    at = next(same, min(len(recorded), len(asked)))
    return f"{part} from character {at} ({recorded[at : at + 40]!r}, asked {asked[at : at + 40]!r})"
