"""The metrics that a report shows: what each needs to be known, and how it scores the records of a run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from personable.evaluation import metrics, style
from personable.evaluation.outcome import Record
from personable.evaluation.ranking import MEASURES, rank_scores

Scores = Callable[[Sequence[Record]], Sequence[float | None]]
Needs = Literal["nothing", "answers", "relevant"]


@dataclass(frozen=True)
class Metric:
    """`scores` gives one value a record, None where it is not defined (never for a wrong or empty answer).

    `percent` metrics lie between 0 and 1; `binary` ones are 0 or 1, so that McNemar's test applies.
    """

    name: str
    label: str
    needs: Needs
    scores: Scores
    percent: bool = True
    binary: bool = False
    quality: bool = True


def available(records: Sequence[Record]) -> list[Metric]:
    """The metrics that can be computed for every one of `records`."""
    return [metric for metric in ALL if _known(metric.needs, records) and _fits(metric, records)]


def unavailable(records: Sequence[Record]) -> list[str]:
    """In words: which metrics cannot be computed, and what is missing."""
    found = []
    for needs, missing in (("answers", "gold answers"), ("relevant", "relevance judgements")):
        without = sum(not getattr(record, needs) for record in records)
        labels = ", ".join(metric.label for metric in ALL if metric.needs == needs)
        if without and (needs == "answers" or without < len(records)):
            whole = "The data set has no" if without == len(records) else f"{without} records have no"
            found.append(f"{whole} {missing}, so these cannot be computed: {labels}.")
    return found


def _known(needs: Needs, records: Sequence[Record]) -> bool:
    return needs == "nothing" or all(bool(getattr(record, needs)) for record in records)


def _fits(metric: Metric, records: Sequence[Record]) -> bool:
    at = metric.name.removeprefix("passage@")
    return not at.isdecimal() or int(at) <= max(len(record.outcome.passages) for record in records)


def _answer(score: Callable[[str, Sequence[str]], float]) -> Scores:
    return lambda records: [float(score(record.outcome.answer, record.answers)) for record in records]


def _text(score: Callable[[str], float | None]) -> Scores:
    return lambda records: [score(record.outcome.answer) for record in records]


def _passages(k: int) -> Scores:
    def scores(records: Sequence[Record]) -> list[float | None]:
        if not any(record.outcome.passages for record in records):
            return [None] * len(records)  # a system that reads no passages
        texts = [[passage.text for passage in record.outcome.passages] for record in records]
        pairs = zip(texts, records, strict=True)
        return [float(metrics.passage_contains(found, record.answers, k)) for found, record in pairs]

    return scores


def _ranking(measure: str) -> Scores:
    def scores(records: Sequence[Record]) -> list[float]:
        qrels = {record.id: record.relevant for record in records}
        run = {record.id: record.outcome.scores for record in records}
        (values,) = rank_scores(qrels, run, [measure]).values()
        return [values[record.id] for record in records]

    return scores


ALL = (
    Metric("accuracy", "Accuracy", "answers", _answer(metrics.contains), binary=True),
    Metric("accuracy_words", "At word borders", "answers", _answer(metrics.contains_words), binary=True),
    Metric("em", "Exact match", "answers", _answer(metrics.exact_match), binary=True),
    Metric("f1", "Token F1", "answers", _answer(metrics.token_f1)),
    *(Metric(f"passage@{k}", f"Passage has answer@{k}", "answers", _passages(k), binary=True) for k in (1, 3, 5, 10)),
    *(Metric(name, name, "relevant", _ranking(name), binary=name.startswith("Success")) for name in MEASURES),
    Metric("words", "Words", "nothing", _text(metrics.length), percent=False, quality=False),
    Metric("sentence_length", "Words a sentence", "nothing", _text(style.sentence_length), False, False, False),
    Metric("syllables", "Syllables a word", "nothing", _text(style.syllables), False, False, False),
)
