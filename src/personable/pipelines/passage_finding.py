"""Finding passages for an utterance: deep lists of the plain rewrite and of the personal ones, fused by the gate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from personable.board import Board
from personable.kit import Kit
from personable.pipelines.conversation import Utterance
from personable.pipelines.finding import fuse, listed, nearest, pulled
from personable.pipelines.passage_ranking import FusedRanker, PassageRanker, asked
from personable.pipelines.ranking import list_weights
from personable.types import Hit, Used

DEPTH = 100
"""Passages of each list: the source on iKAT (CEUR-WS 3784, short 3) found its top 5 candidates to be the bottleneck."""


async def find_for(
    kit: Kit,
    said: Utterance,
    statements: Sequence[Used],
    strength: float,
    board: Board,
    ranker: PassageRanker | None = None,
) -> list[Hit]:
    """The passages for what is said, best first: every one that the lists found, each once.

    A personal rewrite is the rewrite with one of the best `statements` after it, for each statement that *pulls* (see
    `finding.find`): never all in one query. Lists are fused by RRF; the plain one weighs 1, the personal ones together
    at most `strength`, 0 leaves the person out. `ranker` then orders what was fused (`FusedRanker` over the kit's
    reranker, if it has one, where none is given). The board gets every list, and the `ranked` one.

    `statements`, best first, go to the embedder and to the ranker's models: leave out those withheld from them.
    Raises ConfigurationError without a collection, ModelError where a model fails.
    """
    bare, query = replace(kit, reranker=None), asked(said)
    plain = await bare.search(query, DEPTH)
    board.post("retriever", listed("plain", query, plain[: kit.settings.passages]))
    personal = await pulled(bare, query, statements, nearest(plain), DEPTH) if strength else []
    lists = list_weights({statement.statement: pull for pull, statement, _ in personal}, strength)
    for pull, statement, hits in personal:
        weight = lists[statement.statement]
        note = listed("personal", f"{query} {statement.text}", hits[: kit.settings.passages], weight)
        board.post("retriever", note.model_copy(update={"statement": statement.statement, "pull": pull}))
    fused = fuse([plain, *(hits for _, _, hits in personal)], [1.0, *lists.values()])
    ranker = ranker or FusedRanker(kit.reranker)
    ranked = await ranker.rank(said, [statement.text for statement in statements], fused)
    board.post("retriever", listed("ranked", query, ranked[: kit.settings.candidates]))
    return ranked
