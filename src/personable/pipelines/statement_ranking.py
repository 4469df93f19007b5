"""Ranking a person's statements for an utterance: the project's own ranker, and the published cascade.

The cascade (SR_FML) is that of a participant of TREC iKAT (CEUR-WS 3784, short 3), by its description and in our own
code. Its equation is illegible in our source, so `weights` is our reading of it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import numpy as np

from personable.pipelines.conversation import StatementRanker, Utterance

NEAR = 5
"""k of reciprocal rank fusion: with ten statements the usual 60 would make all places alike. 1, 3, 5, 10 and 60 were
seen on the training topics of TREC iKAT 2023."""
LEAST = 0.01
"""What the best statement scores at least, so that an order remains where nothing is near."""
KEPT_FROM = 0.4
"""What the cascade's classifier keeps: about two thirds of the statements (0.2 to 0.5 were seen in training)."""
CHOSEN_ABOVE = 0.65


class Fused:
    """The default: reciprocal rank fusion (Cormack et al. 2009) of several voters.

    Places say nothing about whether any statement matters at all, so the scores are scaled by the highest one that the
    first voter gave: what all put first scores as much as that.
    """

    def __init__(self, name: str, voters: Sequence[StatementRanker]) -> None:
        self.name, self._voters = name, voters
        self.remote = any(voter.remote for voter in voters)

    async def scores(self, said: Utterance, statements: Sequence[str]) -> list[float]:
        if not statements:
            return []
        given = await asyncio.gather(*(voter.scores(said, statements) for voter in self._voters))
        shares = (NEAR + 1) / (NEAR + np.array([ranks(one) for one in given], dtype=np.float64))
        return [float(value) for value in shares.mean(axis=0) * max(*given[0], LEAST)]


class Cascade:
    """SR_FML: a classifier keeps candidates, a pointwise and a listwise ranker order them, and a statement is chosen
    that has two of the three votes and `weights` above 0.65.

    The classifier votes for what it keeps, each ranker for its upper half. Chosen statements score 0.5 + w / 2, others
    that were kept w / 2, what the classifier dropped 0; all scaled by the pointwise ranker's highest score, since
    places do not say whether any statement matters.
    """

    def __init__(
        self, name: str, classifier: StatementRanker, pointwise: StatementRanker, listwise: StatementRanker
    ) -> None:
        self.name = name
        self.remote = classifier.remote or pointwise.remote or listwise.remote
        self._classifier, self._pointwise, self._listwise = classifier, pointwise, listwise

    async def scores(self, said: Utterance, statements: Sequence[str]) -> list[float]:
        likely = await self._classifier.scores(said, statements)
        kept = [at for at, chance in enumerate(likely) if chance >= KEPT_FROM]
        texts = [statements[at] for at in kept]
        near = await self._pointwise.scores(said, texts)
        point = ranks(near)
        # A model that orders windows starts from the pointwise order: what it leaves alone stays there.
        order = sorted(range(len(texts)), key=lambda at: point[at])
        given = await self._listwise.scores(said, [texts[at] for at in order])
        placed = dict(zip(order, ranks(given), strict=True))
        found = [0.0] * len(statements)
        for at, first, second in zip(kept, point, (placed[at] for at in range(len(kept))), strict=True):
            found[at] = fused(first, second, len(kept)) * max(*near, LEAST)
        return found


def fused(pointwise: int, listwise: int, count: int) -> float:
    """The cascade's score of a kept statement by its two ranks (from 1) among `count`."""
    weight = weights(pointwise, listwise, count)
    votes = 1 + (2 * pointwise <= count + 1) + (2 * listwise <= count + 1)
    return weight / 2 + 0.5 * (votes >= 2 and weight > CHOSEN_ABOVE)


def weights(pointwise: int, listwise: int, count: int) -> float:
    """w(s) = 1 - (rank_pointwise + rank_listwise - 2) / (2 |S|), ranks from 1 among the |S| kept: 1 / |S| to 1."""
    return 1 - (pointwise + listwise - 2) / (2 * count)


def ranks(scores: Sequence[float]) -> list[int]:
    """The rank (from 1) of each score, highest first; equal scores in their order."""
    order = sorted(range(len(scores)), key=lambda at: -scores[at])
    found = [0] * len(scores)
    for place, at in enumerate(order, 1):
        found[at] = place
    return found
