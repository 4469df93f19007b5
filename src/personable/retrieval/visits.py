"""Which items the same people, the same sessions and the next steps hold: co-visitation, held in memory.

It is counted from what people did each time a catalogue is opened, and never stored: who is erased leaves it, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from personable.retrieval.terms import Floats, Rows

Sessions = Sequence[Sequence[int]]
"""What one person did: sessions, oldest first, each the rows of items in the order in which they came."""

LONGEST = 300
"""Items of one person or session that are paired, the latest: pairs grow with the square."""
REACH, FADE = 5, 0.7
"""How many steps "next" looks ahead, and what each further step leaves of the weight."""
RARE = 5.0
"""Steps that are added to the count of what followed an item, so that one step is no certainty."""


class Links:
    """Weighted arrows between items: ascending `key` = source · items + target, none twice, with their `weight`."""

    def __init__(self, items: int, key: Rows, weight: Floats) -> None:
        self._items = items
        self.source, self.target = np.divmod(key, max(items, 1))
        self.weight = weight
        self._start = np.searchsorted(self.source, np.arange(items + 1))

    def near(self, rows: Rows, weights: Floats) -> Floats:
        """For every item the sum of the arrows from `rows` to it, each times its weight, shape (items,)."""
        counts = self._start[rows + 1] - self._start[rows]
        first = np.repeat(self._start[rows] - np.cumsum(counts) + counts, counts)
        arrows = first + np.arange(counts.sum())
        strength = self.weight[arrows] * np.repeat(weights, counts)
        return np.asarray(np.bincount(self.target[arrows], strength, self._items), dtype=np.float64)


@dataclass(frozen=True)
class Visits:
    """Co-visitation of a catalogue. `people` and `together` are cosines of the binary columns of persons and sessions
    (Sarwar et al. 2001, §3.1.1), `next` estimates which item follows, `popular` counts persons an item."""

    people: Links
    together: Links
    next: Links
    popular: NDArray[np.int64]

    @classmethod
    def count(cls, items: int, everybody: Sequence[Sessions]) -> Visits:
        """Count what `everybody` did with the `items` rows of a catalogue."""
        persons = [[row for session in sessions for row in session] for sessions in everybody]
        sessions = [session for sessions in everybody for session in sessions]
        popular = np.bincount(_flat([_distinct(one) for one in persons]), minlength=items)
        return cls(_cosine(items, persons), _cosine(items, sessions), _following(items, sessions), popular)


def _distinct(rows: Sequence[int]) -> Rows:
    return np.unique(np.array(rows[-LONGEST:], dtype=np.int64))


def _flat(parts: Sequence[Rows]) -> Rows:
    return np.concatenate(parts) if parts else np.zeros(0, dtype=np.int64)


def _cosine(items: int, groups: Sequence[Sequence[int]]) -> Links:
    sets = [_distinct(group) for group in groups]
    length = np.sqrt(np.maximum(np.bincount(_flat(sets), minlength=items), 1))
    key, count = np.unique(_flat([_pairs(one, items) for one in sets]), return_counts=True)
    low, high = np.divmod(key, max(items, 1))
    weight = count / (length[low] * length[high])
    both = np.concatenate([key, high * items + low])
    order = np.argsort(both)
    return Links(items, both[order], np.concatenate([weight, weight])[order])


def _pairs(rows: Rows, items: int) -> Rows:
    """The keys of all pairs of ascending `rows`, the lower one first."""
    low, high = np.triu_indices(len(rows), 1)
    return rows[low] * items + rows[high]


def _following(items: int, sessions: Sequence[Sequence[int]]) -> Links:
    rows = [np.array(session, dtype=np.int64) for session in sessions]
    steps = range(1, REACH + 1)
    source = _flat([one[:-step] for step in steps for one in rows])
    target = _flat([one[step:] for step in steps for one in rows])
    weight = np.concatenate([np.full(sum(max(len(one) - s, 0) for one in rows), FADE ** (s - 1)) for s in steps])
    apart = source != target
    key, place = np.unique(source[apart] * items + target[apart], return_inverse=True)
    summed = np.bincount(place, weights=weight[apart], minlength=len(key))
    source = key // max(items, 1)
    total = np.bincount(source, weights=summed, minlength=items)
    return Links(items, key, summed / np.maximum(total[source], RARE))
