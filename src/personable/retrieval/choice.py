"""The weights of the lists, fitted to what people chose next: a conditional logit (McFadden 1974)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
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


DEPTH = 5
"""Places of a ranking that count in a trial."""


class Trial(Value):
    """What fitted weights are worth where they were not fitted: the mean nDCG@5 of `n` choices among all items that the
    person never had, each half of them ranked by weights fitted to the other half, and by `UNFITTED`."""

    n: int
    fitted: float
    unfitted: float

    @property
    def won(self) -> bool:
        """Whether the fit is better."""
        return self.fitted > self.unfitted


class Fusion(Value):
    """How much each of `LISTS` counts, in its own scale; `choices` is how many choices it was fitted to (0: none), and
    `trial` how a fit did, also one that lost and was not kept."""

    weights: dict[str, float]
    choices: int = 0
    trial: Trial | None = None

    @model_validator(mode="after")
    def _complete(self) -> Self:
        if self.weights.keys() != set(LISTS):
            raise ValueError(f"weights are of these lists: {', '.join(LISTS)}")
        return self

    def scores(self, lists: Floats) -> Floats:
        """The fused score of each row of `lists`, shape (rows,)."""
        return np.asarray(lists @ np.array([self.weights[name] for name in LISTS]))

    @property
    def verdict(self) -> str:
        """What was fitted, and how it did, in words."""
        made = f"fitted to {self.choices} choices" if self.choices else "unfitted weights are kept"
        if self.trial is None:
            return made
        fitted, unfitted = f"{self.trial.fitted:.3f}", f"{self.trial.unfitted:.3f}"
        return f"{made}: on {self.trial.n} choices that it had not seen a fit has nDCG@5 {fitted}, unfitted {unfitted}"

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
    """The fusion for a catalogue: fitted to the last first choice of each person where that proves better (`Trial`),
    else `UNFITTED`. Raises DataError for fewer than `FEWEST` choices.

    Co-visitation is counted without what was held out, so that no list knows the choice.
    """
    held = [hold_out(sessions) for sessions in everybody]
    choices = [one for one in held if one]
    if len(choices) < FEWEST:
        some = f"{len(choices)} people have a choice to learn from, something new after something else"
        raise DataError(f"{some}; weights need {FEWEST}")
    before = [one.before if one else sessions for one, sessions in zip(held, everybody, strict=True)]
    shelf = Shelf(terms, vectors, Visits.count(terms.count, before))
    random = np.random.default_rng(seed)
    seen = np.stack([_seen(shelf, one, random) for one in choices])
    trial = _tried(shelf, choices, seen, random.permutation(len(choices)) % 2)
    return (_fitted(seen) if trial.won else UNFITTED).model_copy(update={"trial": trial})


def _tried(shelf: Shelf, choices: Sequence[HeldOut], seen: Floats, half: NDArray[np.int64]) -> Trial:
    """The trial of the choices, each of which is in one `half`, 0 or 1."""
    other = _fitted(seen[half == 1]), _fitted(seen[half == 0])
    gains = []
    for one, its in zip(choices, half, strict=True):
        lists, rivals = shelf.lists(Context.of(one.history, one.session)), _free(shelf, one)
        gains.append([_gain(fusion.scores(lists), one.chosen, rivals) for fusion in (other[its], UNFITTED)])
    fitted, unfitted = np.mean(gains, axis=0).tolist()
    return Trial(n=len(choices), fitted=fitted, unfitted=unfitted)


def _gain(scores: Floats, chosen: int, rivals: NDArray[np.bool_]) -> float:
    """nDCG@5 of the chosen row among `rivals`; of those that score the same half come before it."""
    place = 1 + (scores[rivals] > scores[chosen]).sum() + (scores[rivals] == scores[chosen]).sum() / 2
    return float(1 / np.log2(1 + place)) if place <= DEPTH else 0.0


def _free(shelf: Shelf, one: HeldOut) -> NDArray[np.bool_]:
    """Which rows the person never had, shape (items,)."""
    free = np.ones(len(shelf), dtype=bool)
    free[[*one.history, *one.session, one.chosen]] = False
    return free


def _seen(shelf: Shelf, one: HeldOut, random: np.random.Generator) -> Floats:
    """The lists of the chosen item and its rivals, the chosen one first, shape (1 + RIVALS, 10)."""
    free = np.flatnonzero(_free(shelf, one))
    rivals = random.choice(free if len(free) else np.flatnonzero(np.arange(len(shelf)) != one.chosen), RIVALS)
    return shelf.lists(Context.of(one.history, one.session))[[one.chosen, *rivals.tolist()]]


def _fitted(seen: Floats) -> Fusion:
    """The fusion that makes the first of each group most likely; `seen` has the shape (choices, 1 + RIVALS, 10)."""
    scale = seen.reshape(-1, len(LISTS)).std(axis=0)
    moving = scale > 1e-9
    weights = np.zeros(len(LISTS))
    weights[moving] = _logit(seen[:, :, moving] / scale[moving]) / scale[moving]
    return Fusion(weights=dict(zip(LISTS, weights.tolist(), strict=True)), choices=len(seen))


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
