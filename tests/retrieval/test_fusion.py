from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from personable.retrieval.fusion import rrf

rankings = st.lists(st.lists(st.integers(0, 20), unique=True, max_size=10), min_size=1, max_size=4)


def test_scores_by_hand() -> None:
    assert rrf([["a", "b"], ["b"]], k=60) == [("b", 1 / 62 + 1 / 61), ("a", 1 / 61)]
    assert rrf([["a"], ["b"]], k=9, weights=[1.0, 2.0]) == [("b", 0.2), ("a", 0.1)]
    assert rrf([["a", "a", "b"]], k=0) == [("a", 1.0), ("b", 0.5)]
    assert rrf([]) == []


def test_as_many_weights_as_lists() -> None:
    with pytest.raises(ValueError, match="zip"):
        rrf([["a"], ["b"]], weights=[1.0])


@given(rankings)
def test_every_key_comes_once_best_first(lists: list[list[int]]) -> None:
    fused = rrf(lists)
    assert sorted(key for key, _ in fused) == sorted({key for keys in lists for key in keys})
    assert [score for _, score in fused] == sorted((score for _, score in fused), reverse=True)
    assert all(0 < score <= len(lists) / 61 for _, score in fused)


@given(st.lists(st.integers(), unique=True), st.integers(1, 4))
def test_agreeing_lists_keep_their_order(keys: list[int], times: int) -> None:
    assert [key for key, _ in rrf([keys] * times)] == keys


@given(rankings)
def test_the_order_of_the_lists_does_not_change_scores(lists: list[list[int]]) -> None:
    assert dict(rrf(lists)) == pytest.approx(dict(rrf(lists[::-1])))


@given(rankings, st.integers(0, 20))
def test_a_key_gains_from_being_first_in_one_more_list(lists: list[list[int]], key: int) -> None:
    assert dict(rrf([*lists, [key]]))[key] > dict(rrf(lists)).get(key, 0.0)
