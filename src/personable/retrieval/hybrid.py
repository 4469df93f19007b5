"""Retrievers over a passage store: by words, by meaning, and by both."""

from __future__ import annotations

import asyncio

import numpy as np
from numpy.typing import NDArray

from personable.embed import Embedder
from personable.errors import ConfigurationError
from personable.retrieval.dense import DenseIndex
from personable.retrieval.fusion import rrf
from personable.retrieval.sparse import Ranked
from personable.retrieval.store import Candidate, PassageStore
from personable.text import words
from personable.types import Hit, Where

Rows = NDArray[np.int64] | None

FLOORS = {"minilm": 0.15}
"""Cosines up to which a model's passages are arbitrary. MiniLM over 16,407 medical cards: the best card for a question
on another subject has .14 to .22, the best for 52 real medical questions .27 to .87. But a lion is .18 from "the king
of the savannah": the floor is low, and judging what was found is the guard's. Models not named here have 0."""


class SparseRetriever:
    """BM25 over title and text (`SparseIndex`). `features` holds `sparse`, the BM25 score."""

    def __init__(self, store: PassageStore) -> None:
        self._store = store

    async def search(self, query: str, k: int = 10, where: Where | None = None) -> list[Hit]:
        return await asyncio.to_thread(self._store.search, lambda limit, rows: self._find(query, limit, rows), k, where)

    def _find(self, query: str, limit: int, rows: Rows) -> list[Candidate]:
        found = _pairs(self._store.sparse.search(query, limit, rows))
        return [(row, score, {"sparse": score}) for row, score in found.items()]


class DenseRetriever:
    """Cosine similarity of embeddings. `features` holds `dense`, the cosine; hits up to `floor` are left out.

    Raises ConfigurationError for a collection without vectors or with those of another embedder.
    """

    def __init__(self, store: PassageStore, embedder: Embedder, floor: float | None = None) -> None:
        self._store = store
        self._vectors = _Vectors(store, embedder, floor)

    async def search(self, query: str, k: int = 10, where: Where | None = None) -> list[Hit]:
        return await asyncio.to_thread(self._search, query, k, where)

    def _search(self, query: str, k: int, where: Where | None) -> list[Hit]:
        vector = self._vectors.of(query)
        return self._store.search(lambda limit, rows: self._find(vector, limit, rows), k, where)

    def _find(self, vector: NDArray[np.float32] | None, limit: int, rows: Rows) -> list[Candidate]:
        return [(row, score, {"dense": score}) for row, score in self._vectors.near(vector, limit, rows).items()]


class HybridRetriever:
    """The `depth` best by words and by meaning, fused by reciprocal rank (`rrf`), which needs no common scale.

    `features` holds `sparse` and `dense`, the raw scores of the lists that a passage was in. One list is searched after
    the other: over 16,407 passages words take 0.3 ms, as much as handing them to a second thread would cost.
    """

    def __init__(
        self,
        store: PassageStore,
        embedder: Embedder,
        rrf_k: int = 60,
        depth: int = 50,
        floor: float | None = None,
    ) -> None:
        self._store = store
        self._vectors = _Vectors(store, embedder, floor)
        self._rrf_k = rrf_k
        self._depth = depth

    async def search(self, query: str, k: int = 10, where: Where | None = None) -> list[Hit]:
        return await asyncio.to_thread(self._search, query, k, where)

    def _search(self, query: str, k: int, where: Where | None) -> list[Hit]:
        vector = self._vectors.of(query)
        return self._store.search(lambda limit, rows: self._find(query, vector, limit, rows), k, where)

    def _find(self, query: str, vector: NDArray[np.float32] | None, limit: int, rows: Rows) -> list[Candidate]:
        depth = max(limit, self._depth)
        sparse = _pairs(self._store.sparse.search(query, depth, rows))
        dense = self._vectors.near(vector, depth, rows)
        evidence = {"sparse": sparse, "dense": dense}
        return [
            (row, score, {name: scores[row] for name, scores in evidence.items() if row in scores})
            for row, score in rrf([list(sparse), list(dense)], self._rrf_k)
        ]


class _Vectors:
    """The dense engine of a store together with the embedder that its vectors are from."""

    def __init__(self, store: PassageStore, embedder: Embedder, floor: float | None) -> None:
        made = store.manifest
        if store.dense is None:
            raise ConfigurationError(
                f"the collection at {store.folder} has no vectors: search it by words, or index it with an embedder"
            )
        if (embedder.name, embedder.dim, embedder.digest) != (made.embedder, made.dim, made.digest):
            raise ConfigurationError(
                f"the collection at {store.folder} was indexed with {made.embedder}, not with {embedder.name}: "
                "query it with the same, or index again"
            )
        self._index: DenseIndex = store.dense
        self._embedder = embedder
        self._floor = FLOORS.get(embedder.name, 0.0) if floor is None else floor

    def of(self, query: str) -> NDArray[np.float32] | None:
        """The query's vector, shape (dim,); None for a query without words, which means nothing."""
        return self._embedder.queries([query])[0] if words(query) else None

    def near(self, vector: NDArray[np.float32] | None, limit: int, rows: Rows) -> dict[int, float]:
        if vector is None:
            return {}
        found = _pairs(self._index.search(vector, limit, rows))
        return {row: score for row, score in found.items() if score > self._floor}


def _pairs(found: Ranked) -> dict[int, float]:
    rows, scores = found
    return dict(zip(rows.tolist(), scores.tolist(), strict=True))
