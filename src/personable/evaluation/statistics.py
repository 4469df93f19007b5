"""How sure a figure is: bootstrap intervals and paired tests. Every random draw has a seed, so figures repeat."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from personable.errors import UsageError
from personable.evaluation.metrics import finite

SEED = 20240706
SAMPLES = 10_000
_BLOCK = 2_000_000


class Interval(NamedTuple):
    """A mean with the bounds of its 95 % interval, over `n` values."""

    mean: float
    low: float
    high: float
    n: int


class Tally(NamedTuple):
    """How often a system did better, the same and worse than the other, question by question."""

    wins: int
    ties: int
    losses: int


def bootstrap(values: Sequence[float], seed: int = SEED, samples: int = SAMPLES) -> Interval:
    """The mean of `values` with its 95 % percentile bootstrap interval (Efron & Tibshirani 1993, section 13.3).

    Raises UsageError without values, DataError for a NaN or infinite one.
    """
    data = _checked(values, "a score")
    means = _resampled_means(data, seed, samples)
    low, high = np.quantile(means, [0.025, 0.975])
    return Interval(float(data.mean()), float(low), float(high), len(data))


def mcnemar(ours: Sequence[bool], theirs: Sequence[bool]) -> float:
    """Two-sided exact McNemar test: the p-value of the discordant pairs under a fair coin (McNemar 1947).

    1.0 when both are right and wrong about the same questions. Raises UsageError unless the lists pair up.
    """
    from math import comb

    tally = count(ours, theirs)
    discordant, fewer = tally.wins + tally.losses, min(tally.wins, tally.losses)
    tail = sum(comb(discordant, k) for k in range(fewer + 1))
    return float(min(1.0, 2 * tail / 2**discordant))


def paired_bootstrap(
    ours: Sequence[float], theirs: Sequence[float], seed: int = SEED, samples: int = SAMPLES
) -> Interval:
    """The mean difference, ours less theirs, with its 95 % interval; questions are resampled as pairs.

    Koehn 2004, section 4. Raises UsageError unless the lists pair up, DataError for a NaN or infinite value.
    """
    return bootstrap(_differences(ours, theirs).tolist(), seed, samples)


def randomisation(ours: Sequence[float], theirs: Sequence[float], seed: int = SEED, samples: int = SAMPLES) -> float:
    """Two-sided paired randomisation test of the mean difference: the p-value when signs are flipped at random.

    Smucker, Allan & Carterette 2007. All `2**n` flips are counted when they are at most `samples`, else that many are
    drawn and p = (hits + 1) / (samples + 1). Raises UsageError unless the lists pair up.
    """
    differences = _differences(ours, theirs)
    moving = differences[differences != 0]
    if not len(moving):
        return 1.0
    exact = len(moving) < 63 and 2 ** len(moving) <= samples
    signs = _all_signs(len(moving)) if exact else _random_signs(len(moving), seed, samples)
    as_far = int(np.count_nonzero(np.abs(signs @ moving) >= abs(moving.sum()) - 1e-9))
    return as_far / len(signs) if exact else (as_far + 1) / (len(signs) + 1)


def count(ours: Sequence[float], theirs: Sequence[float]) -> Tally:
    """Wins, ties and losses of ours against theirs. Raises UsageError unless the lists pair up."""
    differences = _differences(ours, theirs)
    return Tally(int((differences > 0).sum()), int((differences == 0).sum()), int((differences < 0).sum()))


def _checked(values: Sequence[float], what: str) -> NDArray[np.float64]:
    if not len(values):
        raise UsageError("no values: there is nothing to compute a mean of")
    return np.array([finite(float(value), what) for value in values])


def _differences(ours: Sequence[float], theirs: Sequence[float]) -> NDArray[np.float64]:
    if len(ours) != len(theirs):
        raise UsageError(f"a paired test needs the same questions on both sides: got {len(ours)} and {len(theirs)}")
    return _checked(ours, "a score") - _checked(theirs, "a score of the baseline")


def _resampled_means(data: NDArray[np.float64], seed: int, samples: int) -> NDArray[np.float64]:
    random = np.random.default_rng(seed)
    block = max(1, _BLOCK // len(data))  # bounds memory for large data sets
    means = [
        data[random.integers(0, len(data), (min(block, samples - done), len(data)))].mean(axis=1)
        for done in range(0, samples, block)
    ]
    return np.concatenate(means)


def _all_signs(n: int) -> NDArray[np.float64]:
    bits = np.arange(2**n)[:, None] >> np.arange(n)[None, :]
    return np.asarray(1.0 - 2.0 * (bits & 1))


def _random_signs(n: int, seed: int, samples: int) -> NDArray[np.float64]:
    drawn = np.random.default_rng(seed).integers(0, 2, (samples, n), dtype=np.int8)
    return np.asarray(1.0 - 2.0 * drawn)
