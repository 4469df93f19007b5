"""The published experiments scored again: GPT-3.5's recorded outputs of each method, beside the paper's figures."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

from personable.errors import DataError
from personable.evaluation.datasets import OPENQA, Logged, read_logs, read_openqa
from personable.evaluation.metrics import contains
from personable.evaluation.published import ACCURACY, METHODS, MODEL, SCORED
from personable.types import Value

ROUNDING = 0.02
"""A difference of this many points or less is rounding (the paper cuts where it should round)."""


class Cell(Value):
    """One figure of table 2. `accuracy` and `published` in per cent, `n` the questions it rests on."""

    dataset: str
    topk: int
    method: str
    n: int
    accuracy: float
    published: float

    @property
    def differs(self) -> bool:
        """The recorded outputs do not give the published figure."""
        return abs(self.accuracy - self.published) > ROUNDING


def score_logs(folder: Path) -> list[Cell]:
    """The 42 cells of PersonaRAG's table 2 (GPT-3.5), scored by containment (section 4.3) from the recorded outputs.

    `folder` holds the logs and the gold answers (nq, triviaqa, webq). Raises NotFoundError without a file, DataError
    where a record has no gold answer or a cell no records.
    """
    golds = {row.id: row.answers for name in OPENQA for row in read_openqa(folder, name)}
    groups: dict[tuple[str, int, str], list[Logged]] = defaultdict(list)
    for logged in read_logs(folder):
        if logged.model == MODEL and logged.method in METHODS:
            groups[logged.dataset, logged.topk, logged.method].append(logged)
    return [
        _cell(dataset, topk, method, published, groups[dataset, topk, method], golds)
        for (dataset, topk), figures in ACCURACY.items()
        for method, published in zip(METHODS, figures, strict=True)
    ]


def logs_report(cells: Sequence[Cell]) -> str:
    """A Markdown table of the cells beside the paper's figures; `≠` marks where they differ."""
    lines = [
        "| data set | top | method | n | recorded | paper | |",
        "|---|---:|---|---:|---:|---:|---|",
    ]
    for cell in cells:
        mark = f"≠ {cell.accuracy - cell.published:+.2f}" if cell.differs else ""
        head = f"| {cell.dataset} | {cell.topk} | {cell.method} | {cell.n} "
        lines.append(f"{head}| {cell.accuracy:.2f} | {cell.published:.2f} | {mark} |")
    wrong = [cell for cell in cells if cell.differs]
    lines += [
        "",
        f"{len(wrong)} of {len(cells)} figures differ from the paper's by more than {ROUNDING} points.",
    ]
    return "\n".join(lines) + "\n"


def _cell(
    dataset: str,
    topk: int,
    method: str,
    published: float,
    logged: Sequence[Logged],
    golds: Mapping[str, Sequence[str]],
) -> Cell:
    scored = sorted(logged, key=lambda record: record.index)[: SCORED[dataset, topk]]
    if not scored:
        raise DataError(f"no recorded outputs of {method} for {dataset} top-{topk} ({MODEL})")
    right = 0
    for record in scored:
        if not golds.get(record.id):
            raise DataError(f"recorded output {record.id!r} has no gold answer in {dataset}.jsonl: accuracy needs one")
        right += contains(record.response or "", golds[record.id])
    accuracy = 100 * right / len(scored)
    return Cell(dataset=dataset, topk=topk, method=method, n=len(scored), accuracy=accuracy, published=published)
