"""Baselines of recommendation: each scores all items for what a person did."""

from __future__ import annotations

import numpy as np

from personable.evaluation.recsys import Instance, RecSys, Scorer
from personable.retrieval.shelf import Deeds, Shelf
from personable.retrieval.terms import Floats
from personable.retrieval.visits import Visits


def baselines(data: RecSys, shelf: Shelf) -> dict[str, Scorer]:
    """The baselines by name.

    `popularity`, `recency` (the last item's nearest by embedding) and `vanilla` (the nearest to the mean of history and
    session, as vanilla RAG in ARAG, arXiv 2506.21931, §4) are those of the paper; `tfidf-…` and `knn-…` are the
    strongest simple ones. `knn-session` counts persons, as item-kNN does; `knn-baskets` counts sessions. What
    counts persons counts the contexts of all instances: with people's whole deeds it does worse.
    """
    persons = Visits.count(data.count, [[list(context)] for context in data.contexts])

    def both(one: Instance) -> Deeds:
        return _deeds((*one.history, *one.session))

    return {
        "popularity": lambda one: persons.popular.astype(np.float64),
        "recency": lambda one: shelf.meaning(_deeds(one.session[-1:] or one.history[-1:]))[:, 0],
        "vanilla": lambda one: vanilla(shelf, one),
        "tfidf-session": lambda one: shelf.terms.near(*_deeds(one.session)),
        "tfidf-all": lambda one: shelf.terms.near(*both(one)),
        "knn-session": lambda one: persons.people.near(*_deeds(one.session)),
        "knn-all": lambda one: persons.people.near(*both(one)),
        "knn-baskets": lambda one: shelf.visits.together.near(*_deeds(one.session)),
    }


def vanilla(shelf: Shelf, one: Instance) -> Floats:
    """The cosine of every item with the mean of history and session, shape (items,)."""
    return shelf.meaning(_deeds((*one.history, *one.session)))[:, 0]


def _deeds(rows: tuple[int, ...]) -> Deeds:
    weights: Floats = np.ones(len(rows))
    return Deeds(np.array(rows, dtype=np.int64), weights)
