import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest

from personable.board import Board
from personable.errors import ConfigurationError, NotFoundError, UsageError
from personable.kit import Kit
from personable.notes import PassagesNote, WeightsNote
from personable.people.learning import STEP
from personable.people.store import People
from personable.people.weights import PRIOR, Weights
from personable.pipelines.answer import answer
from personable.pipelines.feedback import feedback
from personable.pipelines.ranking import reordered
from personable.types import Answer, Question

MakeKit = Callable[..., Kit]
ASKED = Question(text="What is gout and how much water should I drink?", person="ana", dial="on")


@pytest.fixture
def kit(make_kit: MakeKit, people: People) -> Kit:
    return make_kit(people=people)


async def answered(kit: Kit, question: Question = ASKED) -> Answer:
    result = await answer(kit, question)
    assert len({one.passage_id for one in result.citations}) >= 2
    return result


async def test_a_click_is_stored_and_moves_the_weights_in_one_go(kit: Kit, people: People) -> None:
    result = await answered(kit)
    outcome = await feedback(kit, result.id, "ana", "click", passage=2)
    event = (await people.events("ana"))[-1]
    assert event == outcome.event
    assert (event.kind, event.answer, event.position) == ("click", result.id, 2)
    assert event.passage == result.citations[1].passage_id
    change = await people.weights("ana")
    assert change is not None
    assert change == outcome.change
    assert change.event == event.id
    assert change.reason == outcome.why == f"click on “{result.citations[1].title}” [2]"
    moved = Weights.read(change.values)
    assert any(abs(moved.of(name) - PRIOR[name]) > 1e-4 for name in ("sparse", "dense"))
    assert all(abs(moved.of(name) - PRIOR[name]) <= STEP for name in PRIOR)


async def test_the_next_question_uses_and_posts_the_weights(kit: Kit, people: People) -> None:
    result = await answered(kit)
    change = (await feedback(kit, result.id, "ana", "thumbs", passage=2, value=1.0)).change
    board = Board()
    await answer(kit, ASKED, board=board)
    note = board.latest(WeightsNote)
    assert note is not None
    assert change is not None
    assert note.version == change.id
    assert note.values["dense"] == pytest.approx(change.values["dense"], rel=1e-6)
    lists = {p.content.name: p.content.found for p in board.all(PassagesNote) if isinstance(p.content, PassagesNote)}
    assert reordered(board) == lists["candidates"]
    assert [one.passage_id for one in lists["fused"]] == [one.passage_id for one in lists["candidates"]][:5]


async def test_who_gave_no_feedback_has_no_weights_on_the_board_and_the_plain_fused_order(kit: Kit) -> None:
    board = Board()
    await answer(kit, ASKED, board=board)
    assert board.latest(WeightsNote) is None
    assert [one.features["fused"] for one in reordered(board)] == list(range(1, len(reordered(board)) + 1))


async def test_a_judgement_weighs_more_than_a_click_at_the_top(kit: Kit, people: People) -> None:
    result = await answered(kit)
    liked = (await feedback(kit, result.id, "ana", "thumbs", passage=1, value=1.0)).change
    await people.roll_back_weights("ana", "start")
    opened = (await feedback(kit, result.id, "ana", "click", passage=1)).change
    assert liked is not None
    assert opened is not None

    def distance(values: dict[str, float]) -> float:
        return sum(abs(values[name] - PRIOR[name]) for name in PRIOR)

    assert distance(liked.values) > distance(opened.values) > 0


async def test_a_thumb_down_and_no_interest_push_the_other_way(kit: Kit, people: People) -> None:
    result = await answered(kit)
    up = (await feedback(kit, result.id, "ana", "thumbs", passage=1, value=1.0)).change
    await people.roll_back_weights("ana", "start")
    down = (await feedback(kit, result.id, "ana", "not interested", passage=1)).change
    assert up is not None
    assert down is not None
    name = max(("sparse", "dense"), key=lambda name: abs(up.values[name] - PRIOR[name]))
    assert (up.values[name] - PRIOR[name]) * (down.values[name] - PRIOR[name]) < 0
    event = (await people.events("ana"))[-1]
    assert (event.kind, event.value, event.text) == ("thumbs", -1.0, "not interested")


@pytest.mark.parametrize(
    ("kind", "given"),
    [("comment", {"text": "too long"}), ("rating", {"value": 3.0}), ("rating", {"value": 3.0, "passage": 1})],
)
async def test_what_prefers_nothing_is_stored_and_teaches_nothing(
    kit: Kit, people: People, kind: Any, given: dict[str, Any]
) -> None:
    result = await answered(kit)
    outcome = await feedback(kit, result.id, "ana", kind, **given)
    assert outcome.change is None
    assert "nothing new to learn" in outcome.why
    assert (await people.events("ana"))[-1] == outcome.event
    assert await people.weights("ana") is None


async def test_saying_the_same_twice_counts_once_and_changing_ones_mind_counts(kit: Kit, people: People) -> None:
    result = await answered(kit)
    for kind, given in (("click", {}), ("thumbs", {"value": 1.0})):
        before = len(await people.weight_history("ana"))
        for _ in range(3):
            await feedback(kit, result.id, "ana", kind, passage=2, **given)  # type: ignore[arg-type]
        assert len(await people.weight_history("ana")) == before + 1
    await feedback(kit, result.id, "ana", "thumbs", passage=2, value=-1.0)
    assert len(await people.weight_history("ana")) == 3


