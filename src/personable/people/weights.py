"""Ranking weights of one person: how much each kind of evidence counts for them, what of it is proved, and in words.

A candidate is a line of named evidence: `sparse` and `dense` (raw scores), `session` (cosine), `freshness` (a year),
`source:NAME` and `type:NAME` (the person's affinity, -1 to 1), and `list:NAME`, what each list that was fused gave it.
The sum over lists is the plain fused score. Weights only add to it what differs from what is in there already, so
weights as usual leave the plain order exactly as it was.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from pydantic import Field

from personable.people.portrait import HALF_LIFE_DAYS
from personable.types import Value

Candidate = Mapping[str, float]

FEATURES = ("sparse", "dense", "statements", "session", "source", "type", "freshness")
USUAL = {name: float(name in ("sparse", "dense", "statements")) for name in FEATURES}
"""What the plain fused list counts: words, meaning and statements once, the others not at all."""
PRIOR = USUAL | {"source": 0.3, "type": 0.3}
"""Where everybody starts. Affinities are 0 until something was chosen, so the order is still the plain one."""

REACH = 1.0
"""How far a weight can go from where it started."""
SHARE = 0.5
"""All weights together add or take at most this part of the distance between the plain list's first and last."""
KEPT = 3
"""The plain list's first never falls below this place, whatever was learnt."""
TOLD = 0.05
"""A change of weight that is worth a sentence."""
PLAIN = "list:plain"
_SPREAD = ("sparse", "dense", "session", "freshness")
DOUBT = 10.0
"""The weight of choices that a source must win before its affinity is half of the share that it won."""
SCEPTICISM = 4.0
"""Squared gains that were never seen: a few lucky choices prove little."""


class Weights(Value):
    """What was learnt of one person: a weight for each feature that differs from PRIOR, and the proof.

    `won` and `lost` count, for a `source:NAME` or `type:NAME`, in how many choices it was preferred or passed over
    (weighted, faded). `gain` sums by how much the learnt order would have put what was chosen higher than the plain
    order (in reciprocal log ranks, before the weights saw that choice), `spread` the squares of the same.
    """

    values: dict[str, float] = Field(default_factory=dict)
    won: dict[str, float] = Field(default_factory=dict)
    lost: dict[str, float] = Field(default_factory=dict)
    gain: float = 0.0
    spread: float = 0.0

    def of(self, feature: str) -> float:
        """The weight of a feature."""
        return self.values.get(feature, PRIOR[feature])

    @property
    def proof(self) -> float:
        """How far the weights act: 0 where they did no better than the plain order, 1 where that is beyond doubt.

        Progressive validation (Blum, Kalai & Langford 1999): each choice tests the weights before they learn from it.
        The sum of gains over the root of their squares is about standard normal for somebody whose choices the weights
        do not foretell (a self-normalised sum; de la Peña, Lai & Shao 2009, §1): up to 1 it is luck, from 2 on proof.
        """
        return min(max(self.gain / math.sqrt(self.spread + SCEPTICISM) - 1.0, 0.0), 1.0)

    def affinity(self, name: str) -> float:
        """For `source:NAME` or `type:NAME`: the smoothed share of choices it won beyond those it lost, -1 to 1."""
        won, lost = self.won.get(name, 0.0), self.lost.get(name, 0.0)
        return (won - lost) / (won + lost + DOUBT)

    def stored(self) -> dict[str, float]:
        """As plain numbers by name, for the store; `Weights.read` gives them back."""
        counts = {f"won {name}": n for name, n in self.won.items()} | {
            f"lost {name}": n for name, n in self.lost.items()
        }
        return {**self.values, **counts, "gain": self.gain, "spread": self.spread}

    @classmethod
    def read(cls, stored: Mapping[str, float], days: float = 0.0) -> Weights:
        """Weights from the store, faded by the days since they were set as events are in the portrait (half after
        HALF_LIFE_DAYS), proof and all. Names that are none of ours are left out."""
        left: float = 0.5 ** (max(days, 0.0) / HALF_LIFE_DAYS)
        known = {name: stored[name] for name in FEATURES if name in stored}
        return cls(
            values={name: left * value + (1 - left) * PRIOR[name] for name, value in known.items()},
            won={name.removeprefix("won "): left * n for name, n in stored.items() if name.startswith("won ")},
            lost={name.removeprefix("lost "): left * n for name, n in stored.items() if name.startswith("lost ")},
            gain=left * stored.get("gain", 0.0),
            spread=left * stored.get("spread", 0.0),
        )


