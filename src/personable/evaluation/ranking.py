"""Metrics of ranked lists against relevance judgements, computed by ir-measures (MacAvaney et al. 2022)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from personable.errors import DataError, MissingExtraError, UsageError
from personable.evaluation.metrics import finite

MEASURES = ("nDCG@3", "nDCG@5", "nDCG@10", "AP", "P@3", "P@5", "R@10", "RR", "Success@5")
"""nDCG (Järvelin & Kekäläinen 2002; gain = grade, log2 discount, as trec_eval), average precision, precision, recall,
reciprocal rank of the first relevant passage, and Hit@5 (`Success`). A mean over questions of AP is MAP, of RR MRR."""


def rank_scores(
    qrels: Mapping[str, Mapping[str, int]],
    run: Mapping[str, Mapping[str, float]],
    measures: Sequence[str] = MEASURES,
) -> dict[str, dict[str, float]]:
    """Each measure for each judged query: `{measure: {query: value in 0 to 1}}`.

    A judged query that the run does not answer scores 0 and stays in the denominator. Raises DataError for a NaN or
    infinite score and for a run about no judged query, UsageError for an unknown measure, MissingExtraError without
    ir-measures.
    """
    try:
        import ir_measures
    except ImportError as error:
        raise MissingExtraError("Ranking metrics", "eval") from error
    _check(qrels, run)
    try:
        parsed = [ir_measures.parse_measure(name) for name in measures]
    except (NameError, ValueError, SyntaxError) as error:
        raise UsageError(f"unknown ranking measure in {', '.join(measures)}: {error}") from error
    judged = {query: dict(grades) for query, grades in qrels.items()}
    answered = {query: dict(run[query]) for query in judged if run.get(query)}
    values = {str(measure): dict.fromkeys(judged, 0.0) for measure in parsed}
    for metric in ir_measures.iter_calc(parsed, judged, answered):
        value = finite(float(metric.value), f"{metric.measure} of query {metric.query_id!r}")
        values[str(metric.measure)][metric.query_id] = value
    return values


def _check(qrels: Mapping[str, Mapping[str, int]], run: Mapping[str, Mapping[str, float]]) -> None:
    if not qrels:
        raise DataError("no relevance judgements: nDCG, MAP, P, recall, MRR and Hit cannot be computed")
    for query, scores in run.items():
        for passage, score in scores.items():
            finite(score, f"the score of passage {passage!r} for query {query!r}")
    if run and not set(run) & set(qrels):
        raise DataError("the run and the judgements share no query id: do they belong to one data set?")
