"""A catalogue in memory, and the ten lists that rank its items for what a person did."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from personable.embed import Vectors
from personable.retrieval.terms import Floats, Rows, Terms
from personable.retrieval.visits import Visits
from personable.types import Item

LISTS = (
    "session words",
    "session meaning",
    "history words",
    "history meaning",
    "session co-visits",
    "history co-visits",
    "bought together",
    "next",
    "popular",
    "new",
)
SESSION_FADE, HISTORY_FADE = 0.8, 0.95
"""What each step back leaves of a deed's weight, in the session and in the long-term history."""


class Deeds(NamedTuple):
    """Items that a person turned to: `rows` of the catalogue and their `weights`, oldest first."""

    rows: Rows
    weights: Floats

    @classmethod
    def of(cls, rows: Sequence[int], fade: float, worth: Sequence[float] | None = None) -> Deeds:
        """Deeds that count less the longer ago they are; `worth` (default: 1 each) is scaled to at most 1."""
        value = np.ones(len(rows)) if worth is None else np.asarray(worth, dtype=np.float64)
        top = value.max(initial=0.0) or 1.0
        return cls(np.array(rows, dtype=np.int64), value / top * fade ** np.arange(len(rows))[::-1])


@dataclass(frozen=True)
class Context:
    """The two contexts of ARAG (arXiv 2506.21931, §2): long-term `history` and current `session`, kept apart."""

    history: Deeds
    session: Deeds

    @classmethod
    def of(cls, history: Sequence[int], session: Sequence[int]) -> Context:
        """The context of rows that all count the same but for their age."""
        return cls(Deeds.of(history, HISTORY_FADE), Deeds.of(session, SESSION_FADE))


@dataclass(frozen=True)
class Shelf:
    """Items as numbers: words, unit vectors of shape (items, dim) (None: no embedder) and co-visitation."""

    terms: Terms
    vectors: Vectors | None
    visits: Visits
    _popular: Floats = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_popular", np.log1p(self.visits.popular))

    def __len__(self) -> int:
        return len(self._popular)

    def lists(self, context: Context) -> Floats:
        """The score of every item in each of `LISTS`, shape (items, 10).

        Counts and words are square roots, since a few of them are very large; cosines are as they are; popularity is
        ln(1 + persons); "new" is 1 for an item that nobody has turned to yet.
        """
        history, session, visits = context.history, context.session, self.visits
        meaning = self.meaning(session, history)
        columns = [
            np.sqrt(self.terms.near(*session)),
            meaning[:, 0],
            np.sqrt(self.terms.near(*history)),
            meaning[:, 1],
            np.sqrt(visits.people.near(*session)),
            np.sqrt(visits.people.near(*history)),
            np.sqrt(visits.together.near(*session)),
            np.sqrt(visits.next.near(*session)),
            self._popular,
            (visits.popular == 0).astype(np.float64),
        ]
        return np.stack(columns, axis=1)

    def meaning(self, *several: Deeds) -> Floats:
        """The cosines of every item with the weighted mean of each of some deeds, shape (items, len(several)).

        0 without deeds or vectors. Asked at once, since reading all vectors is what takes the time.
        """
        if self.vectors is None:
            return np.zeros((len(self), len(several)))
        means = np.stack([deeds.weights.astype(np.float32) @ self.vectors[deeds.rows] for deeds in several])
        means /= np.maximum(np.linalg.norm(means, axis=1, keepdims=True), 1e-12)
        return np.asarray(self.vectors @ means.T, dtype=np.float64)


def item_terms(items: Sequence[Item], language: str) -> Terms:
    """The words of a catalogue's items; their descriptions hold brand, category and attributes already."""
    return Terms([f"{item.title}\n{item.description}" for item in items], language)