def scaled(candidates: Sequence[Candidate]) -> tuple[list[float], list[list[float]]]:
    """The plain score of each candidate, 0 to 1, and its features in the order of FEATURES on a comparable scale.

    Plain score, `sparse`, `dense`, `session` and `freshness` go from 0 (the list's lowest, or not there) to 1 (its
    highest), by min-max scaling (Lee 1997) within this list. `statements` is what the person's lists added to the plain
    score, in its unit; affinities are -1 to 1 as they are.
    """
    raw = [_raw(one) for one in candidates]
    total = [one["plain"] for one in raw]
    low, span = min(total, default=0.0), max(total, default=0.0) - min(total, default=0.0) or 1.0
    columns = {name: _from_0_to_1([one.get(name) for one in raw]) for name in _SPREAD}
    columns["statements"] = [one.get("statements", 0.0) / span for one in raw]
    for name in ("source", "type"):
        columns[name] = [one.get(name, 0.0) for one in raw]
    rows = [list(row) for row in zip(*(columns[name] for name in FEATURES), strict=True)]
    return [(one - low) / span for one in total], rows


def added(features: Sequence[float], weights: Weights) -> float:
    """What the weights add to a candidate's plain score, in full, by its scaled features: at most SHARE either way."""
    pairs = zip(FEATURES, features, strict=True)
    return min(max(sum((weights.of(name) - USUAL[name]) * x for name, x in pairs), -SHARE), SHARE)


def scores(candidates: Sequence[Candidate], weights: Weights, strength: float) -> list[float]:
    """A score for each candidate: the plain one (0 to 1) and what the weights add, times `strength` and proof."""
    plain, rows = scaled(candidates)
    act = strength * weights.proof
    return [one + act * added(row, weights) if act else one for one, row in zip(plain, rows, strict=True)]


def order(candidates: Sequence[Candidate], weights: Weights, strength: float) -> list[int]:
    """Places of the candidates, best first. They are given in the plain order, which decides between equal scores.

    The first of the plain order keeps a place among the first `KEPT`.
    """
    values = scores(candidates, weights, strength)
    ranked = sorted(range(len(values)), key=lambda row: -values[row])
    if 0 in ranked[KEPT:]:
        ranked.remove(0)
        ranked.insert(KEPT - 1, 0)
    return ranked


def in_words(weights: Weights) -> list[str]:
    """The weights in sentences, what moves most first: what counts more or less than usual, and how far that acts."""
    act = weights.proof
    said = _said(weights, act or 1.0)
    if act == 0:
        return [
            "Results come in the usual order: nothing that was learnt has proved better yet.",
            *(f"Learnt, but not acting yet: {text}" for text in said),
        ]
    return [*said, f"What was learnt acts with {act:.0%} of its force, as far as it has proved better so far."]


def _said(weights: Weights, act: float) -> list[str]:
    said = []
    for name, words in _NAMES.items():
        if abs(change := act * (weights.of(name) - USUAL[name])) >= TOLD:
            said.append((abs(change), f"{words} {_times(change, USUAL[name])}."))
    for name in {**weights.won, **weights.lost}:
        kind, _, label = name.partition(":")
        if abs(change := act * weights.of(kind) * weights.affinity(name)) >= TOLD:
            way = "higher" if change > 0 else "lower"
            said.append((abs(change), f"{_THINGS[kind]} {label} come {way} than usual ({_chosen(weights, name)})."))
    return [text for _, text in sorted(said, key=lambda one: (-one[0], one[1]))]


_NAMES = {
    "sparse": "Passages with the words of the question",
    "dense": "Passages near the meaning of the question",
    "statements": "Passages near what you told about yourself",
    "session": "Passages near what this session is about",
    "freshness": "Newer passages",
}
_THINGS = {"source": "Passages from", "type": "Passages of the type"}


def _times(change: float, usual: float) -> str:
    if usual:
        return f"count {1 + change:.1f} times as much as usual"
    return f"come {'higher' if change > 0 else 'lower'} than usual (by {abs(change):.0%} of the list)"


def _chosen(weights: Weights, name: str) -> str:
    won, lost = weights.won.get(name, 0.0), weights.lost.get(name, 0.0)
    return f"preferred in {won / (won + lost):.0%} of your choices"


def _raw(candidate: Candidate) -> dict[str, float]:
    """The evidence by feature; `plain` is the sum over all lists, `statements` that over the statements' lists."""
    raw = {"plain": 0.0}
    for name, value in candidate.items():
        kind = name.partition(":")[0]
        if kind == "list":
            raw["plain"] += value
            kind = "" if name == PLAIN else "statements"
        if kind in USUAL:
            raw[kind] = raw.get(kind, 0.0) + value
    return raw


def _from_0_to_1(values: Sequence[float | None]) -> list[float]:
    there = [value for value in values if value is not None]
    low, high = min(there, default=0.0), max(there, default=0.0)
    return [(value - low) / (high - low) if value is not None and high > low else 0.0 for value in values]
