"""Ranking the passages that were found for an utterance: four published strategies and the project's own.

The strategies are those of a participant of TREC iKAT (CEUR-WS 3784, short 3), by their descriptions and in our own
code: S1 pairwise votes of several models over input laden with the person's best statements, S2 the same without them,
S3 a pointwise reranker, S4 a listwise language model. No cross-encoder comes with Personable: packaged embedders vote
and rerank in its place, and each ranker's `models` says which.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from personable.errors import ConfigurationError, ModelOutputError
from personable.llm.base import LanguageModel
from personable.notes import OrderNote
from personable.pipelines.answer_agents import permutation
from personable.pipelines.conversation import Utterance
from personable.pipelines.passage_voters import Voter, passages_prompt
from personable.retrieval.fusion import rrf
from personable.retrieval.rerank import Reranker
from personable.types import Hit, Passage

STATEMENTS = 3
"""The person's best statements that a strategy reads; more than these are not looked at."""
FIRST = 20
"""Candidates that a costly judge reads; those behind them keep their order."""
WINDOW, STEP = 10, 5
"""Passages that one listwise call orders, and how far the window then moves towards the top."""


class PassageRanker(Protocol):
    """Puts hits in the order in which they help an utterance."""

    @property
    def name(self) -> str:
        """The name that chooses this ranker."""

    @property
    def models(self) -> tuple[str, ...]:
        """Which models judge."""

    @property
    def remote(self) -> bool:
        """True when something that it asks is elsewhere and not trusted."""

    async def rank(self, said: Utterance, statements: Sequence[str], hits: Sequence[Hit]) -> list[Hit]:
        """All of `hits`, each once, best first; `score` is 1 / place, features say what the place was made of.

        `hits` are best first, and ties stay in that order. `statements` are the person's, best first; the ranker's
        models read them, so only those belong here that these models may see (`Kit.remote`). A model's answer that is
        no valid one counts as a draw (pairs) or leaves the order (lists); the feature `unread` then counts them. Raises
        ModelError where a model does not answer at all.
        """


def asked(said: Utterance) -> str:
    """What to search and judge by: the rewrite where there is one, else the utterance itself."""
    return said.rewrite.strip() or said.text


class PairwiseRanker:
    """S1 and S2: every voter votes on every pair, and a passage's points are its votes won, draws half (Borda's count).

    `statements` is how many of the person's best statements the input is laden with: none for S2. The first `first`
    hits take part, as a language model among the voters is asked about each pair of them.
    """

    def __init__(self, name: str, voters: Sequence[Voter], statements: int = 0, first: int = FIRST) -> None:
        if not voters:
            raise ConfigurationError("pairwise ranking needs somebody who votes: an embedder or a language model")
        self.name, self.models = name, tuple(voter.name for voter in voters)
        self.remote = any(voter.remote for voter in voters)
        self._voters, self._statements, self._first = voters, statements, first

    async def rank(self, said: Utterance, statements: Sequence[str], hits: Sequence[Hit]) -> list[Hit]:
        if len(hits) < 2:
            return placed(hits)
        passages = [hit.passage for hit in hits[: self._first]]
        cast = [await voter.votes(asked(said), statements[: self._statements], passages) for voter in self._voters]
        points = np.sum([one.shares for one in cast], axis=0).sum(axis=1).tolist()
        marks = [{"votes": value} for value in points]
        order = sorted(range(len(passages)), key=lambda place: -points[place])
        return placed(hits, order, marks, sum(one.unread for one in cast))


class PointwiseRanker:
    """S3: a reranker judges each passage by itself against the utterance; statements take no part."""

    name, remote = "pointwise", False

    def __init__(self, reranker: Reranker, first: int = FIRST) -> None:
        self.models = (reranker.name,)
        self._reranker, self._first = reranker, first

    async def rank(self, said: Utterance, statements: Sequence[str], hits: Sequence[Hit]) -> list[Hit]:
        order, marks = await _reranked(self._reranker, said, hits[: self._first])
        return placed(hits, order, marks)


