"""Which earlier turns of a conversation a model elsewhere may read: those that it was sent before, and no others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pydantic import BaseModel

from personable.board import Board
from personable.errors import ModelError, ModelTimeoutError
from personable.kit import Kit
from personable.llm.base import Prompt
from personable.llm.fallback import FallbackModel
from personable.llm.scripted import ScriptedModel
from personable.notes import FeedbackNote, HistoryNote, OrderNote, RewriteNote
from personable.people.store import People
from personable.pipelines.converse import converse
from personable.pipelines.passage_ranking import ListwiseRanker
from personable.types import Question

MakeKit = Callable[..., Kit]
REPLY = "Gout is a painful form of arthritis [1]."


async def asking(people: People) -> Callable[[str], Question]:
    """Questions of one session."""
    session = await people.open_session("ana")
    return lambda text: Question(text=text, person="ana", session=session)


class Switched(ScriptedModel):
    """A model that can be switched off; what it is asked then fails after it was sent."""

    on = True
    error = ModelError("switched off")

    def __init__(self, name: str, remote: bool) -> None:
        names = {"RewriteNote": RewriteNote(text="Is gout painful?"), "FeedbackNote": FeedbackNote(ask="How old?")}

        def line(prompt: Prompt, output: type[BaseModel] | None) -> Any:
            return (names[output.__name__] if output else REPLY) if self.on else self.error

        super().__init__(line, name=name, remote=remote)

    @property
    def read(self) -> str:
        return " ".join(prompt.model_dump_json() for prompt in self.prompts)


async def _costs(people: People, id: str) -> set[tuple[str, tuple[str, ...]]]:
    posts = Board.from_json((await people.answer(id, "ana")).board).all()
    return {(post.cost.model, post.cost.elsewhere) for post in posts if post.cost.calls}


async def test_a_fallback_elsewhere_reads_no_turn_that_only_the_first_model_saw(
    make_kit: MakeKit, people: People
) -> None:
    ask = await asking(people)
    here, there = Switched("here", False), Switched("there", True)
    kit = make_kit(FallbackModel(here, there), people)
    first = await converse(kit, ask("Is my secretrash gout?"))
    assert await _costs(people, first.id) == {("here", ())}
    here.on = False
    second = await converse(kit, ask("Is walking good for gout?"))
    assert there.prompts
    assert {elsewhere for _, elsewhere in await _costs(people, second.id)} == {("there",)}
    await converse(kit, ask("Is it painful?"))
    assert "secretrash" not in there.read
    assert "Is walking good" in there.prompts[-1].shared, "that it was asked about before"


async def test_a_model_elsewhere_that_failed_was_asked(make_kit: MakeKit, people: People) -> None:
    ask = await asking(people)
    there, here = Switched("there", True), Switched("here", False)
    there.on = False
    kit = make_kit(FallbackModel(there, here), people)
    first = await converse(kit, ask("Is walking good for gout?"))
    assert await _costs(people, first.id) == {("here", ("there",))}
    there.on = True
    await converse(kit, ask("Is it painful?"))
    assert "Is walking good" in there.prompts[-1].shared


async def test_a_model_elsewhere_that_was_cut_off_may_not_have_read_the_turn(make_kit: MakeKit, people: People) -> None:
    ask = await asking(people)
    there = Switched("there", True)
    there.on, there.error = False, ModelTimeoutError("no answer yet")
    kit = make_kit(there, people)
    first = await converse(kit, ask("Is my secretrash gout?"))
    assert await _costs(people, first.id) == {("there", ("there",))}, "it may have been sent"
    asked, there.on = len(there.prompts), True
    await converse(kit, ask("Is it painful?"))
    read = [prompt.model_dump_json() for prompt in there.prompts[asked:]]
    assert read
    assert not any("secretrash" in prompt for prompt in read)


async def test_of_two_models_elsewhere_both_must_know_a_turn(make_kit: MakeKit, people: People) -> None:
    ask = await asking(people)
    one, two = Switched("one", True), Switched("two", True)
    kit = make_kit(FallbackModel(one, two), people)
    await converse(kit, ask("Is my secretrash gout?"))
    one.on = False
    await converse(kit, ask("Is it painful?"))
    assert two.prompts
    assert "secretrash" not in two.read


async def test_a_ranker_elsewhere_of_which_nobody_knows_what_it_was_sent_reads_no_turn(
    make_kit: MakeKit, people: People
) -> None:
    ask, board = await asking(people), Board()
    there, ranker = Switched("there", True), ScriptedModel(OrderNote(order=[1, 2]), name="ranker", remote=True)
    kit = make_kit(there, people)
    await converse(kit, ask("Is my secretrash gout?"))
    await converse(kit, ask("What is gout?"), passage_ranker=ListwiseRanker(ranker), board=board)
    history = board.latest(HistoryNote)
    assert history is not None
    assert (history.turns, history.withheld) == ([], 1)
    assert ranker.prompts
    costs = {post.cost for post in board.all() if post.cost.model == ranker.name}
    assert [(cost.calls, cost.elsewhere, cost.answered) for cost in costs] == [(1, ("ranker",), ())]
    assert "secretrash" not in " ".join(prompt.model_dump_json() for prompt in ranker.prompts)
