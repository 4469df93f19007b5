"""Recommendation data sets: what each person did before, and the item they turned to next.

A folder holds `items.jsonl`, `users.jsonl` and `instances.jsonl` (each may be gzipped); see `docs/benchmarks.md`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from pydantic import BaseModel, Field

from personable.errors import DataError, UsageError
from personable.evaluation.datasets import Filled
from personable.evaluation.lines import find, read_lines, refuse_duplicate
from personable.evaluation.ranking import rank_scores
from personable.retrieval.terms import Floats, Rows
from personable.types import Value

HOW = (
    "A recommendation data set is a folder of instances.jsonl {user, history[], session[], target, candidates[]}, "
    "users.jsonl {user, sequence[] or sessions[{ts, items[]}]} and items.jsonl {item, title, ...}; items are numbered "
    "from 0. Give the folder with --data."
)
NDCG, HIT = "nDCG@5", "Success@5"
DEPTH = 5


class Instance(Value):
    """One choice to foresee: `target` came after the long-term `history` and the `session`, both oldest first.

    `candidates` are the target and its sampled negatives. What came before `at` (seconds; None: no times) may be known.
    """

    user: str
    history: tuple[int, ...]
    session: tuple[int, ...]
    target: int
    candidates: tuple[int, ...]
    at: int | None = None
    split: str = "test"


@dataclass(frozen=True)
class RecSys:
    """A data set. `everybody` holds the sessions of each person that methods may learn from, oldest first: of those in
    `instances` only what came before the target, their current session as the last one where sessions are known.
    `contexts` are history and session together of every instance of the file, whatever its split; `evaluated` are all
    whom the file evaluates, whatever the split and the limit."""

    name: str
    items: Path
    count: int
    instances: tuple[Instance, ...]
    everybody: dict[str, list[list[int]]]
    sessions_known: bool
    contexts: tuple[tuple[int, ...], ...]
    evaluated: frozenset[str]

    @property
    def earlier(self) -> list[list[list[int]]]:
        """What weights are fitted on: `everybody` without the current sessions."""
        current = self.evaluated if self.sessions_known else frozenset()
        return [all[:-1] if user in current else all for user, all in self.everybody.items()]


class _Line(BaseModel):
    user: Filled
    history: tuple[int, ...]
    session: tuple[int, ...]
    target: int
    candidates: tuple[int, ...] = Field(min_length=2)
    ts: int | None = None
    split: str = "test"


class _Session(BaseModel):
    ts: int
    items: list[int]


class _User(BaseModel):
    user: Filled
    sequence: list[int] | None = None
    sessions: list[_Session] | None = None


class _Item(BaseModel):
    item: int


def read_recsys(folder: Path, split: str = "test", limit: int | None = None) -> RecSys:
    """The data set in `folder`; only instances of `split` are kept, the first `limit` of them.

    What methods may learn from ends before each person's target, in every split. Raises NotFoundError without the
    files, DataError for malformed lines, unknown items and targets that are no candidates, UsageError for no instance.
    """
    items = find(folder, "items.jsonl", HOW)
    count = _count_items(items)
    path = find(folder, "instances.jsonl", HOW)
    seen: dict[str, int] = {}
    instances = []
    for number, line in read_lines(path, _Line):
        refuse_duplicate(seen, line.user, path, number)
        one = Instance(**line.model_dump(exclude={"ts"}), at=line.ts)
        _check(one, count, f"{path}:{number}")
        instances.append(one)
    everybody, known = _everybody(find(folder, "users.jsonl", HOW), {one.user: one for one in instances}, count)
    chosen = [one for one in instances if one.split == split][:limit]
    if not chosen:
        raise UsageError(f"{path} holds no instance of split {split!r}")
    contexts = tuple((*one.history, *one.session) for one in instances)
    return RecSys(folder.resolve().name, items, count, tuple(chosen), everybody, known, contexts, frozenset(seen))


def _count_items(path: Path) -> int:
    count = 0
    for number, line in read_lines(path, _Item):
        if line.item != count:
            raise DataError(f"{path}:{number}: item {line.item} where {count} is expected; items are numbered from 0")
        count += 1
    return count


def _check(one: Instance, count: int, where: str) -> None:
    unknown = [row for row in (*one.history, *one.session, *one.candidates) if not 0 <= row < count]
    if unknown:
        raise DataError(f"{where}: no item {unknown[0]} in items.jsonl")
    if one.target not in one.candidates:
        raise DataError(f"{where}: the target {one.target} is not among the candidates")


def _everybody(path: Path, asked: Mapping[str, Instance], count: int) -> tuple[dict[str, list[list[int]]], bool]:
    everybody: dict[str, list[list[int]]] = {}
    known = False
    for number, line in read_lines(path, _User):
        known = known or line.sessions is not None
        one = asked.get(line.user)
        if line.sessions is None:
            done = [list(line.sequence or [])] if one is None else [[*one.history, *one.session]]
        elif one is None:
            done = [session.items for session in line.sessions]
        elif one.at is None:
            raise DataError(f"{path}:{number}: sessions have times, but the instance of {line.user!r} has none")
        else:
            done = [session.items for session in line.sessions if session.ts < one.at] + [list(one.session)]
        if any(not 0 <= row < count for session in done for row in session):
            raise DataError(f"{path}:{number}: an item that is not in items.jsonl")
        everybody[line.user] = done
    return everybody, known


Scorer = Callable[[Instance], Floats]
"""Scores of all items for one instance, shape (items,); higher is better."""


def measure(instances: Sequence[Instance], scorer: Scorer, count: int) -> dict[str, dict[str, list[float]]]:
    """`{protocol: {measure: value an instance}}` of nDCG@5 and Hit@5: over the candidates ("1+99"), and over all
    `count` items but those that the person had ("all"). Equal scores rank in the order of the candidates or items."""
    qrels = {one.user: {str(one.target): 1} for one in instances}
    runs: dict[str, dict[str, dict[str, float]]] = {"1+99": {}, "all": {}}
    for one in instances:
        scores = scorer(one)
        new = np.ones(count, dtype=bool)
        new[[*one.history, *one.session]] = False
        new[one.target] = True
        runs["1+99"][one.user] = _top(np.array(one.candidates), scores)
        runs["all"][one.user] = _top(np.flatnonzero(new), scores)
    measured = {name: rank_scores(qrels, run, (NDCG, HIT)) for name, run in runs.items()}
    return {
        protocol: {name: [values[one.user] for one in instances] for name, values in by_measure.items()}
        for protocol, by_measure in measured.items()
    }


def _top(rows: Rows, scores: Floats) -> dict[str, float]:
    best = rows[np.argsort(-scores[rows], kind="stable")[:DEPTH]]
    return {str(row): float(DEPTH - place) for place, row in enumerate(best.tolist())}
