"""Measure `quote` on the open QA sets: containment beside the ceiling, length, time.

    python benchmarks/quote.py --data ../shared/data/openqa --rows odd --words 40 20 --topk 3 5

Methods and weights were chosen on odd rows (see fit_quote.py, which cross-validates: the figures of odd rows here are
of questions that the weights have seen). Even rows are for reporting. The ceiling is the share of questions whose
answer stands in the same passages; accuracy is over all questions, ratio is accuracy / ceiling with a 95 % bootstrap
interval over questions.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from openqa import DATASETS, Row, contained, minilm, read_rows
from personable.llm.quote import Similar, quote

_RESAMPLES = 2000


class Line(NamedTuple):
    """One question: whether the quotation and the passages hold an answer, its words, seconds, and `found`."""

    hit: bool
    possible: bool
    words: int
    seconds: float
    found: bool


def ask(row: Row, similar: Similar | None, words: int, topk: int) -> Line:
    passages = row.passages[:topk]
    start = time.perf_counter()
    found = quote(row.question, passages, similar=similar, max_words=words)
    seconds = time.perf_counter() - start
    hit = any(contained(quoted.text, row.answers) for quoted in found.sentences)
    possible = any(contained(passage.text, row.answers) for passage in passages)
    length = sum(len(quoted.text.split()) for quoted in found.sentences)
    return Line(hit, possible, length, seconds, found.found)


def interval(lines: Sequence[Line]) -> tuple[float, float]:
    """95 % percentile bootstrap of hits / ceiling."""
    draws = np.random.default_rng(0).integers(0, len(lines), (_RESAMPLES, len(lines)))
    hits = np.array([line.hit for line in lines])[draws].sum(1)
    ceilings = np.array([line.possible for line in lines])[draws].sum(1)
    low, high = np.quantile(hits / np.maximum(ceilings, 1), [0.025, 0.975])
    return float(low), float(high)


def show(name: str, words: int, topk: int, lines: Sequence[Line]) -> None:
    accuracy = np.mean([line.hit for line in lines])
    ceiling = np.mean([line.possible for line in lines])
    low, high = interval(lines)
    length = [line.words for line in lines]
    times = 1000 * np.array([line.seconds for line in lines])
    found = [np.mean([line.found for line in lines if line.possible == possible]) for possible in (True, False)]
    print(
        f"| {name} | {words} | {topk} | {len(lines)} | {accuracy:.3f} | {ceiling:.3f} | {accuracy / ceiling:.3f} "
        f"| {low:.3f} - {high:.3f} | {np.mean(length):.1f} | {max(length)} "
        f"| {np.median(times):.0f} / {np.quantile(times, 0.95):.0f} | {found[0]:.2f} / {found[1]:.2f} |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--rows", choices=["odd", "even"], default="odd")
    parser.add_argument("--words", type=int, nargs="+", default=[40, 20])
    parser.add_argument("--topk", type=int, nargs="+", default=[3])
    parser.add_argument("--lexical", action="store_true", help="without embeddings")
    arguments = parser.parse_args()
    rows = read_rows(arguments.data, odd=arguments.rows == "odd")
    similar = None if arguments.lexical else minilm()
    quote(rows[0].question, rows[0].passages, similar=similar)  # load everything before the clock starts
    print("| set | words | passages | n | accuracy | ceiling | ratio | 95 % | mean words | max | ms p50 / p95 ", end="")
    print("| found: answer there / not there |\n|" + "---|" * 12)
    for topk in arguments.topk:
        for words in arguments.words:
            lines = {row.id: ask(row, similar, words, topk) for row in rows}
            for dataset in DATASETS:
                show(dataset, words, topk, [lines[row.id] for row in rows if row.dataset == dataset])
            show("all", words, topk, list(lines.values()))


if __name__ == "__main__":
    main()
