"""A run on disk: `run.json` says what is measured, `results.jsonl` holds one record a question.

Records are appended as they come. A torn last line (a killed process) is cut off and asked again. A finished file is
sorted by question id and replaced in one step.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from pydantic import JsonValue, ValidationError

from personable.errors import ConfigurationError, DataError, NotFoundError
from personable.evaluation.lines import heal
from personable.evaluation.outcome import Record
from personable.types import Value

_VOLATILE = frozenset({"id", "timestamp", "seconds"})


class Identity(Value):
    """What makes two runs the same run: all of it must agree before one is gone on with.

    `dataset` is how reports call the questions ("nq top-3, even rows"), `questions` how many there are, `digest` the
    sha256 of all that is in them.
    """

    system: str
    dataset: str
    questions: int
    digest: str
    model: str
    settings: dict[str, JsonValue]
    version: str


class RunFile:
    """One run's folder. `records` is what is there already, by question id; of two records the later one counts."""

    def __init__(self, folder: Path, identity: Identity, records: dict[str, Record]) -> None:
        self.folder = folder
        self.identity = identity
        self.records = records

    @property
    def results(self) -> Path:
        return self.folder / "results.jsonl"

    @classmethod
    def open(cls, folder: Path, identity: Identity) -> RunFile:
        """Start a run in `folder`, or go on with the one that is there.

        Raises ConfigurationError when that one measured something else, DataError when its files are damaged beyond a
        torn last line.
        """
        if (folder / "run.json").is_file():
            _refuse_other(folder, read_identity(folder), identity)
        elif (folder / "results.jsonl").exists():
            raise DataError(f"{folder} has results and no run.json that says of what: choose another folder")
        else:
            folder.mkdir(parents=True, exist_ok=True)
            _replace(folder / "run.json", identity.model_dump_json(indent=2) + "\n")
        heal(folder / "results.jsonl")
        return cls(folder, identity, read_records(folder))

    @classmethod
    def read(cls, folder: Path) -> RunFile:
        """A run as it stands, without changing it. Raises NotFoundError and DataError."""
        return cls(folder, read_identity(folder), read_records(folder))

    def append(self, record: Record) -> None:
        """Add a record; it survives the process from here on."""
        with self.results.open("ab") as file:
            file.write(_line(record).encode())
        self.records[record.id] = record

    def finish(self) -> None:
        """Write the final file: one record a question, sorted by id, in one step."""
        self.records = read_records(self.folder)
        _replace(self.results, "".join(_line(self.records[id]) for id in sorted(self.records)))


def read_identity(folder: Path) -> Identity:
    """What the run in `folder` measures. Raises NotFoundError without a run, DataError when `run.json` is damaged."""
    path = folder / "run.json"
    if not path.is_file():
        raise NotFoundError(f"no run in {folder}: run.json is missing; `personable eval` makes runs")
    try:
        return Identity.model_validate_json(path.read_bytes())
    except ValidationError as error:
        raise DataError(f"{path} is damaged: {error.errors()[0]['msg']}") from error


def read_records(folder: Path) -> dict[str, Record]:
    """Records by question id; a torn last line is left out. Raises DataError that names file and line."""
    path = folder / "results.jsonl"
    if not path.is_file():
        return {}
    records: dict[str, Record] = {}
    lines = path.read_bytes().split(b"\n")[:-1]
    for number, line in enumerate(lines, 1):
        try:
            record = Record.model_validate_json(line)
        except ValidationError as error:
            first = error.errors()[0]
            field = ".".join(str(part) for part in first["loc"]) or "the line"
            raise DataError(f"{path}:{number}: {field}: {first['msg']}") from error
        records[record.id] = record
    return records


def comparable(folder: Path) -> list[dict[str, Any]]:
    """The records without what differs between two runs of the same thing: run ids, times, the order of posts."""
    found = []
    for _, record in sorted(read_records(folder).items()):
        data = record.model_dump(mode="json")
        data["outcome"].pop("seconds")
        data["outcome"]["board"] = _timeless(data["outcome"]["board"])
        found.append(data)
    return found


def _timeless(board: JsonValue) -> JsonValue:
    if isinstance(board, dict):
        return {key: _timeless(value) for key, value in board.items() if key not in _VOLATILE}
    if isinstance(board, list):
        items = [_timeless(item) for item in board]
        posts = bool(items) and all(isinstance(item, dict) and "role" in item for item in items)
        return sorted(items, key=lambda item: json.dumps(item, sort_keys=True)) if posts else items
    return board


def _refuse_other(folder: Path, there: Identity, wanted: Identity) -> None:
    old, new = _flat(there), _flat(wanted)
    differing = [
        f"{name}: {old.get(name)!r} there, {new.get(name)!r} now"
        for name in sorted(old.keys() | new.keys())
        if old.get(name) != new.get(name)
    ]
    if differing:
        raise ConfigurationError(
            f"the run in {folder} measures something else ({'; '.join(differing)}): "
            "choose another folder, or remove this one to start afresh"
        )


def _flat(identity: Identity) -> Mapping[str, JsonValue]:
    fields = identity.model_dump(mode="json")
    settings = fields.pop("settings")
    return fields | {f"settings.{name}": value for name, value in settings.items()}


def _line(record: Record) -> str:
    return record.model_dump_json() + "\n"


def _replace(path: Path, text: str) -> None:
    fresh = path.with_name(f".{path.name}.new")
    with fresh.open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    fresh.replace(path)


def runs_under(folders: Iterable[Path]) -> list[RunFile]:
    """Every run in `folders` and below, in the order of their paths. Raises NotFoundError when a folder has none."""
    found: dict[Path, RunFile] = {}
    for folder in folders:
        homes = sorted(path.parent for path in folder.rglob("run.json"))
        if not homes:
            raise NotFoundError(f"no runs under {folder}: `personable eval … --out {folder}` makes them")
        found.update({home.resolve(): RunFile.read(home) for home in homes})
    return list(found.values())
