import re
from pathlib import Path

import pytest

from personable.board import Board, Cost
from personable.demo import COLLECTION, cards
from personable.errors import NotFoundError
from personable.kit import open_embedder, open_kit
from personable.notes import OrderNote, PassagesNote, RecommendationsNote
from personable.pipelines.answer import answer
from personable.pipelines.ranking import reordered
from personable.pipelines.why import in_sentences, what_if, why
from personable.retrieval.corpus import open_collection
from personable.settings import Settings
from personable.types import Question, Recommendations

ASKED = "What should I eat?"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("why")
    with open_collection(home, COLLECTION, embedder=open_embedder(Settings(home=home)), create=True) as collection:
        collection.index([cards()])
    return home


async def asked(home: Path, person: str | None, *statements: str) -> Board:
    async with await open_kit(Settings(home=home), COLLECTION) as kit:
        assert kit.people is not None
        if person is not None:
            await kit.people.add(person)
            for statement in statements:
                await kit.people.tell(person, statement)
        board = Board()
        await answer(kit, Question(text=ASKED, person=person), board=board)
    return board


DIABETES, KIDNEYS = "I have type 2 diabetes", "My kidneys are failing and I am on dialysis"


@pytest.mark.embedder
async def test_what_if_is_what_would_have_been_found(home: Path) -> None:
    both = await asked(home, "both", DIABETES, KIDNEYS)
    one = await asked(home, "one", DIABETES)
    explained = why(both)
    assert {effect.without for effect in explained.statements} == {f"“{DIABETES}”", f"“{KIDNEYS}”"}
    kidneys = next(effect.statement for effect in explained.statements if KIDNEYS in effect.without)
    real = [found.passage_id for found in reordered(one)]
    then = {moved.passage_id: moved.then for moved in what_if(both, kidneys).moved}
    assert any(place is not None for place in then.values())
    for passage, place in then.items():
        assert (real.index(passage) + 1 if passage in real else None) == place


@pytest.mark.embedder
async def test_without_the_person_passages_stand_in_the_plain_order(home: Path) -> None:
    board, plain = await asked(home, "ana", KIDNEYS), await asked(home, None)
    explained = why(board)
    assert explained.person_as_a_whole is not None
    then = {one.then: one.passage_id for one in explained.person_as_a_whole.moved}
    (first, *_) = [post.content for post in plain.all(PassagesNote)]
    assert isinstance(first, PassagesNote)
    usual = dict(enumerate((found.passage_id for found in first.found), 1))
    assert then
    assert {place: passage for place, passage in then.items() if place in usual}.items() <= usual.items()
    said = "\n".join(in_sentences(explained))
    assert "ana counted with strength" in said
    assert f"Without “{KIDNEYS}” (weight" in said
    assert re.search(r"would be \d+(st|nd|rd|th) instead of \d", said)


@pytest.mark.embedder
async def test_a_stranger_shaped_nothing(home: Path) -> None:
    explained = why(await asked(home, None))
    assert (explained.person, explained.statements, explained.weights) == (None, [], None)
    assert in_sentences(explained) == ["It was asked by nobody in particular: no person shaped the answer."]


@pytest.mark.embedder
async def test_an_order_that_a_model_made_is_said_to_be_so(home: Path) -> None:
    board = await asked(home, "bea", KIDNEYS)
    assert why(board).model_order == ""
    board.post("document ranking", OrderNote(order=[1]), cost=Cost(model="some:model", calls=1))
    explained = why(board)
    assert explained.model_order == "some:model"
    assert "cannot be recomputed" in in_sentences(explained)[-1]


@pytest.mark.embedder
async def test_a_statement_that_shaped_nothing_is_refused_and_the_others_are_named(home: Path) -> None:
    board = await asked(home, "cleo", KIDNEYS)
    (shaping,) = why(board).statements
    with pytest.raises(NotFoundError, match=f"'other' did not shape.*{shaping.statement}"):
        what_if(board, "other")


def test_a_board_without_an_answer_says_so() -> None:
    with pytest.raises(NotFoundError, match="holds no answer"):
        why(Board())


def test_a_recommendation_is_told_from_an_answer() -> None:
    board = Board()
    made = Recommendations(id=board.id, person="ana", items=[])
    board.post("ranker", RecommendationsNote(recommendations=made))
    with pytest.raises(NotFoundError, match="is a recommendation"):
        why(board)
