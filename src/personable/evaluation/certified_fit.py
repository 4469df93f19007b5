"""The weights of the evidence for certified documents, chosen for each question by all the others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product

import numpy as np

from personable.pipelines.certified_finding import ranked
from personable.retrieval.cards import Weights
from personable.retrieval.terms import Floats
from personable.types import Hit

Candidates = Mapping[str, Sequence[Hit]]
"""Each question's candidates with their evidence."""
TRIED: dict[str, tuple[float, ...]] = {
    "title words": (1.0,),
    "title meaning": (0.5, 1.0, 1.5),
    "named": (0.5, 1.0, 1.5),
    "name": (0.0, 0.3),
    "kind": (0.0, 0.1, 0.2),
    "text words": (0.0, 0.3, 0.6),
}
"""The weights that are tried, 162 combinations; the first is the unit."""
TRIED_HYDOC = (0.0, 0.5, 1.0)


def combinations(hydoc: bool) -> list[Weights]:
    """Every combination of weights, with a HyDoc or without."""
    tried = TRIED | ({"hydoc": TRIED_HYDOC} if hydoc else {})
    return [Weights(values=dict(zip(tried, some, strict=True))) for some in product(*tried.values())]


def gains(candidates: Candidates, qrels: Mapping[str, Mapping[str, int]], some: Sequence[Weights]) -> Floats:
    """What each question (rows) gains under each of some weights (columns): the mean of nDCG@10, P@3 and R@50, which
    are the three measures that are reported."""
    table = np.zeros((len(candidates), len(some)))
    for row, (question, hits) in enumerate(candidates.items()):
        judged = qrels[question]
        names = sorted(hits[0].features) if hits else []
        seen = np.array([[hit.features[name] for name in names] for hit in hits]).reshape(len(hits), len(names))
        grades = np.array([max(judged.get(hit.passage.document, 0), 0) for hit in hits], dtype=np.float64)
        ideal = np.sort([max(value, 0) for value in judged.values()])[::-1]
        for column, weights in enumerate(some):
            scores = seen @ np.array([weights.values.get(name, 0.0) for name in names])
            table[row, column] = np.mean(measured(grades[np.argsort(-scores, kind="stable")], ideal))
    return table


def measured(grades: Floats, ideal: Floats) -> tuple[float, float, float]:
    """nDCG@10, P@3 and R@50 of a ranking's `grades`, where `ideal` are all judged grades, the highest first."""
    discount = 1 / np.log2(np.arange(2, 12))
    best = float(ideal[:10] @ discount[: len(ideal[:10])])
    ndcg = float(grades[:10] @ discount[: len(grades[:10])]) / best
    return ndcg, float((grades[:3] > 0).sum()) / 3, float((grades[:50] > 0).sum()) / float((ideal > 0).sum())


def fit(candidates: Candidates, qrels: Mapping[str, Mapping[str, int]], hydoc: bool) -> Weights:
    """The weights that all questions together choose: what may be shipped, never what is reported."""
    some = combinations(hydoc)
    return _chosen(some, gains(candidates, qrels, some).mean(axis=0))


def left_out(
    candidates: Candidates, qrels: Mapping[str, Mapping[str, int]], hydoc: bool = False
) -> dict[str, dict[str, float]]:
    """A run in which each question is ranked with the weights that all the others choose."""
    some = combinations(hydoc)
    table = gains(candidates, qrels, some)
    others = table.sum(axis=0)[None, :] - table
    return {
        question: as_run(ranked(hits, _chosen(some, others[row])))
        for row, (question, hits) in enumerate(candidates.items())
    }


def _chosen(some: Sequence[Weights], gained: Floats) -> Weights:
    """The mean of the best tenth: the very best of many combinations is the luckiest, too."""
    best = np.argsort(-gained, kind="stable")[: max(1, len(some) // 10)]
    return Weights(
        values={name: round(float(np.mean([some[int(at)].values[name] for at in best])), 3) for name in some[0].values}
    )


def as_run(hits: Sequence[Hit], depth: int = 100) -> dict[str, float]:
    """The first documents of a ranking, with scores that keep its order."""
    return {hit.passage.document: float(depth - place) for place, hit in enumerate(hits[:depth])}
