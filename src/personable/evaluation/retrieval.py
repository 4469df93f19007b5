"""Evaluating retrieval over a BEIR folder: its corpus becomes a collection, and systems rank its documents."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

from pydantic import JsonValue

from personable.errors import ConfigurationError
from personable.evaluation.datasets import Row, read_corpus
from personable.evaluation.outcome import Outcome, System
from personable.kit import Kit
from personable.retrieval.base import Retriever
from personable.retrieval.corpus import open_collection
from personable.retrieval.hybrid import DenseRetriever, HybridRetriever, SparseRetriever
from personable.retrieval.report import IndexOptions
from personable.types import Hit

DEPTH = 100
"""Passages that are retrieved for a question; deeper ones count as not found."""
SHOWN = 5


@asynccontextmanager
async def over_corpus(kit: Kit, data: Path, work: Path) -> AsyncIterator[tuple[Kit, dict[str, JsonValue]]]:
    """`kit` over the corpus of the BEIR folder `data`, and what makes figures over it comparable: the corpus' sha256,
    and how many of its documents hold nothing that could be indexed.

    The collection is made below `work` and kept there: with an unchanged corpus the next run only opens it. Raises
    NotFoundError without a corpus, DataError for a malformed one, and what indexing raises.
    """

    def made() -> dict[str, JsonValue]:
        corpus, copy = read_corpus(data), work / "corpus.jsonl"
        lines = [{"_id": one.id, "title": one.title, "text": one.text.strip() or one.title} for one in corpus]
        work.mkdir(parents=True, exist_ok=True)
        copy.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
        fields = IndexOptions(id_field="_id", title_field="title", text_field="text")
        with open_collection(work, "corpus", language=kit.language, embedder=kit.embedder, create=True) as collection:
            collection.index([copy], fields)
            unread = len(corpus) - len(collection.store.documents())
        return {"unread documents": unread, "corpus": hashlib.sha256(copy.read_bytes()).hexdigest()}

    about = await asyncio.to_thread(made)
    with open_collection(work, "corpus", embedder=kit.embedder) as collection:
        store = collection.store
        retriever = HybridRetriever(store, kit.embedder) if kit.embedder else SparseRetriever(store)
        yield replace(kit, store=store, retriever=retriever, people=None, language=store.manifest.language), about


def by_document(hits: Iterable[Hit]) -> dict[str, float]:
    """Document id to 1 / its place, that of its best passage: measures would order equal scores by their ids."""
    ranked = sorted(hits, key=lambda hit: -hit.score)
    return {id: 1 / place for place, id in enumerate(dict.fromkeys(hit.passage.document for hit in ranked), 1)}


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
