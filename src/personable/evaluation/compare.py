"""Runs side by side: metrics with intervals, paired tests against a baseline, and what an answer costs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from personable.errors import UsageError
from personable.evaluation import statistics
from personable.evaluation.measure import Metric, available, unavailable
from personable.evaluation.outcome import Record
from personable.evaluation.runfile import RunFile
from personable.evaluation.statistics import Interval, Tally
from personable.evaluation.style import bleu2
from personable.types import Tokens


class Paired(NamedTuple):
    """A system against the baseline over the `n` questions that both have; `p` is two-sided, by `test`."""

    difference: Interval
    tally: Tally
    p: float
    test: str


class Cost(NamedTuple):
    """Sums over a run. `steps` is the longest critical path of a question; `right` None where accuracy is unknown."""

    calls: int
    steps: int
    tokens: Tokens
    seconds: float
    right: int | None

    @property
    def paid(self) -> int:
        """Tokens that had to be read or written: uncached prompt and completion."""
        return self.tokens.prompt - self.tokens.cached + self.tokens.completion

    def per_right(self, amount: float) -> float | None:
        """`amount` for each right answer, None without one."""
        return amount / self.right if self.right else None


@dataclass(frozen=True)
class Result:
    """One run: `name` is unique in its group, `figures` and `paired` are by metric name."""

    name: str
    run: RunFile
    records: tuple[Record, ...]
    figures: dict[str, Interval]
    paired: dict[str, Paired]
    cost: Cost
    bleu: float | None

    @property
    def failed(self) -> list[Record]:
        return [record for record in self.records if record.failed]

    @property
    def missing(self) -> int:
        """Questions not asked yet: the run is not at its end."""
        return self.run.identity.questions - len(self.records)


@dataclass(frozen=True)
class Group:
    """Runs over the same questions. `notes` says in words what could not be computed, and why."""

    dataset: str
    baseline: str | None
    metrics: tuple[Metric, ...]
    results: tuple[Result, ...]
    notes: tuple[str, ...]


def compare(runs: Sequence[RunFile], baseline: str | None = None) -> list[Group]:
    """Runs grouped by their questions, each measured and tested against `baseline` (a system's name).

    Without a choice the baseline is `vanilla_rag` where there is one, else the first run. Raises UsageError when no
    run is of the chosen baseline, DataError for a NaN or infinite score.
    """
    groups: dict[tuple[str, str], list[RunFile]] = {}
    for run in runs:
        if run.records:
            groups.setdefault((run.identity.dataset, run.identity.digest), []).append(run)
    if not groups:
        raise UsageError("the runs hold no answers yet: let `personable eval` get further")
    names = {run.identity.system for members in groups.values() for run in members}
    if baseline is not None and baseline not in names:
        raise UsageError(f"no run of baseline {baseline!r}; there are {', '.join(sorted(names))}")
    return [_group(dataset, members, baseline) for (dataset, _), members in sorted(groups.items(), key=_key)]


def _key(group: tuple[tuple[str, str], list[RunFile]]) -> tuple[str, str]:
    return group[0]


def _group(dataset: str, runs: list[RunFile], wanted: str | None) -> Group:
    everything = [record for run in runs for record in run.records.values()]
    metrics = available(everything)
    base = _baseline(runs, wanted)
    scored = [_Scored(name, run, metrics) for name, run in zip(_names(runs), runs, strict=True)]
    against = next((one for one in scored if one.run is base), None)
    notes = unavailable(everything)
    if against is None:
        notes.append(f"No run of baseline {wanted!r} over these questions: no paired tests.")
    return Group(
        dataset=dataset,
        baseline=against.name if against else None,
        metrics=tuple(metrics),
        results=tuple(one.result(against) for one in scored),
        notes=tuple(notes),
    )


def _baseline(runs: list[RunFile], wanted: str | None) -> RunFile | None:
    name = wanted or "vanilla_rag"
    found = next((run for run in runs if run.identity.system == name), None)
    return found or (None if wanted else runs[0])


def _names(runs: list[RunFile]) -> list[str]:
    ways: list[Callable[[RunFile], str]] = [
        lambda run: run.identity.system,
        lambda run: f"{run.identity.system} ({run.identity.model})",
        lambda run: f"{run.identity.system} ({run.identity.model}, {run.folder})",
    ]
    return next(found for way in ways if len(set(found := [way(run) for run in runs])) == len(runs))


class _Scored:
    """A run with every metric of every question: `values[metric][question id]`, None where it is not defined."""

    def __init__(self, name: str, run: RunFile, metrics: Sequence[Metric]) -> None:
        self.name, self.run, self.metrics = name, run, metrics
        self.records = tuple(record for _, record in sorted(run.records.items()))
        self.values = {
            metric.name: dict(zip(run.records, metric.scores(list(run.records.values())), strict=True))
            for metric in metrics
        }

    def result(self, base: _Scored | None) -> Result:
        other = base is not None and base is not self
        return Result(
            name=self.name,
            run=self.run,
            records=self.records,
            figures=self._figures(),
            paired=self._tests(base) if base is not None and other else {},
            cost=self._cost(),
            bleu=self._bleu(base) if base is not None and other else None,
        )

    def _figures(self) -> dict[str, Interval]:
        known = {name: [v for v in column.values() if v is not None] for name, column in self.values.items()}
        return {name: statistics.bootstrap(values) for name, values in known.items() if values}

    def _tests(self, base: _Scored) -> dict[str, Paired]:
        found = {}
        for metric in self.metrics:
            pairs = _pairs(self.values[metric.name], base.values[metric.name])
            if pairs:
                found[metric.name] = _test(metric, *map(list, zip(*pairs, strict=True)))
        return found

    def _cost(self) -> Cost:
        outcomes = [record.outcome for record in self.records]
        accuracy = self.values.get("accuracy")
        return Cost(
            calls=sum(outcome.calls for outcome in outcomes),
            steps=max(outcome.steps for outcome in outcomes),
            tokens=sum((outcome.tokens for outcome in outcomes), Tokens()),
            seconds=sum(outcome.seconds or 0.0 for outcome in outcomes),
            right=None if accuracy is None else sum(value == 1.0 for value in accuracy.values()),
        )

    def _bleu(self, base: _Scored) -> float | None:
        common = sorted(self.run.records.keys() & base.run.records.keys())
        ours = [self.run.records[id].outcome.answer for id in common]
        theirs = [base.run.records[id].outcome.answer for id in common]
        return bleu2(ours, theirs) if common else None


def _pairs(ours: dict[str, float | None], theirs: dict[str, float | None]) -> list[tuple[float, float]]:
    both = ((value, theirs.get(id)) for id, value in sorted(ours.items()))
    return [(mine, other) for mine, other in both if mine is not None and other is not None]


def _test(metric: Metric, ours: list[float], theirs: list[float]) -> Paired:
    if metric.binary:
        p, test = statistics.mcnemar([v == 1.0 for v in ours], [v == 1.0 for v in theirs]), "McNemar"
    else:
        p, test = statistics.randomisation(ours, theirs), "randomisation"
    return Paired(statistics.paired_bootstrap(ours, theirs), statistics.count(ours, theirs), p, test)
