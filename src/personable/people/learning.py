"""How a person's weights learn from one choice: preference pairs, corrected for position, a bounded step."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence

from personable.people.weights import FEATURES, PRIOR, REACH, Candidate, Weights, added, scaled

Pair = tuple[int, int, float]
"""Places of the preferred and of the other passage in what was shown, and what the preference weighs."""

RATE = 0.05
STEP = 0.15
"""The farthest that one choice can move a weight."""
FADE = 0.01
"""The part of the way back to the prior that each choice makes a weight go."""
STEEPNESS = 4.0
"""How surely a difference of 1 between two scores foretells the choice: its logistic has this slope."""
LONGEST_ODDS = 5.0
"""A choice far down weighs at most this many times one at the top (propensity clipping, as in the 2017 paper, §5)."""
NAMES = 40
"""Sources and types of which affinities are kept: those with the most choices."""


def propensity(place: int) -> float:
    """How likely a passage at a place (from 1) of a list was looked at: 1 / place (Joachims et al. 2017, §7, η = 1)."""
    return max(1.0 / place, 1.0 / LONGEST_ODDS)


def clicked(place: int, shown: int, taken: Collection[int] = ()) -> list[Pair]:
    """What a click at `place` (from 0) of `shown` passages says; `taken` are places that had been clicked before.

    It is preferred to each other one shown, the choice weighing 1 / propensity (Joachims, Swaminathan & Schnabel 2017).
    """
    others = [other for other in range(shown) if other != place and other not in taken]
    weight = 1.0 / propensity(place + 1)
    return [(place, other, weight / len(others)) for other in others]


def judged(place: int, others: Sequence[int], worth: float) -> list[Pair]:
    """What an explicit judgement says: above 0 the passage is preferred to the others, below 0 they to it."""
    weight = abs(worth) / max(len(others), 1)
    return [(place, other, weight) if worth > 0 else (other, place, weight) for other in others] if worth else []


def learnt(weights: Weights, candidates: Sequence[Candidate], pairs: Sequence[Pair]) -> Weights:
    """The weights after a choice: `pairs` hold places in `candidates`, which are the whole list in its plain order.

    Pairwise logistic regression (RankNet's loss; Burges et al. 2005, §3) of the preference on the difference of scores,
    one stochastic step, weights bounded and drawn back to the prior. First the choice tests what was learnt before.
    """
    if not pairs:
        return weights
    plain, rows = scaled(candidates)
    full = [one + added(row, weights) for one, row in zip(plain, rows, strict=True)]
    slope = [0.0] * len(FEATURES)
    for better, worse, weight in pairs:
        miss = weight / (1.0 + math.exp(STEEPNESS * (full[better] - full[worse])))
        for index in range(len(FEATURES)):
            slope[index] += RATE * miss * (rows[better][index] - rows[worse][index])
    values = {}
    for name, change in zip(FEATURES, slope, strict=True):
        prior, step = PRIOR[name], min(max(change, -STEP), STEP)
        value = prior + (1 - FADE) * (weights.of(name) - prior) + step
        values[name] = min(max(value, prior - REACH), prior + REACH)
    won, lost = _counted(weights, candidates, pairs)
    gain = tested(plain, full, pairs)
    return Weights(values=values, won=won, lost=lost, gain=weights.gain + gain, spread=weights.spread + gain * gain)


def tested(plain: Sequence[float], full: Sequence[float], pairs: Sequence[Pair]) -> float:
    """By how much more weight of the pairs the learnt scores get right than the plain ones; negative where less."""
    return sum(
        weight * ((full[better] > full[worse]) - (plain[better] > plain[worse])) for better, worse, weight in pairs
    )


def _counted(
    weights: Weights, candidates: Sequence[Candidate], pairs: Sequence[Pair]
) -> tuple[dict[str, float], dict[str, float]]:
    won, lost = dict(weights.won), dict(weights.lost)
    for better, worse, weight in pairs:
        for kind in ("source:", "type:"):
            ours, theirs = _named(candidates[better], kind), _named(candidates[worse], kind)
            if ours != theirs:
                for name, counts in ((ours, won), (theirs, lost)):
                    if name:
                        counts[name] = counts.get(name, 0.0) + weight
    total = {name: won.get(name, 0.0) + lost.get(name, 0.0) for name in {**won, **lost}}
    kept = set(sorted(total, key=lambda name: (-total[name], name))[:NAMES])
    return {n: v for n, v in won.items() if n in kept}, {n: v for n, v in lost.items() if n in kept}


def _named(candidate: Mapping[str, float], kind: str) -> str:
    return next((name for name in candidate if name.startswith(kind)), "")
