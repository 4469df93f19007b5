import random
from pathlib import Path

import pytest

from personable.board import Board
from personable.embed import make_embedder
from personable.kit import Kit
from personable.notes import Found, PassagesNote, PortraitNote, QuestionNote, RewriteNote, WeightsNote
from personable.people.weights import Weights
from personable.pipelines.finding import find
from personable.pipelines.gate import gate
from personable.pipelines.ranking import candidates, evidence, reordered
from personable.settings import Settings
from personable.types import Hit, Passage, Question, Used, Where

ASKED = Question(text="Should I?", person="ana")
STATEMENTS = {"s0": 0.1, "s1": 0.3, "s2": 0.05}
"""Statements and by how much (cosine) they pull."""
LEARNT = Weights(
    values={"sparse": 0.2, "dense": 1.9, "statements": 2.0, "session": 0.8, "source": 1.2},
    won={"source:even": 3.0, "type:md": 1.0},
    lost={"source:odd": 4.0},
    gain=30.0,
    spread=20.0,
)


class Shuffled:
    """A retriever over 20 passages: the order depends on the query, the nearest passage on the statement in it."""

    async def search(self, query: str, k: int = 10, where: Where | None = None) -> list[Hit]:
        names = [f"p{n}" for n in range(20)]
        random.Random(query).shuffle(names)
        pull = next((pull for name, pull in STATEMENTS.items() if name in query), 0.0)
        hits = []
        for place, name in enumerate(names[:12]):
            source = "even" if int(name[1:]) % 2 == 0 else "odd"
            features = {"sparse": 12.0 - place, "dense": (0.4 + pull) * (1 - place / 20)}
            passage = Passage(id=name, text=name, source=f"{source}/{name}.md")
            hits.append(Hit(passage=passage, score=1 / (place + 1), features=features))
        return hits[:k]


@pytest.fixture
def kit(tmp_path: Path) -> Kit:
    return Kit(Settings(home=tmp_path), retriever=Shuffled(), embedder=make_embedder("hash:8"))


async def asked(kit: Kit, weights: Weights | None = None, strength: float | None = None, *without: str) -> Board:
    """A board on which passages were found for ASKED."""
    board = Board()
    board.post("person", QuestionNote(question=ASKED))
    said = [Used(statement=name, text=name, score=0.3 + pull) for name, pull in STATEMENTS.items()]
    left = [one for one in said if one.statement not in without]
    person = PortraitNote(known=True, dial="on", statements=left, need="Walking")
    if weights is not None:
        board.post("person", WeightsNote(values=weights.stored(), version="c1"))
    board.post("person", person)
    note = gate(ASKED.text, person)
    note = note.model_copy(update={"strength": note.strength if strength is None else strength})
    board.post("gate", note)
    await find(kit, ASKED, person, note.strength, board)
    return Board.from_json(board.to_json())


def posted(board: Board, name: str = "candidates") -> list[Found]:
    notes = [p.content for p in board.all(PassagesNote)]
    return next(note.found for note in notes if isinstance(note, PassagesNote) and note.name == name)


@pytest.mark.parametrize("weights", [None, Weights(), LEARNT])
@pytest.mark.parametrize("strength", [0.0, 0.4, 1.0])
async def test_the_posted_order_is_recomputed_exactly_from_the_board(
    kit: Kit, weights: Weights | None, strength: float
) -> None:
    board = await asked(kit, weights, strength)
    assert reordered(board) == posted(board)
    assert len(posted(board)) >= 12


async def test_learnt_weights_move_the_order_and_without_them_it_is_the_plain_one(kit: Kit) -> None:
    plain, own = await asked(kit), await asked(kit, LEARNT)
    assert [one.passage_id for one in posted(own)] != [one.passage_id for one in posted(plain)]
    assert [one.passage_id for one in reordered(own, weights=Weights())] == [one.passage_id for one in posted(plain)]
    assert [one.passage_id for one in candidates(own)] == [one.passage_id for one in posted(plain)]


async def test_with_a_closed_gate_the_order_is_the_plain_list(kit: Kit) -> None:
    board = await asked(kit, LEARNT)
    plain = posted(board, "plain")
    shut = reordered(board, strength=0.0)
    assert [one.passage_id for one in shut][: len(plain)] == [one.passage_id for one in plain]


@pytest.mark.parametrize("statement", ["s0", "s1", "s2"])
@pytest.mark.parametrize("weights", [None, LEARNT])
async def test_without_a_statement_is_what_would_have_been_found_without_it(
    kit: Kit, statement: str, weights: Weights | None
) -> None:
    board = await asked(kit, weights)
    lists = {p.content.statement for p in board.all(PassagesNote) if isinstance(p.content, PassagesNote)}
    assert statement in lists
    anew = posted(await asked(kit, weights, None, statement))
    found = reordered(board, without=statement)
    assert [one.passage_id for one in found] == [one.passage_id for one in anew]
    assert [one.score for one in found] == pytest.approx([one.score for one in anew])


@pytest.mark.parametrize("statement", ["s0", "s1", "s2"])
async def test_in_a_conversation_the_gate_is_asked_again_with_what_was_meant(kit: Kit, statement: str) -> None:
    board = await asked(kit)
    turn = Board(posts=board.all())
    turn.post("person", QuestionNote(question=Question(text="And that?")))
    for text in ("Or this?", ASKED.text):
        turn.post("rewriting", RewriteNote(text=text))
    assert reordered(turn, without=statement) == reordered(board, without=statement)


async def test_a_statement_that_had_no_list_is_named(kit: Kit) -> None:
    with pytest.raises(ValueError, match="'s9'"):
        reordered(await asked(kit), without="s9")


def test_a_board_without_a_person_has_no_candidates() -> None:
    assert reordered(Board()) == []


@pytest.mark.parametrize(
    ("passage", "names"),
    [
        (Passage(id="1", text="", source="https://www.nhs.uk/gout?x=1"), {"source:www.nhs.uk"}),
        (Passage(id="1", text="", source="/home/ana/papers/a b.PDF"), {"source:papers", "type:pdf"}),
        (Passage(id="1", text="", source="cards.csv", meta={"site": "NIDDK", "type": "treatment"}),
         {"source:NIDDK", "type:treatment"}),
        (Passage(id="1", text="", meta={"source": "a\nb\u2028c" + "x" * 300}), {"source:a b c" + "x" * 95}),
        (Passage(id="1", text="", meta={"source": " ", "date": "soon"}), set()),
        (Passage(id="1", text="", source="http://[bad", meta={"year": 2019}), {"source:[bad", "freshness"}),
    ],
)  # fmt: skip
def test_what_a_passage_is(passage: Passage, names: set[str]) -> None:
    assert set(evidence(passage, Weights())) == names


@pytest.mark.parametrize(
    ("date", "year"), [("2020-01-01", 2020.0), ("2020-12-31T10:00:00Z", 2020.9973), (2019, 2019.0), ("1850", 1850.0)]
)
def test_a_date_becomes_a_year(date: str | int, year: float) -> None:
    assert evidence(Passage(id="1", text="", meta={"date": date}), Weights()) == {"freshness": year}


def test_affinities_are_the_persons() -> None:
    found = evidence(Passage(id="1", text="", source="even/1.md"), LEARNT)
    assert found == {"source:even": LEARNT.affinity("source:even"), "type:md": LEARNT.affinity("type:md")}
    assert found["source:even"] > 0
