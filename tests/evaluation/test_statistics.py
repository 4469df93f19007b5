import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from personable.errors import DataError, UsageError
from personable.evaluation import statistics

values = st.lists(st.floats(0, 1), min_size=1, max_size=30)
pairs = st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=30)


def test_a_bootstrap_interval_is_near_the_binomial_one() -> None:
    found = statistics.bootstrap([1.0] * 30 + [0.0] * 70)
    half = 1.96 * math.sqrt(0.3 * 0.7 / 100)
    assert found.mean == pytest.approx(0.3)
    assert found.n == 100
    assert found.low == pytest.approx(0.3 - half, abs=0.015)
    assert found.high == pytest.approx(0.3 + half, abs=0.015)


def test_the_same_seed_gives_the_same_interval() -> None:
    data = [0.1, 0.5, 0.9, 0.2]
    assert statistics.bootstrap(data) == statistics.bootstrap(data)
    assert statistics.bootstrap(data, seed=1) != statistics.bootstrap(data, seed=2)


@settings(max_examples=25)
@given(values)
def test_an_interval_lies_within_the_values(data: list[float]) -> None:
    found = statistics.bootstrap(data, samples=200)
    assert min(data) - 1e-9 <= found.low <= found.high <= max(data) + 1e-9


def test_many_values_are_resampled_in_blocks() -> None:
    found = statistics.bootstrap([0.0, 1.0] * 15_000, samples=300)
    assert found.n == 30_000
    assert found.low == pytest.approx(0.5, abs=0.01)


@pytest.mark.parametrize(
    ("wins", "losses", "p"), [(0, 0, 1.0), (1, 0, 1.0), (5, 0, 2 / 32), (12, 11, 1.0), (8, 2, 112 / 1024)]
)
def test_mcnemar_by_hand(wins: int, losses: int, p: float) -> None:
    ours = [True] * wins + [False] * losses + [True, False]
    theirs = [False] * wins + [True] * losses + [True, False]
    assert statistics.mcnemar(ours, theirs) == pytest.approx(p)


@given(pairs)
def test_mcnemar_is_scipys_binomial_test_and_symmetric(data: list[tuple[bool, bool]]) -> None:
    ours, theirs = [a for a, _ in data], [b for _, b in data]
    b, c = sum(a and not b for a, b in data), sum(b and not a for a, b in data)
    expected = stats.binomtest(b, b + c).pvalue if b + c else 1.0
    assert statistics.mcnemar(ours, theirs) == pytest.approx(expected)
    assert statistics.mcnemar(theirs, ours) == pytest.approx(expected)


def test_randomisation_counts_every_flip_where_they_are_few() -> None:
    # differences 1, 2 and 3: only all plus and all minus are as far from nothing
    assert statistics.randomisation([1, 2, 3, 7], [0, 0, 0, 7]) == 2 / 8


def test_randomisation_draws_flips_where_they_are_many() -> None:
    ours, theirs = [1.0] * 40, [0.0] * 40
    assert statistics.randomisation(ours, theirs, samples=999) == 1 / 1000
    assert statistics.randomisation(ours, ours) == 1.0


def test_randomisation_agrees_with_mcnemar_on_right_and_wrong() -> None:
    ours, theirs = [1.0] * 8 + [0.0] * 2, [0.0] * 8 + [1.0] * 2
    assert statistics.randomisation(ours, theirs) == pytest.approx(112 / 1024)


def test_paired_bootstrap_by_hand() -> None:
    found = statistics.paired_bootstrap([0.5, 0.7, 0.9], [0.4, 0.6, 0.8])
    assert found == pytest.approx((0.1, 0.1, 0.1, 3))


def test_a_tally_counts_questions() -> None:
    assert statistics.count([1, 0.5, 0, 1], [0, 0.5, 1, 0.9]) == (2, 1, 1)


@pytest.mark.parametrize(
    "test", [statistics.mcnemar, statistics.randomisation, statistics.paired_bootstrap, statistics.count]
)
def test_unpaired_and_empty_lists_are_refused(test) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(UsageError, match="same questions"):
        test([1.0], [1.0, 0.0])
    with pytest.raises(UsageError, match="no values"):
        test([], [])


def test_a_score_that_is_no_number_is_an_error() -> None:
    with pytest.raises(DataError, match="finite"):
        statistics.bootstrap([0.0, math.nan])
    with pytest.raises(DataError, match="finite"):
        statistics.paired_bootstrap([0.0], [math.inf])
