from __future__ import annotations

from pathlib import Path

import pytest

from personable.board import Board
from personable.embed import make_embedder
from personable.errors import ConfigurationError
from personable.kit import Kit
from personable.notes import PassagesNote
from personable.pipelines.conversation import Utterance
from personable.pipelines.passage_finding import DEPTH, find_for
from personable.retrieval.rerank import EmbeddingReranker
from personable.settings import Settings
from personable.types import Hit, Passage, Used, Where

SAID = Utterance(text="and that?", rewrite="q")
LISTS = {
    "q": [("plain", 0.4), ("other", 0.3), ("mine", 0.2)],
    "q pulls": [("mine", 0.7), ("plain", 0.35), ("only mine", 0.3)],
    "q idle": [("odd", 0.2)],
}


class Listed:
    """A retriever with a fixed list, and cosines, for each query."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, int]] = []

    async def search(self, query: str, k: int = 10, where: Where | None = None) -> list[Hit]:
        self.asked.append((query, k))
        found = LISTS.get(query, [])
        return [Hit(passage=Passage(id=name, text=name), score=1.0, features={"dense": cos}) for name, cos in found][:k]


def kit(home: Path, reranker: str | None = None) -> Kit:
    embedder = make_embedder("hash:64")
    judge = EmbeddingReranker(make_embedder(reranker)) if reranker else None
    return Kit(Settings(home=home), retriever=Listed(), embedder=embedder, reranker=judge)


def used(*texts: str) -> list[Used]:
    return [Used(statement=f"id of {text}", text=text, score=0.5) for text in texts]


async def test_strength_decides_how_far_the_person_moves_the_list(tmp_path: Path) -> None:
    orders = {}
    for strength in (0.0, 0.25, 1.0):
        hits = await find_for(kit(tmp_path), SAID, used("idle", "pulls"), strength, Board())
        orders[strength] = [hit.passage.id for hit in hits]
    assert orders[0.0] == ["plain", "other", "mine"]
    assert orders[0.25] == ["plain", "mine", "other", "only mine"]
    assert orders[1.0] == ["plain", "mine", "other", "only mine"]


async def test_without_strength_no_statement_is_searched_for(tmp_path: Path) -> None:
    own = kit(tmp_path)
    await find_for(own, SAID, used("pulls"), 0.0, Board())
    assert own.retriever.asked == [("q", DEPTH)]  # type: ignore[union-attr]


async def test_the_board_shows_every_list(tmp_path: Path) -> None:
    board = Board()
    await find_for(kit(tmp_path), SAID, used("idle", "pulls"), 0.5, board)
    notes = board.notes(PassagesNote)
    assert [(note.name, note.query, note.weight, note.statement) for note in notes] == [
        ("plain", "q", 1.0, ""),
        ("personal", "q pulls", 0.5, "id of pulls"),
        ("ranked", "q", 1.0, ""),
    ]
    assert notes[1].pull == pytest.approx(0.3)


async def test_the_reranker_reads_the_fused_list_once(tmp_path: Path) -> None:
    hits = await find_for(kit(tmp_path, "hash:64"), Utterance(text="only mine"), used("pulls"), 1.0, Board())
    assert hits == []
    hits = await find_for(kit(tmp_path, "hash:64"), SAID, used("pulls"), 1.0, Board())
    assert sorted(hit.passage.id for hit in hits) == ["mine", "only mine", "other", "plain"]
    assert all("rerank" in hit.features for hit in hits)


async def test_five_hundred_statements_cost_twelve_searches(tmp_path: Path) -> None:
    own = kit(tmp_path)
    await find_for(own, SAID, used(*(f"s{n}" for n in range(500))), 1.0, Board())
    assert len(own.retriever.asked) == 13  # type: ignore[union-attr]


async def test_without_a_collection(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="no collection to search"):
        await find_for(Kit(Settings(home=tmp_path)), SAID, [], 0.0, Board())
