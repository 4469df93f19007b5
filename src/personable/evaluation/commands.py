"""What `personable eval` and `personable report` do, as functions that return values; the command line only prints."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import TypeVar

from pydantic import JsonValue

from personable.errors import UsageError
from personable.evaluation.compare import compare
from personable.evaluation.datasets import OPENQA, Part, Row, digest, read_beir, read_openqa, select
from personable.evaluation.logs import Cell
from personable.evaluation.outcome import System
from personable.evaluation.report import Written, write_report
from personable.evaluation.run import Progress, Summary, run
from personable.evaluation.runfile import Identity, RunFile, runs_under
from personable.types import Value

K = TypeVar("K")


class Questions(Value):
    """Which questions to ask: a data set's first `limit` rows of a part, each with its first `topk` passages.

    Of a BEIR folder, called `label` in reports, they are the queries judged in `split`; passages are then searched for.
    """

    dataset: str
    topk: int = 3
    part: Part = "all"
    limit: int | None = None
    label: str = ""
    split: str = "test"

    @property
    def title(self) -> str:
        """As reports call it, such as "nq top-3, even rows, first 20"."""
        name = f"{self.label} {self.split}" if self.dataset == "beir" else f"{self.dataset} top-{self.topk}"
        part = "" if self.part == "all" else f", {self.part} rows"
        return name + part + ("" if self.limit is None else f", first {self.limit}")

    @property
    def folder(self) -> str:
        """The title as the name of a folder, such as "nq-top3-even-first20"."""
        parts = [self.label, self.split] if self.dataset == "beir" else [self.dataset, f"top{self.topk}"]
        parts += [] if self.part == "all" else [self.part]
        parts += [] if self.limit is None else [f"first{self.limit}"]
        return "-".join(parts)

    def read(self, folder: Path) -> list[Row]:
        """The rows. Raises UsageError for an unknown data set, and what reading and selecting raise."""
        if self.dataset == "beir":
            return select(read_beir(folder, self.split).rows, self.part, self.limit)
        if self.dataset not in OPENQA:
            raise UsageError(f"no data set {self.dataset!r}; there are {', '.join(OPENQA)}, beir and openqa-logs")
        return select(read_openqa(folder, self.dataset, self.topk), self.part, self.limit)


async def evaluate(
    questions: Questions,
    systems: Mapping[str, System[K]],
    kit: K,
    *,
    data: Path,
    out: Path,
    model: str,
    settings: Mapping[str, JsonValue],
    workers: int = 1,
    retry_failed: bool = False,
    progress: Callable[[str, Progress], None] | None = None,
) -> dict[str, Summary]:
    """Run each system over the questions, each into `out/<data set>-top<k>[-part][-limit]/<system>`; resumes runs.

    `model` and `settings` are what makes figures comparable: a run is not gone on with under others. `progress` gets
    the system's name with each step. Raises what `Questions.read`, `RunFile.open` and `run` raise.
    """
    rows = questions.read(data)
    folder = out / questions.folder
    summaries = {}
    for name, system in systems.items():
        identity = Identity(
            system=name,
            dataset=questions.title,
            questions=len(rows),
            digest=digest(rows),
            model=model,
            settings=dict(settings),
            version=version("personable"),
        )
        file = RunFile.open(folder / name, identity)
        tell = None if progress is None else _named(progress, name)
        summaries[name] = await run(system, kit, rows, file, workers=workers, retry_failed=retry_failed, progress=tell)
    return summaries


def choose(names: Sequence[str], systems: Mapping[str, System[K]]) -> dict[str, System[K]]:
    """The named systems, in their order. Raises UsageError that lists what there is."""
    unknown = [name for name in names if name not in systems]
    if unknown or not names:
        what = f"no system {unknown[0]!r}" if unknown else "name a system"
        raise UsageError(f"{what}; there are {', '.join(systems)}")
    return {name: systems[name] for name in names}


def cells_json(cells: Sequence[Cell]) -> dict[str, list[dict[str, JsonValue]]]:
    """What `personable eval openqa-logs --json` prints; accuracy in per cent."""
    return {"cells": [cell.model_dump(mode="json", exclude={"published"}) for cell in cells]}


def report(folders: Sequence[Path], out: Path, baseline: str | None = None) -> Written:
    """Compare the runs under `folders`, write the report into `out`. Raises what `runs_under` and `compare` raise."""
    return write_report(compare(runs_under(folders), baseline), out)


def _named(progress: Callable[[str, Progress], None], name: str) -> Callable[[Progress], None]:
    return lambda step: progress(name, step)
