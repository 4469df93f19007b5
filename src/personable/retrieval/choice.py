"""The weights of the lists, fitted to what people chose next: a conditional logit (McFadden 1974)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Self

import numpy as np
from pydantic import model_validator

from personable.embed import Vectors
from personable.errors import DataError
from personable.retrieval.shelf import LISTS, Context, Shelf
from personable.retrieval.terms import Floats, Terms
from personable.retrieval.visits import Sessions, Visits
from personable.types import Value

RIVALS = 199
"""Items that a choice is compared with, drawn among those that the person never had."""
RIDGE = 1.0
FEWEST = 30
"""Choices below which nothing is fitted: ten weights would follow chance."""
RECENT = 3
"""Deeds that count as the session of a person whose deeds have no sessions."""


class Fusion(Value):
    """How much each of `LISTS` counts, in its own scale; `choices` is how many choices it was fitted to."""

    weights: dict[str, float]
    choices: int = 0

    @model_validator(mode="after")
    def _complete(self) -> Self:
        if self.weights.keys() != set(LISTS):
            raise ValueError(f"weights are of these lists: {', '.join(LISTS)}")
        return self

    def scores(self, lists: Floats) -> Floats:
        """The fused score of each row of `lists`, shape (rows,)."""
        return np.asarray(lists @ np.array([self.weights[name] for name in LISTS]))

    def at_least(self, other: Fusion) -> Fusion:
        """The same, but no list counts less than in `other`."""
        weights = {name: max(value, other.weights[name]) for name, value in self.weights.items()}
        return self.model_copy(update={"weights": weights})


UNFITTED = Fusion(
    weights={
        "session words": 2.5,
        "session meaning": 1.2,
        "history words": 1.1,
        "history meaning": 0.0,
        "session co-visits": 1.8,
        "history co-visits": 2.9,
        "bought together": 2.6,
        "next": 4.7,
        "popular": 0.1,
        "new": 0.0,
    }
)
"""For catalogues without enough choices: between the weights fitted on the training parts of an office shop and of a
gift shop (docs/benchmarks.md), nothing against an item for being new."""


class HeldOut(NamedTuple):
    """A choice to learn from: what was done before it, and the row that was chosen."""

    before: list[list[int]]
    history: list[int]
    session: list[int]
    chosen: int


def hold_out(sessions: Sessions) -> HeldOut | None:
    """The person's last first choice: the first new item of the last session, after at least one item of it; the last
    item of all where there is one session only. None where that leaves nothing."""
    if len(sessions) == 1 and sessions[0]:
        *rest, chosen = sessions[0]
        history, session = rest[:-RECENT], rest[-RECENT:]
        return HeldOut([rest], history, session, chosen) if session and chosen not in rest else None
    earlier, last = [list(one) for one in sessions[:-1]], list(sessions[-1]) if sessions else []
    had = {row for one in earlier for row in one}
    place = next((place for place, row in enumerate(last) if place and row not in had and row not in last[:place]), 0)
    if not place:
        return None
    history = list(dict.fromkeys(row for one in earlier for row in one))
    return HeldOut([*earlier, last[:place]], history, last[:place], last[place])


def fit(terms: Terms, vectors: Vectors | None, everybody: Sequence[Sessions], seed: int = 0) -> Fusion:
    """The fusion for a catalogue, fitted on the last first choice of each person. Raises DataError for too few.

    Co-visitation is counted without what was held out, so that no list knows the choice.
    """
    held = [hold_out(sessions) for sessions in everybody]
    before = [one.before if one else sessions for one, sessions in zip(held, everybody, strict=True)]
    shelf = Shelf(terms, vectors, Visits.count(terms.count, before))
    return learn(shelf, [one for one in held if one], seed)


def learn(shelf: Shelf, choices: Sequence[HeldOut], seed: int = 0) -> Fusion:
    """The fusion that makes `choices` most likely against `RIVALS` random items each.

    `shelf` must not have counted the chosen items. Raises DataError for fewer than `FEWEST` choices.
    """
    if len(choices) < FEWEST:
        raise DataError(
            f"{len(choices)} people have a choice to learn from; weights need {FEWEST}: record more purchases or clicks"
        )
    random = np.random.default_rng(seed)
    seen = np.stack([_seen(shelf, one, random) for one in choices])
    scale = seen.reshape(-1, len(LISTS)).std(axis=0)
    moving = scale > 1e-9
    weights = np.zeros(len(LISTS))
    weights[moving] = _logit(seen[:, :, moving] / scale[moving]) / scale[moving]
    return Fusion(weights=dict(zip(LISTS, weights.tolist(), strict=True)), choices=len(choices))


def _seen(shelf: Shelf, one: HeldOut, random: np.random.Generator) -> Floats:
    """The lists of the chosen item and its rivals, the chosen one first, shape (1 + RIVALS, 10)."""
    had = np.zeros(len(shelf), dtype=bool)
    had[[*one.history, *one.session, one.chosen]] = True
    free = np.flatnonzero(~had) if not had.all() else np.flatnonzero(np.arange(len(shelf)) != one.chosen)
    rivals = random.choice(free, RIVALS)
    return shelf.lists(Context.of(one.history, one.session))[[one.chosen, *rivals.tolist()]]


def _logit(seen: Floats) -> Floats:
    """Newton's method, with steps halved until they help, for the weights under which the first of each group is most
    likely chosen; the loss is convex, so there is one end."""
    lists = seen.shape[2]
    weights = np.zeros(lists)
    loss, chance = _loss(seen, weights)
    for _ in range(50):
        mean = np.einsum("gi,gil->gl", chance, seen)
        slope = (seen[:, 0] - mean).sum(axis=0) - RIDGE * weights
        spread = (seen * np.sqrt(chance)[:, :, None]).reshape(-1, lists)
        step = np.linalg.solve(spread.T @ spread - mean.T @ mean + RIDGE * np.eye(lists), slope)
        while np.abs(step).max() > 1e-6:
            new, chance = _loss(seen, weights + step)
            if new < loss:
                break
            step /= 2
        else:
            return weights
        weights, loss = weights + step, new
    return weights


def _loss(seen: Floats, weights: Floats) -> tuple[float, Floats]:
    """The negative logarithm of the likelihood, with the ridge, and each item's chance within its group."""
    fused = seen @ weights
    fused -= fused.max(axis=1, keepdims=True)
    chance = np.exp(fused)
    total = chance.sum(axis=1)
    loss = float((np.log(total) - fused[:, 0]).sum() + RIDGE * weights @ weights / 2)
    return loss, chance / total[:, None]