async def test_a_rating_of_the_whole_answer_compares_what_it_cites_with_the_rest(kit: Kit) -> None:
    result = await answered(kit)
    good = await feedback(kit, result.id, "ana", "rating", value=5.0)
    assert good.change is not None
    assert good.why == "5 of 5 for the whole answer"


async def test_feedback_at_the_same_time_loses_no_lesson(kit: Kit, people: People) -> None:
    results = [await answered(kit) for _ in range(4)]
    await asyncio.gather(*(feedback(kit, one.id, "ana", "thumbs", passage=2, value=1.0) for one in results))
    history = await people.weight_history("ana")
    assert len(history) == 4
    assert len({one.event for one in history}) == 4
    steps = [abs(one.values["dense"] - PRIOR["dense"]) for one in history]
    assert steps == sorted(steps)
    assert steps[-1] > steps[0]


async def test_every_lesson_is_undone_one_after_the_other(kit: Kit, people: People) -> None:
    results = [await answered(kit) for _ in range(3)]
    changes = [(await feedback(kit, one.id, "ana", "thumbs", passage=2, value=1.0)).change for one in results]
    assert all(changes)
    for kept in (changes[1], changes[0]):
        assert (await people.undo_weights("ana")).values == kept.values  # type: ignore[union-attr]
    assert (await people.undo_weights("ana")).values == {}
    with pytest.raises(UsageError, match="nothing to undo"):
        await people.undo_weights("ana")
    assert len(await people.weight_history("ana")) == 6
    await people.roll_back_weights("ana", changes[2].id)  # type: ignore[union-attr]
    assert (await people.undo_weights("ana")).values == changes[1].values  # type: ignore[union-attr]


@pytest.mark.parametrize("setting", [{"dial": "off"}, {"learned": "off"}])
async def test_who_wants_nothing_learnt_gets_nothing_learnt(kit: Kit, people: People, setting: dict[str, Any]) -> None:
    result = await answered(kit)
    await people.set("ana", **setting)
    outcome = await feedback(kit, result.id, "ana", "click", passage=2)
    assert outcome.change is None
    assert "as the person wants it" in outcome.why
    assert await people.weights("ana") is None
    assert (await people.events("ana"))[-1] == outcome.event


@pytest.mark.parametrize(
    ("kind", "given", "message"),
    [
        ("click", {}, "which passage"),
        ("not interested", {}, "which passage"),
        ("click", {"passage": 99}, "has no passage 99; its passages are 1 to"),
        ("click", {"passage": 0}, "has no passage 0"),
        ("thumbs", {"value": 2.0}, "up \\(1\\) or down \\(-1\\)"),
        ("thumbs", {}, "up \\(1\\) or down \\(-1\\)"),
        ("rating", {"value": 6.0}, "from 1 to 5"),
        ("rating", {}, "from 1 to 5"),
        ("rating", {"value": float("nan")}, "from 1 to 5"),
        ("comment", {"text": "  "}, "comment is empty"),
        ("comment", {"text": "zero \0"}, "zero character"),
        ("comment", {"text": "half \ud800"}, "surrogate"),
        ("comment", {"text": "x" * 1_000_001}, "1,000,001 characters"),
        ("shrug", {}, "is no feedback; it is one of"),
    ],
)
async def test_feedback_that_makes_no_sense_is_refused_and_stores_nothing(
    kit: Kit, people: People, kind: Any, given: dict[str, Any], message: str
) -> None:
    result = await answered(kit)
    before = await people.export("ana")
    with pytest.raises(UsageError, match=message):
        await feedback(kit, result.id, "ana", kind, **given)
    assert await people.export("ana") == before


async def test_nobody_gives_feedback_on_the_answer_of_another(kit: Kit, people: People) -> None:
    await people.add("bob")
    hers = await answered(kit)
    nobodys = await answer(kit, ASKED.model_copy(update={"person": None}))
    before = await people.export("ana")
    for id in (hers.id, nobodys.id, "no such"):
        with pytest.raises(NotFoundError, match="no answer"):
            await feedback(kit, id, "bob", "thumbs", value=1.0)
    assert await people.export("ana") == before
    assert await people.weights("bob") is None


async def test_weights_of_one_do_not_touch_the_order_of_another(kit: Kit, people: People) -> None:
    await people.add("bob")
    before = Board()
    await answer(kit, ASKED.model_copy(update={"person": "bob"}), board=before)
    for _ in range(5):
        await feedback(kit, (await answered(kit)).id, "ana", "thumbs", passage=2, value=1.0)
    after = Board()
    await answer(kit, ASKED.model_copy(update={"person": "bob"}), board=after)
    assert [one.passage_id for one in reordered(after)] == [one.passage_id for one in reordered(before)]
    assert after.latest(WeightsNote) is None
    assert "won " not in json.dumps(await people.export("bob"))


async def test_a_kit_without_people_says_so(make_kit: MakeKit) -> None:
    with pytest.raises(ConfigurationError, match="store of people"):
        await feedback(make_kit(), "a", "ana", "thumbs", value=1.0)