class ListwiseRanker:
    """S4: a language model orders a window of passages at a time, from the end of the first `first` to the top, so that
    good ones rise through overlapping windows (Sun et al. 2023, section 3.2). It reads the best statements, too."""

    name = "listwise"

    def __init__(self, model: LanguageModel, first: int = FIRST, window: int = WINDOW, step: int = STEP) -> None:
        self.models, self.remote = (model.name,), model.remote
        self._model, self._first, self._window, self._step = model, first, window, step

    async def rank(self, said: Utterance, statements: Sequence[str], hits: Sequence[Hit]) -> list[Hit]:
        order, unread = list(range(min(len(hits), self._first))), 0
        for start in windows(len(order), self._window, self._step):
            part = order[start : start + self._window]
            numbers = await self._ordered(asked(said), statements[:STATEMENTS], [hits[at].passage for at in part])
            unread += numbers is None
            order[start : start + self._window] = [part[number - 1] for number in numbers or range(1, len(part) + 1)]
        return placed(hits, order, unread=unread)

    async def _ordered(self, query: str, statements: Sequence[str], passages: Sequence[Passage]) -> list[int] | None:
        prompt = passages_prompt("passage_order", query, statements, passages)
        try:
            reply = await self._model.write(prompt, OrderNote, 40 + 8 * len(passages))
        except ModelOutputError:
            return None
        return permutation(reply.value.order, len(passages)) if reply.value else None


class FusedRanker:
    """The project's own: the order of retrieval and that of a reranker fused by RRF, the reranker's weighing `weight`.

    Without a reranker the order of retrieval stays. The person acts before: in which lists were fused
    (`finding.find`). The weight was chosen on open questions, see `docs/benchmarks.md`.
    """

    name, remote = "default", False

    def __init__(self, reranker: Reranker | None, first: int = FIRST, weight: float = 3.0) -> None:
        self.models = (reranker.name,) if reranker else ()
        self._reranker, self._first, self._weight = reranker, first, weight

    async def rank(self, said: Utterance, statements: Sequence[str], hits: Sequence[Hit]) -> list[Hit]:
        if self._reranker is None:
            return placed(hits)
        order, marks = await _reranked(self._reranker, said, hits[: self._first])
        fused = rrf([range(len(order)), order], weights=[1.0, self._weight])
        return placed(hits, [at for at, _ in fused], marks)


def windows(count: int, window: int, step: int) -> list[int]:
    """Where the windows over `count` passages begin, the last first; the top is always in one. None for under two."""
    return [] if count < 2 else [*range(count - window, 0, -step), 0]


def placed(
    hits: Sequence[Hit],
    order: Sequence[int] = (),
    marks: Sequence[dict[str, float]] = (),
    unread: int = 0,
) -> list[Hit]:
    """`hits` in `order`, then those that it does not name; `marks` are new features of the first hits as given."""
    left = range(len(order), len(hits))
    missed = {"unread": float(unread)} if unread else {}
    return [
        hits[at].model_copy(
            update={
                "score": 1 / place,
                "features": hits[at].features | (marks[at] if at < len(marks) else {}) | missed,
            }
        )
        for place, at in enumerate([*order, *left], 1)
    ]


async def _reranked(
    reranker: Reranker, said: Utterance, hits: Sequence[Hit]
) -> tuple[list[int], list[dict[str, float]]]:
    """The places of `hits` in the reranker's order, and what it gave to each."""
    # Places stand in for ids: the caller's hits come back even if two of them bore one id.
    named = [
        hit.model_copy(update={"passage": hit.passage.model_copy(update={"id": str(at)})})
        for at, hit in enumerate(hits)
    ]
    ranked = await reranker.rerank(asked(said), named, len(named))
    order = [int(hit.passage.id) for hit in ranked]
    given = {int(hit.passage.id): hit.features for hit in ranked}
    return order, [{"rerank": given[at]["rerank"]} if "rerank" in given[at] else {} for at in range(len(hits))]
