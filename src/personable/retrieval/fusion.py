"""Several rankings become one."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TypeVar

K = TypeVar("K", bound=Hashable)


def rrf(lists: Sequence[Sequence[K]], k: int = 60, weights: Sequence[float] | None = None) -> list[tuple[K, float]]:
    """Reciprocal rank fusion (Cormack et al. 2009, §2): a key scores the sum of weight / (k + rank), ranks from 1.

    Best first; equal scores in the order in which keys were first met. A key that a list repeats counts once there, at
    its best rank. `weights` are one a list, 1 each if not given; raises ValueError if their number differs.
    """
    scores: dict[K, float] = {}
    for keys, weight in zip(lists, weights if weights is not None else [1.0] * len(lists), strict=True):
        for rank, key in enumerate(dict.fromkeys(keys), 1):
            scores[key] = scores.get(key, 0.0) + weight / (k + rank)
    return sorted(scores.items(), key=lambda item: -item[1])
