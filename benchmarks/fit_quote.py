"""Fit the weights of `quote` on the open QA rows with an odd `index`, and say how good they are by cross-validation.

    python benchmarks/fit_quote.py --data ../shared/data/openqa [--write]

Each question gives three instances: its passages 1-3, 4-6 and 7-9. A mention is right when it overlaps a gold answer.
Sentences of other questions' passages are the negatives from which the sentence model learns that nothing was found.
Folds are by question. scikit-learn is needed here only, never by the package.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.feature_extraction import DictVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold

from openqa import Row, contained, gold_spans, read_rows, remembering
from personable.llm import quote_model
from personable.llm.quote import Evidence, Similar, answer, gather, mention_chances, with_best_mention
from personable.llm.quote_evidence import Features
from personable.llm.quote_model import Logistic, Model
from personable.text import words
from personable.types import Passage

_WEIGHTS = Path(quote_model.__file__).with_name("quote_weights.json")
_STRENGTH = 0.02
_MISSED = 0.04
_FOLDS = 5


class Instance(NamedTuple):
    """A question with three passages, its evidence, and which sentences and mentions hold a gold answer."""

    row: int
    first: bool
    stranger: bool
    evidence: Evidence
    sentences: list[bool]
    mentions: list[bool]


def instance(
    number: int, row: Row, passages: Sequence[Passage], similar: Similar | None, *, first: bool, stranger: bool
) -> Instance:
    evidence = gather(row.question, passages, similar)
    spans = [gold_spans(sentence.text, row.answers) for sentence in evidence.sentences]
    right = [
        any(clue.mention.start < end and clue.mention.end > start for start, end in spans[clue.sentence])
        for clue in evidence.clues
    ]
    return Instance(number, first, stranger, evidence, [bool(found) for found in spans], right)


def instances(rows: Sequence[Row], similar: Similar | None) -> tuple[list[Instance], list[Instance]]:
    """Three instances a question; and two with what other questions of its set brought: any passages, and the nearest.

    The nearest are the three that share most words with the question and hold no answer to it: what a collection
    gives that knows the topic but not the answer.
    """
    own, strangers = [], []
    for number, row in enumerate(rows):
        for start in (0, 3, 6):
            passages = row.passages[start : start + 3]
            own.append(instance(number, row, passages, similar, first=start == 0, stranger=False))
        others = [one for one in [*rows[number + 1 :], *rows[:number]] if one.dataset == row.dataset]
        near = nearest(row, [passage for one in others for passage in one.passages])
        strangers.append(instance(number, row, others[0].passages[:3], similar, first=True, stranger=True))
        strangers.append(instance(number, row, near, similar, first=False, stranger=True))
    return own, strangers


def nearest(row: Row, pool: Sequence[Passage]) -> list[Passage]:
    wanted = {word for word in words(row.question) if len(word) > 3}
    ranked = sorted(pool, key=lambda passage: -len(wanted.intersection(words_of(passage.text))))
    return [passage for passage in ranked[:20] if not contained(passage.text, row.answers)][:3]


@cache
def words_of(text: str) -> frozenset[str]:
    return frozenset(words(text))


def logistic(features: Sequence[Features], right: Sequence[bool], weight: Sequence[float]) -> Logistic:
    """A ridge-penalised fit on standardised features, written back in the features' own units."""
    vectorizer = DictVectorizer(sparse=False, dtype=np.float32)
    matrix = vectorizer.fit_transform(features)
    mean, spread = matrix.mean(0), matrix.std(0) + 1e-6
    fit = LogisticRegression(C=_STRENGTH, max_iter=400)
    scale = np.asarray(weight) / np.mean(weight)
    fit.fit((matrix - mean) / spread, np.asarray(right), sample_weight=scale)
    slopes = fit.coef_[0] / spread
    return Logistic(
        bias=round(float(fit.intercept_[0] - (slopes * mean).sum()), 4),
        weights={
            str(name): round(float(slope), 4)
            for name, slope in zip(vectorizer.get_feature_names_out(), slopes, strict=True)
            if abs(slope) > 1e-3
        },
    )


def fit_mentions(own: Iterable[Instance]) -> Logistic:
    """Every question counts the same; its wrong mentions weigh three times its right ones in sum."""
    features: list[Features] = []
    right: list[bool] = []
    weight: list[float] = []
    for one in own:
        novel = [i for i, named in enumerate(one.evidence.mention_features) if named["novel"] > 0]
        hits = sum(one.mentions[i] for i in novel)
        for i in novel:
            features.append(one.evidence.mention_features[i])
            right.append(one.mentions[i])
            weight.append(1 / hits if one.mentions[i] else 3 / (len(novel) - hits))
    return logistic(features, right, weight)


