"""Who votes when passages are compared two by two: a packaged embedder, or a language model that reads both."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from personable.embed import Embedder
from personable.errors import ModelError, ModelOutputError
from personable.llm.base import LanguageModel, Prompt
from personable.prompts import fit, prompt_hash, render
from personable.retrieval.store import embedded_text
from personable.types import Passage, Value

ROOM = 2400
"""Tokens for the passages of one prompt; longer ones are shortened."""
SAID = 400
"""Tokens for the question in a prompt, and again for all statements."""


class Votes(NamedTuple):
    """A voter's votes on every pair. `shares` has shape (n, n): 1 where the row beats the column, 0.5 for a draw, 0 on
    the diagonal; `unread` counts pairs whose answer could not be read: they count as draws."""

    shares: NDArray[np.float64]
    unread: int = 0


class Voter(Protocol):
    """One voice in pairwise ranking."""

    @property
    def name(self) -> str:
        """Who votes: the name of the embedder or the model."""

    @property
    def remote(self) -> bool:
        """True when it is elsewhere and not trusted."""

    async def votes(self, query: str, statements: Sequence[str], passages: Sequence[Passage]) -> Votes:
        """Votes on all pairs of `passages`, of `query` together with `statements`. Raises ModelError."""


class EmbeddingVoter:
    """Prefers the passage that is nearer (cosine) to the query with the statements appended: no cross-encoder reads a
    pair here, so this stands in for one and is named by its embedder."""

    def __init__(self, embedder: Embedder) -> None:
        self.name, self.remote = embedder.name, embedder.remote
        self._embedder = embedder

    async def votes(self, query: str, statements: Sequence[str], passages: Sequence[Passage]) -> Votes:
        near = await asyncio.to_thread(self._near, " ".join([query, *statements]), passages)
        if near.shape != (len(passages),) or not np.isfinite(near).all():
            raise ModelError(f"embedder {self.name!r} gave no number for each of {len(passages)} passages")
        shares = (1.0 + np.sign(near[:, None] - near[None, :])) / 2
        np.fill_diagonal(shares, 0.0)
        return Votes(shares)

    def _near(self, query: str, passages: Sequence[Passage]) -> NDArray[np.float64]:
        if not passages:
            return np.zeros(0)
        vectors = self._embedder.passages([embedded_text(passage) for passage in passages])
        near: NDArray[np.float64] = (vectors @ self._embedder.queries([query])[0]).astype(np.float64)
        return near


class Preferred(Value):
    """What a model answers about two passages."""

    better: int = Field(ge=0, le=2, description="1 or 2: the passage that helps more; 0: they help the same")


class ModelVoter:
    """Asks `model` once about each pair: n (n - 1) / 2 calls. Which of the two stands first alternates, so that a
    liking for the first place favours nobody."""

    def __init__(self, model: LanguageModel) -> None:
        self.name, self.remote = model.name, model.remote
        self._model = model

    async def votes(self, query: str, statements: Sequence[str], passages: Sequence[Passage]) -> Votes:
        count = len(passages)
        pairs = [(one, other) if (one + other) % 2 else (other, one) for one in range(count) for other in range(one)]
        shares, unread = np.zeros((count, count)), 0
        # One after another: a wave of n² calls would take every place of a shared model.
        for first, second in pairs:
            better = await self._asked(query, statements, passages[first], passages[second])
            unread += better is None
            shares[first, second] = {1: 1.0, 2: 0.0}.get(better or 0, 0.5)
            shares[second, first] = 1.0 - shares[first, second]
        return Votes(shares, unread)

    async def _asked(self, query: str, statements: Sequence[str], *pair: Passage) -> int | None:
        try:
            reply = await self._model.write(passages_prompt("passage_pair", query, statements, pair), Preferred, 40)
        except ModelOutputError:
            return None
        return reply.value.better if reply.value else None


def passages_prompt(task: str, query: str, statements: Sequence[str], passages: Sequence[Passage]) -> Prompt:
    """The prompt of file `converse/<task>` about `passages`, numbered from 1. Long texts are shortened to fit."""
    texts = fit([passage.text for passage in passages], ROOM)
    shown = [{"title": passage.title[:200], "text": text} for passage, text in zip(passages, texts, strict=True)]
    known = fit(list(statements), SAID)
    shared = render("converse/ranked_passages", statements=known, passages=shown, question=fit([query], SAID)[0])
    name = f"converse/{task}"
    task_text = render(name, count=len(passages))
    return Prompt(system=render("converse/ranking"), shared=shared, task=task_text, hash=prompt_hash(name), agent=task)
