"""The weights of the evidence for certified documents, chosen among a few, each question by all the others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product

import numpy as np
from numpy.typing import NDArray

from personable.pipelines.certified_finding import ranked
from personable.retrieval.cards import Weights
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


def gains(
    candidates: Candidates, qrels: Mapping[str, Mapping[str, int]], some: Sequence[Weights]
) -> NDArray[np.float64]:
    """nDCG@10 of each question (rows) under each of some weights (columns)."""
    discount = 1 / np.log2(np.arange(2, 12))
    table = np.zeros((len(candidates), len(some)))
    for row, (question, hits) in enumerate(candidates.items()):
        names = sorted(hits[0].features) if hits else []
        seen = np.array([[hit.features[name] for name in names] for hit in hits]).reshape(len(hits), len(names))
        grade = np.array([max(qrels[question].get(hit.passage.document, 0), 0) for hit in hits], dtype=np.float64)
        best = np.sort([max(value, 0) for value in qrels[question].values()])[::-1][:10]
        ideal = float(best @ discount[: len(best)])
        for column, weights in enumerate(some):
            scores = seen @ np.array([weights.values.get(name, 0.0) for name in names])
            top = grade[np.argsort(-scores, kind="stable")[:10]]
            table[row, column] = float(top @ discount[: len(top)]) / ideal
    return table


def fit(candidates: Candidates, qrels: Mapping[str, Mapping[str, int]], hydoc: bool) -> Weights:
    """The weights with the highest mean nDCG@10 over all questions: what may be shipped, never what is reported."""
    some = combinations(hydoc)
    return some[int(gains(candidates, qrels, some).mean(axis=0).argmax())]


def left_out(
    candidates: Candidates, qrels: Mapping[str, Mapping[str, int]], hydoc: bool = False
) -> dict[str, dict[str, float]]:
    """A run in which each question is ranked with the weights that are best for all the others."""
    some = combinations(hydoc)
    table = gains(candidates, qrels, some)
    others = table.sum(axis=0)[None, :] - table
    chosen = others.argmax(axis=1)
    return {
        question: as_run(ranked(hits, some[int(chosen[row])]))
        for row, (question, hits) in enumerate(candidates.items())
    }


def as_run(hits: Sequence[Hit], depth: int = 100) -> dict[str, float]:
    """The first documents of a ranking, with scores that keep its order."""
    return {hit.passage.document: float(depth - place) for place, hit in enumerate(hits[:depth])}
