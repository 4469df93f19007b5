"""Fit the cascade's classifier of statements on the TREC iKAT 2023 training topics, and compare rankers there.

    python benchmarks/fit_statements.py --data ../shared/data/ikat [--compare] [--time] [--write]

Only training topics and their judgements are read. Folds leave out all conversations on one theme (1-1 and 1-2 share
one). scikit-learn is needed here only, never by the package.
"""

from __future__ import annotations

import argparse
import asyncio
import math
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from sklearn.feature_extraction import DictVectorizer
from sklearn.linear_model import LogisticRegression

from personable.embed import make_embedder
from personable.embed.remembering import Remembering
from personable.evaluation.ikat import Asked, Qrels, asked, read_qrels, read_topics, topics_file
from personable.evaluation.ikat_run import MEASURES, order_run
from personable.evaluation.ranking import rank_scores
from personable.evaluation.statistics import bootstrap, paired_bootstrap
from personable.kit import Kit
from personable.llm.quote_model import Logistic
from personable.pipelines import statement_classifier
from personable.pipelines.conversation import StatementRanker
from personable.pipelines.statement_classifier import FILE, Classifier, features
from personable.pipelines.statement_rankers import open_statement_ranker
from personable.pipelines.statement_ranking import KEPT_FROM, Cascade
from personable.pipelines.statement_voters import Similarity
from personable.retrieval.analysis import Analyser
from personable.settings import Settings

_WEIGHTS = Path(statement_classifier.__file__).with_name(FILE)
_STRENGTH = 0.05
_COMPARED = ("words", "minilm", "minilm+turns", "use", "fused", "fused-quick")


class Fold(NamedTuple):
    """A theme with its turns, and the classifier that has not seen them."""

    turns: list[Asked]
    model: Logistic


def opened() -> Kit:
    return Kit(Settings(), embedder=Remembering(make_embedder("minilm", threads=1)))


def fit(kit: Kit, turns: Sequence[Asked], qrels: Qrels) -> Logistic:
    """A ridge-penalised fit, both classes weighing the same, written back in the features' own units."""
    rows, right = [], []
    for one in turns:
        rows += features(kit, Analyser("en"), one.said, [statement.text for statement in one.statements])
        right += [qrels[one.qid].get(statement.id, 0) > 0 for statement in one.statements]
    vectorizer = DictVectorizer(sparse=False)
    matrix = vectorizer.fit_transform(rows)
    mean, spread = matrix.mean(0), matrix.std(0) + 1e-6
    found = LogisticRegression(C=_STRENGTH, class_weight="balanced").fit((matrix - mean) / spread, right)
    slopes = found.coef_[0] / spread
    names = vectorizer.get_feature_names_out()
    return Logistic(
        bias=round(float(found.intercept_[0] - (slopes * mean).sum()), 4),
        weights={str(name): round(float(slope), 4) for name, slope in zip(names, slopes, strict=True)},
    )


def folds(kit: Kit, turns: Sequence[Asked], qrels: Qrels) -> list[Fold]:
    themes = dict.fromkeys(one.qid.split("-")[0] for one in turns)
    found = []
    for theme in themes:
        mine = [one for one in turns if one.qid.split("-")[0] == theme]
        found.append(Fold(mine, fit(kit, [one for one in turns if one not in mine], qrels)))
    return found


async def ndcg(ranker: StatementRanker, turns: Sequence[Asked], qrels: Qrels) -> list[float]:
    run = {one.qid: await order_run(ranker, one) for one in turns}
    values = rank_scores({one.qid: qrels[one.qid] for one in turns}, run, MEASURES)["nDCG@3"]
    return [values[one.qid] for one in turns]


async def compare(kit: Kit, turns: Sequence[Asked], qrels: Qrels) -> None:
    """nDCG@3 on the training turns; what was fitted is asked about turns that it has not seen."""
    found = {name: await ndcg(open_statement_ranker(name, kit), turns, qrels) for name in _COMPARED}
    held: dict[str, list[float]] = {"classifier": [], "cascade:use": []}
    for turns_, model in folds(kit, turns, qrels):
        classifier = Classifier(kit, model)
        listwise = Similarity("use", kit, "use", "after reply")
        cascade = Cascade("cascade:use", classifier, Similarity("minilm", kit, "minilm"), listwise)
        held["classifier"] += await ndcg(classifier, turns_, qrels)
        held["cascade:use"] += await ndcg(cascade, turns_, qrels)
    for name, values in (found | held).items():
        one, gain = bootstrap(values), paired_bootstrap(values, found["minilm"])
        print(
            f"  {name:14} {one.mean:.3f} [{one.low:.3f}, {one.high:.3f}], n = {one.n}; "
            f"less minilm {gain.mean:+.3f} [{gain.low:+.3f}, {gain.high:+.3f}]"
        )


def chances(kit: Kit, turns: Sequence[Asked], qrels: Qrels) -> None:
    """How many statements the held-out classifier keeps, and how many of the relevant ones."""
    kept, right = [], []
    logit = math.log(KEPT_FROM / (1 - KEPT_FROM))
    for fold in folds(kit, turns, qrels):
        for one in fold.turns:
            texts = [statement.text for statement in one.statements]
            kept += (fold.model.logits(features(kit, Analyser("en"), one.said, texts)) >= logit).tolist()
            right += [qrels[one.qid].get(statement.id, 0) > 0 for statement in one.statements]
    found = float(np.mean([keeps for keeps, relevant in zip(kept, right, strict=True) if relevant]))
    print(f"classifier: keeps {np.mean(kept):.1%} of {len(kept)} statements, {found:.1%} of the {sum(right)} relevant")


async def seconds(turns: Sequence[Asked]) -> None:
    """What ranking 30 statements takes whose vectors are remembered: every turn is a new utterance."""
    pool = list(dict.fromkeys(statement.text for one in turns for statement in one.statements))[:30]
    for name in ("words", "minilm", "cascade", "fused", "fused-quick"):
        ranker = open_statement_ranker(name, opened())  # nothing of the turns is remembered
        await ranker.scores(turns[0].said, pool)
        spent = []
        for one in turns[1:]:
            began, busy = time.perf_counter(), time.process_time()
            await ranker.scores(one.said, pool)
            spent.append((time.perf_counter() - began, time.process_time() - busy))
        wall, cpu = (1000 * float(np.median(part)) for part in zip(*spent, strict=True))
        print(f"  {ranker.name:14} {wall:.1f} ms, {cpu:.1f} ms of CPU time, {len(pool)} statements, {len(spent)} turns")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--compare", action="store_true", help="nDCG@3 of all rankers on the training turns")
    parser.add_argument("--time", action="store_true", help="how long ranking takes")
    parser.add_argument("--write", action="store_true", help=f"write {FILE}")
    arguments = parser.parse_args()
    qrels = read_qrels(arguments.data / "qrels_ptkb_2023_train_provenance.txt")
    turns = asked(read_topics(topics_file(arguments.data, "train")), list(qrels))
    kit = opened()
    if arguments.compare:
        chances(kit, turns, qrels)
        asyncio.run(compare(kit, turns, qrels))
    if arguments.time:
        asyncio.run(seconds(turns))
    if arguments.write:
        _WEIGHTS.write_text(fit(kit, turns, qrels).model_dump_json(indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
