from hypothesis import given
from hypothesis import strategies as st

from personable.board import Board
from personable.embed import make_embedder
from personable.kit import Kit
from personable.notes import PassagesNote, PortraitNote
from personable.pipelines.finding import find, fuse
from personable.settings import Settings
from personable.types import Hit, Passage, Question, Used, Where


class Listed:
    """A retriever with a fixed list, and cosines, for each query."""

    def __init__(self, lists: dict[str, list[tuple[str, float]]]) -> None:
        self.lists = lists

    async def search(self, query: str, k: int = 10, where: Where | None = None) -> list[Hit]:
        found = self.lists.get(query, [])
        return [Hit(passage=Passage(id=name, text=name), score=1.0, features={"dense": cos}) for name, cos in found][:k]


def kit(lists: dict[str, list[tuple[str, float]]], tmp_path) -> Kit:  # type: ignore[no-untyped-def]
    return Kit(Settings(home=tmp_path), retriever=Listed(lists), embedder=make_embedder("hash:8"))


def person(*texts: str) -> PortraitNote:
    return PortraitNote(known=True, dial="auto", statements=[Used(statement=t, text=t, score=0.1) for t in texts])


LISTS = {
    "q": [("plain", 0.4), ("other", 0.3), ("mine", 0.2)],
    "q pulls": [("mine", 0.7), ("plain", 0.35)],
    "q idle": [("odd", 0.2)],
}


async def test_only_a_statement_that_the_documents_speak_to_moves_the_list(tmp_path) -> None:  # type: ignore[no-untyped-def]
    board = Board()
    hits, used = await find(kit(LISTS, tmp_path), Question(text="q"), person("idle", "pulls"), 1.0, board)
    assert [(u.text, u.score) for u in used] == [("pulls", 1.0)]
    assert [hit.passage.id for hit in hits] == ["plain", "mine", "other"]
    lists = [post.content for post in board.all(PassagesNote)]
    assert [(note.name, note.weight, note.statement) for note in lists] == [  # type: ignore[union-attr]
        ("plain", 1.0, ""),
        ("personal", 1.0, "pulls"),
        ("candidates", 1.0, ""),
    ]


async def test_without_strength_the_list_is_the_plain_one(tmp_path) -> None:  # type: ignore[no-untyped-def]
    hits, used = await find(kit(LISTS, tmp_path), Question(text="q"), person("pulls"), 0.0, Board())
    assert ([hit.passage.id for hit in hits], used) == (["plain", "other", "mine"], [])


async def test_a_weak_gate_keeps_what_is_plainly_relevant_on_top(tmp_path) -> None:  # type: ignore[no-untyped-def]
    hits, _ = await find(kit(LISTS, tmp_path), Question(text="q"), person("pulls"), 0.25, Board())
    assert hits[0].passage.id == "plain"


async def test_a_small_pull_counts_in_proportion(tmp_path) -> None:  # type: ignore[no-untyped-def]
    lists = {"q": [("a", 0.4)], "q s": [("b", 0.45)]}
    board = Board()
    _, used = await find(kit(lists, tmp_path), Question(text="q"), person("s"), 1.0, board)
    assert used[0].score == 0.2
    assert round(board.all(PassagesNote)[1].content.weight, 6) == 0.2  # type: ignore[union-attr]


ids = st.lists(st.sampled_from("abcdefgh"), unique=True, max_size=6)


@given(st.lists(ids, min_size=1, max_size=4))
def test_fusion_keeps_every_passage_once_with_its_best_features(lists: list[list[str]]) -> None:
    ranked = [
        [Hit(passage=Passage(id=i, text=i), score=1.0, features={"dense": n / 10}) for i in names]
        for n, names in enumerate(lists)
    ]
    fused = fuse(ranked, [1.0] * len(lists))
    assert sorted(hit.passage.id for hit in fused) == sorted({i for names in lists for i in names})
    for hit in fused:
        best = max(n for n, names in enumerate(lists) if hit.passage.id in names)
        assert hit.features == {"dense": best / 10}
