"""Quality of retrieval: LiveQA development messages over the MedQuAD cards.

    python benchmarks/retrieval_quality.py --data ../shared/data [--work FOLDER]

Prints nDCG@10, P@3, R@50 and MRR of words, meaning and both, with 95 % bootstrap intervals over the questions that
have a relevant card, and the paired difference of the hybrid to the better single list. The title's weight (2) and the
list of English function words were chosen with these messages in view (docs/benchmarks.md), the fusion (RRF, k = 60)
was not. `--work` keeps the collections, as embedding all cards takes minutes.
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
from collections.abc import Callable
from pathlib import Path

import ir_measures
import numpy as np
from ir_measures import RR, P, R, nDCG

from cards import Message, built_store, read_cards, read_messages
from personable.embed import make_embedder
from personable.retrieval.base import Retriever
from personable.retrieval.hybrid import DenseRetriever, HybridRetriever, SparseRetriever
from personable.types import Passage

MEASURES = [nDCG @ 10, P(rel=1) @ 3, R(rel=1) @ 50, RR(rel=1)]
QUERIES: dict[str, Callable[[Message], str]] = {
    "message": lambda message: message.message,
    "subject + message": lambda message: message.with_subject,
    "paraphrase": lambda message: message.paraphrase,
}
Scores = dict[str, np.ndarray]


def scored(run: dict[str, dict[str, float]], qrels: list[ir_measures.Qrel], queries: list[str]) -> Scores:
    """Measure → one value a query, in the order of `queries`."""
    values = {str(measure): dict.fromkeys(queries, 0.0) for measure in MEASURES}
    for value in ir_measures.iter_calc(MEASURES, qrels, run):
        values[str(value.measure)][value.query_id] = value.value
    return {measure: np.array([by_query[query] for query in queries]) for measure, by_query in values.items()}


def interval(values: np.ndarray) -> tuple[float, float]:
    picks = np.random.default_rng(0).integers(0, len(values), (10_000, len(values)))
    low, high = np.percentile(values[picks].mean(axis=1), [2.5, 97.5])
    return float(low), float(high)


async def searched(retriever: Retriever, queries: dict[str, str], k: int = 100) -> dict[str, dict[str, float]]:
    """Query → card → 1 / place: the measures would order equal scores by id, the system has an order of its own."""
    return {
        id: {hit.passage.id: 1 / place for place, hit in enumerate(await retriever.search(query, k), 1)}
        for id, query in queries.items()
    }


def report(name: str, systems: dict[str, Retriever], data: Path) -> None:
    with (data / "medical/qrels_liveqa_dev_cards.txt").open(encoding="utf-8") as lines:
        rows = [line.split() for line in lines]
    qrels = [ir_measures.Qrel(query, card, int(grade)) for query, _, card, grade in rows]
    wanted = {qrel.query_id for qrel in qrels if qrel.relevance >= 1}
    qrels = [qrel for qrel in qrels if qrel.query_id in wanted]
    for label, query in QUERIES.items():
        queries = {m.id: query(m) for m in read_messages(data) if m.id in wanted}
        print(f"\n{name}, {label} ({len(queries)} questions)")
        results: dict[str, Scores] = {}
        for system, retriever in systems.items():
            results[system] = scored(asyncio.run(searched(retriever, queries)), qrels, list(queries))
            cells = []
            for measure, values in results[system].items():
                low, high = interval(values)
                cells.append(f"{measure} {values.mean():.3f} [{low:.3f}, {high:.3f}]")
            print(f"  {system:7s} " + "  ".join(cells))
        for measure in map(str, MEASURES):
            single = max(("sparse", "dense"), key=lambda system: results[system][measure].mean())
            gain = results["hybrid"][measure] - results[single][measure]
            low, high = interval(gain)
            print(f"    hybrid - {single} {measure} {gain.mean():+.3f} [{low:+.3f}, {high:+.3f}]")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--work", type=Path)
    parser.add_argument("--embedder", default="minilm")
    parser.add_argument(
        "--questions", action="store_true", help="only the cards' questions, which embed in a minute or two"
    )
    parser.add_argument("--limit", type=int, help="only the first cards, to try the script")
    given = parser.parse_args()
    cards = read_cards(given.data, given.limit)
    questions = [Passage(id=card.id, text=card.title) for card in cards]
    embedder = make_embedder(given.embedder, threads=1)
    with tempfile.TemporaryDirectory() as temporary:
        work = given.work or Path(temporary)
        for name, passages in (("card questions", questions), ("question + answer", cards)):
            if given.questions and passages is cards:
                continue
            with built_store(work / name.replace(" ", "-"), passages, embedder) as store:
                systems: dict[str, Retriever] = {
                    "sparse": SparseRetriever(store),
                    "dense": DenseRetriever(store, embedder),
                    "hybrid": HybridRetriever(store, embedder),
                }
                report(name, systems, given.data)


if __name__ == "__main__":
    main()
