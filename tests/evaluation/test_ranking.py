import math

import pytest

from personable.errors import DataError, UsageError
from personable.evaluation.ranking import rank_scores

QRELS = {"q1": {"a": 2, "b": 1, "c": 0, "d": 1}, "q2": {"a": 1}}
RUN = {"q1": {"c": 9.0, "b": 8.0, "a": 7.0, "x": 6.0}}


def test_hand_computed_values() -> None:
    measures = ["nDCG@3", "AP", "P@2", "R@3", "RR", "Success@1", "Success@2"]
    found = {name: values["q1"] for name, values in rank_scores(QRELS, RUN, measures).items()}
    ideal = 2 + 1 / math.log2(3) + 1 / 2
    assert found["nDCG@3"] == pytest.approx((1 / math.log2(3) + 2 / 2) / ideal)
    assert found["AP"] == pytest.approx((1 / 2 + 2 / 3) / 3)
    assert found["P@2"] == pytest.approx(1 / 2)
    assert found["R@3"] == pytest.approx(2 / 3)
    assert found["RR"] == pytest.approx(1 / 2)
    assert (found["Success@1"], found["Success@2"]) == (0, 1)


def test_a_judged_query_without_results_scores_zero_and_stays() -> None:
    for run in (RUN, {**RUN, "q2": {}}):
        assert rank_scores(QRELS, run, ["AP"])["AP"]["q2"] == 0
    assert rank_scores(QRELS, {}, ["AP"]) == {"AP": {"q1": 0, "q2": 0}}


def test_a_query_that_nobody_judged_is_left_out() -> None:
    assert set(rank_scores(QRELS, {**RUN, "q9": {"a": 1.0}}, ["RR"])["RR"]) == {"q1", "q2"}


@pytest.mark.parametrize("score", [math.nan, math.inf])
def test_a_score_that_is_no_number_is_an_error(score: float) -> None:
    with pytest.raises(DataError, match="passage 'a' for query 'q1'"):
        rank_scores(QRELS, {"q1": {"a": score}})


def test_other_ids_and_no_judgements_are_errors() -> None:
    with pytest.raises(DataError, match="share no query id"):
        rank_scores(QRELS, {"other": {"a": 1.0}})
    with pytest.raises(DataError, match="cannot be computed"):
        rank_scores({}, RUN)


def test_an_unknown_measure_is_named() -> None:
    with pytest.raises(UsageError, match="nDGC@3"):
        rank_scores(QRELS, RUN, ["nDGC@3"])
