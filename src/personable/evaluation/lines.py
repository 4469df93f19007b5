"""JSON lines and tables of data sets: every fault names its file and line."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from personable.errors import DataError, NotFoundError

M = TypeVar("M", bound=BaseModel)


def find(folder: Path, name: str, how: str) -> Path:
    """The file `name` (or `name.gz`) in `folder`. Raises NotFoundError that says `how` to get it."""
    for candidate in (folder / name, folder / f"{name}.gz"):
        if candidate.is_file():
            return candidate
    raise NotFoundError(f"no {name} in {folder}. {how}")


def text_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Non-empty lines with their numbers (from 1), out of a plain or gzipped UTF-8 file."""
    opener = gzip.open if path.suffix == ".gz" else open
    number = 0
    try:
        with opener(path, "rt", encoding="utf-8") as lines:
            for number, line in enumerate(lines, 1):
                if line.strip():
                    yield number, line
    except (UnicodeDecodeError, EOFError, gzip.BadGzipFile) as error:
        raise DataError(f"{path}: cannot be read after line {number}: {error}") from error


def read_lines(path: Path, model: type[M]) -> Iterator[tuple[int, M]]:
    """One `model` a line, with line numbers. Raises DataError that names file, line and field."""
    for number, line in text_lines(path):
        try:
            yield number, model.model_validate(json.loads(line))
        except json.JSONDecodeError as error:
            raise DataError(f"{path}:{number}: not a JSON object: {error.msg}") from error
        except ValidationError as error:
            first = error.errors()[0]
            field = ".".join(str(part) for part in first["loc"]) or "the line"
            raise DataError(f"{path}:{number}: {field}: {first['msg']}") from error


def whole_lines(path: Path) -> list[dict[str, Any]]:
    """The objects that a run wrote into `path` so far, none without it, after `heal`."""
    heal(path)
    try:
        return [json.loads(line) for _, line in text_lines(path)] if path.is_file() else []
    except json.JSONDecodeError as error:
        raise DataError(f"{path} is damaged: {error}; remove the broken line to go on") from error


def heal(path: Path) -> None:
    """Cut off a line that a killed run left unfinished, so that what is appended next stands on a line of its own."""
    if not path.is_file():
        return
    content = path.read_bytes()
    whole = content.rfind(b"\n") + 1
    if whole < len(content):
        with path.open("r+b") as file:
            file.truncate(whole)


def refuse_duplicate(seen: dict[str, int], key: str, path: Path, number: int) -> None:
    """Note that `key` stands on line `number`. Raises DataError when an earlier line had it."""
    if key in seen:
        raise DataError(f"{path}:{number}: id {key!r} stands on line {seen[key]} already; ids must be unique")
    seen[key] = number