def fit_sentences(own: Iterable[Instance], strangers: Iterable[Instance], halves: Sequence[Logistic]) -> Logistic:
    """`halves[row % 2]` is a mention model that has not seen the row, so that its chances are as in use."""
    features: list[Features] = []
    right: list[bool] = []
    for one in [*own, *strangers]:
        features += with_best_mention(one.evidence, mention_chances(one.evidence, halves[one.row % 2]))
        right += [label and not one.stranger for label in one.sentences]
    return logistic(features, right, [1.0] * len(right))


def fit(own: Iterable[Instance], strangers: Iterable[Instance]) -> Model:
    """Both models, from questions whose passages hold an answer; the threshold is set later."""
    own = [one for one in own if any(one.sentences)]
    halves = [fit_mentions([one for one in own if one.row % 2 != half]) for half in (0, 1)]
    return Model(mention=fit_mentions(own), sentence=fit_sentences(own, strangers, halves), threshold=0.5)


class Scores(NamedTuple):
    """Best scores: of questions answered rightly, of those with any other passages, of those with the nearest."""

    answered: NDArray[np.float64]
    strangers: NDArray[np.float64]
    near: NDArray[np.float64]


def validate(rows: Sequence[Row], own: Sequence[Instance], strangers: Sequence[Instance]) -> Scores:
    """Print containment over ceiling for held-out questions; return the scores, to set the threshold."""
    hits: dict[tuple[str, int], list[bool]] = {}
    right: list[float] = []
    wrong: dict[bool, list[float]] = {True: [], False: []}
    for learn, test in KFold(_FOLDS, shuffle=True, random_state=0).split(np.arange(len(rows))):
        known, asked = set(learn.tolist()), set(test.tolist())
        model = fit([one for one in own if one.row in known], [one for one in strangers if one.row in known])
        for one in (one for one in own if one.row in asked and one.first):
            row = rows[one.row]
            if not contained(" \n ".join(passage.text for passage in row.passages[:3]), row.answers):
                continue
            for limit in (40, 20):
                found = answer(one.evidence, model, limit)
                hit = any(contained(quoted.text, row.answers) for quoted in found.sentences)
                hits.setdefault((row.dataset, limit), []).append(hit)
                if limit == 40 and hit:
                    right.append(found.score)
        for one in (one for one in strangers if one.row in asked):
            wrong[one.first].append(answer(one.evidence, model, 40).score)
    for (dataset, limit), shares in hits.items():
        print(f"  {dataset:9} {limit} words: {np.mean(shares):.3f} of the ceiling ({len(shares)})")
    print(f"  mean: {np.mean([np.mean(v) for (_, w), v in hits.items() if w == 40]):.3f} at 40,", end=" ")
    print(f"{np.mean([np.mean(v) for (_, w), v in hits.items() if w == 20]):.3f} at 20")
    return Scores(np.array(right), np.array(wrong[True]), np.array(wrong[False]))


def threshold(scores: Scores) -> float:
    """The score that misses 4 % of the right answers; prints the error rates there and at 2 and 8 %."""
    for share in (0.02, 0.08, _MISSED):
        level = float(np.quantile(scores.answered, share))
        found = [float((wrong >= level).mean()) for wrong in (scores.strangers, scores.near)]
        print(f"  threshold {level:.3f} misses {share:.0%}; finds {found[0]:.1%} of any, {found[1]:.1%} of the nearest")
    return round(level, 4)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--write", action="store_true", help=f"write {_WEIGHTS.name}")
    arguments = parser.parse_args()
    rows = read_rows(arguments.data, odd=True)
    models = {}
    for name, similar in (("lexical", None), ("dense", remembering())):
        print(name)
        own, strangers = instances(rows, similar)
        level = threshold(validate(rows, own, strangers))
        models[name] = fit(own, strangers).model_copy(update={"threshold": level}).model_dump()
        if arguments.write:  # the dense evidence is read with the lexical model
            kept = json.loads(_WEIGHTS.read_text()) if _WEIGHTS.exists() else {}
            _WEIGHTS.write_text(json.dumps(kept | models, indent=1, sort_keys=True) + "\n")
            quote_model.fitted.cache_clear()


if __name__ == "__main__":
    main()
