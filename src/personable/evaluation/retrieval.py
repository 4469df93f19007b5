"""Evaluating retrieval over a BEIR folder: its corpus becomes a collection, and systems rank its documents."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

from personable.errors import ConfigurationError
from personable.evaluation.datasets import HOW_BEIR, Row
from personable.evaluation.lines import find
from personable.evaluation.outcome import Outcome, System
from personable.kit import Kit
from personable.retrieval.base import Retriever
from personable.retrieval.corpus import open_collection
from personable.retrieval.hybrid import DenseRetriever, HybridRetriever, SparseRetriever
from personable.types import Hit

DEPTH = 100
"""Passages that are retrieved for a question; deeper ones count as not found."""
SHOWN = 5


@asynccontextmanager
async def over_corpus(kit: Kit, data: Path, work: Path) -> AsyncIterator[tuple[Kit, int]]:
    """`kit` over the corpus of the BEIR folder `data`, and how many of its records could not be indexed.

    The collection is made below `work` and kept there: with an unchanged corpus the next run only opens it. Raises
    NotFoundError without a corpus and what indexing raises.
    """
    corpus = find(data, "corpus.jsonl", HOW_BEIR)

    def made() -> int:
        with open_collection(work, "corpus", language=kit.language, embedder=kit.embedder, create=True) as collection:
            return len(collection.index([corpus]).failed)

    failed = await asyncio.to_thread(made)
    with open_collection(work, "corpus", embedder=kit.embedder) as collection:
        store = collection.store
        retriever = HybridRetriever(store, kit.embedder) if kit.embedder else SparseRetriever(store)
        yield replace(kit, store=store, retriever=retriever, people=None, language=store.manifest.language), failed


def by_document(hits: Iterable[Hit]) -> dict[str, float]:
    """Document id to the score of its best passage."""
    scores: dict[str, float] = {}
    for hit in hits:
        scores[hit.passage.document] = max(hit.score, scores.get(hit.passage.document, hit.score))
    return scores


def _system(make: Callable[[Kit], Retriever]) -> System[Kit]:
    async def system(row: Row, kit: Kit) -> Outcome:
        hits = await make(kit).search(row.question, DEPTH)
        return Outcome(scores=by_document(hits), passages=tuple(hit.passage for hit in hits[:SHOWN]))

    return system


def _sparse(kit: Kit) -> Retriever:
    if kit.store is None:
        raise ConfigurationError("retrieval is evaluated over a collection, and the kit has none")
    return SparseRetriever(kit.store)


def _dense(kit: Kit) -> Retriever:
    if kit.store is None or kit.embedder is None:
        raise ConfigurationError("retrieval by meaning needs a collection and an embedder: --embedder minilm")
    return DenseRetriever(kit.store, kit.embedder)


def _hybrid(kit: Kit) -> Retriever:
    if kit.store is None or kit.embedder is None:
        raise ConfigurationError("hybrid retrieval needs a collection and an embedder: --embedder minilm")
    return HybridRetriever(kit.store, kit.embedder)


RETRIEVAL: dict[str, System[Kit]] = {
    "sparse": _system(_sparse),
    "dense": _system(_dense),
    "hybrid": _system(_hybrid),
}
