"""Forgetting a statement takes its words out of stored answers and boards, which stay readable."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter

from personable.board import Board
from personable.errors import NotFoundError
from personable.item_notes import DeedsNote
from personable.kit import Kit
from personable.llm.scripted import ScriptedModel
from personable.notes import (
    AnyNote,
    DigestNote,
    HistoryNote,
    PassagesNote,
    PortraitNote,
    ProfileNote,
    QueriesNote,
    RewriteNote,
)
from personable.people.redaction import MARK, STRUCTURE, Wording
from personable.people.store import People
from personable.pipelines.answer import answer
from personable.pipelines.converse import converse
from personable.types import Answer, Question, Used
from tests.pipelines.test_answer import AGENTS

MakeKit = Callable[..., Kit]
SECRET = "I have the zanzibar kind of lactose intolerance"


async def asked(make_kit: MakeKit, people: People, text: str = "What should I eat?") -> Answer:
    said = "The person says: I HAVE the  zanzibar kind of lactose\nintolerance!"
    agents = {**AGENTS, "live session": {"kind": "session", "need": said, "next_questions": []}}
    agents |= {"contextual retrieval": QueriesNote(queries=[f"food for: {SECRET}"])}
    model = ScriptedModel({**agents, "cognitive": f"{SECRET}. Yogurt may help [1]."})  # type: ignore[dict-item]
    return await answer(make_kit(model, people), Question(text=text, person="ben", session="s", dial="on"))


async def test_the_words_leave_and_boards_still_load(make_kit: MakeKit, people: People, tmp_path: Path) -> None:
    await people.add("ben")
    statement = await people.tell("ben", f"{SECRET}.")
    plain = await people.tell("ben", "I like lentils")
    result = await asked(make_kit, people, f"{SECRET}. What should I eat?")
    assert "zanzibar" in json.dumps(await people.export("ben"))
    before = Board.from_json((await people.answer(result.id, "ben")).board)
    await people.forget("ben", statement.id)

    held = json.dumps(await people.export("ben"), ensure_ascii=False)
    assert "zanzibar" not in held.casefold()
    kept = await people.answer(result.id, "ben")
    redacted, board = Answer.model_validate_json(kept.answer), Board.from_json(kept.board)
    assert (redacted.id, redacted.question) == (result.id, f"{MARK}. What should I eat?")
    assert [(post.id, post.role, post.kind, post.cost) for post in board.all()] == [
        (post.id, post.role, post.kind, post.cost) for post in before.all()
    ]
    portrait, queries, digest = board.latest(PortraitNote), board.latest(QueriesNote), board.latest(DigestNote)
    assert portrait is not None
    assert queries is not None
    assert digest is not None
    assert {one.text for one in portrait.statements} == {f"{MARK}.", plain.text}
    assert queries.queries == [f"food for: {MARK}"]
    assert f"Their need now: The person says: {MARK}!" in digest.text
    found = [post.content.found for post in board.all(PassagesNote)]  # type: ignore[union-attr]
    assert found == [post.content.found for post in before.all(PassagesNote)]  # type: ignore[union-attr]
    files = b"".join(path.read_bytes() for path in tmp_path.glob("people.db*"))
    assert b"zanzibar" not in files.lower()


async def test_what_is_forgotten_while_an_answer_is_under_way_does_not_come_back(
    make_kit: MakeKit, people: People
) -> None:
    await people.add("ben")
    statement = await people.tell("ben", SECRET, sensitive=False)
    await people.tell("ben", "I like lentils", sensitive=False)

    class Forgetful(ScriptedModel):
        asked = False

        async def _answer(self, *given: Any) -> Any:
            if not self.asked:
                self.asked = True
                await people.forget("ben", statement.id)
            return await super()._answer(*given)

    agents = {
        **AGENTS,
        "user profile": ProfileNote(summary="", proposed=[SECRET]),
        "cognitive": f"{SECRET}. Yogurt [1].",
    }
    question = Question(text=f"{SECRET}. What should I eat?", person="ben", session="s", dial="on")
    result = await answer(make_kit(Forgetful(agents), people), question)  # type: ignore[arg-type]

    kept = await people.answer(result.id, "ben")
    portrait = Board.from_json(kept.board).latest(PortraitNote)
    assert portrait is not None
    assert {one.text for one in portrait.statements} == {MARK, "I like lentils"}
    held = await people.export("ben")
    assert "zanzibar" not in json.dumps(held).casefold()
    assert [turn["question"] for turn in held["turns"]] == [f"{MARK}. What should I eat?"]
    assert [one["text"] for one in held["statements"]] == ["I like lentils"]


async def test_a_recommendation_under_way_does_not_keep_it_either(people: People) -> None:
    statement = await people.tell("ana", SECRET)
    other = await people.tell("ana", "I like lentils")
    board = Board("r")
    board.post("person", DeedsNote(said=[Used(statement=one.id, text=one.text) for one in (statement, other)]))
    result = json.dumps({"id": "r", "reasons": [{"text": f"you said: {SECRET}", "statement": statement.id}]})
    await people.forget("ana", statement.id)
    await people.save_answer("r", "ana", None, result, board.to_json())
    kept = await people.answer("r", "ana")
    deeds = Board.from_json(kept.board).latest(DeedsNote)
    assert deeds is not None
    assert [one.text for one in deeds.said] == [MARK, "I like lentils"]
    assert json.loads(kept.answer)["reasons"][0]["text"] == f"you said: {MARK}"


async def test_nor_does_one_that_has_the_words_from_earlier_turns(make_kit: MakeKit, people: People) -> None:
    """The statement was only proposed: the answer under way was not given it, but it was said in a turn before."""
    session, asked = await people.open_session("ana"), "And what does it do to bones?"
    await converse(make_kit(people=people), Question(text=f"{SECRET}. What is gout?", person="ana", session=session))
    (proposed,) = await people.statements("ana", ("proposed",))
    assert "zanzibar" in proposed.text
    await people.edit("ana", proposed.id, "I have the zebra kind")

    class Forgetful(ScriptedModel):
        async def _answer(self, *given: Any) -> Any:
            with contextlib.suppress(NotFoundError):
                await people.forget("ana", proposed.id)
            return await super()._answer(*given)

    model = Forgetful({"rewriting": RewriteNote(text=asked), "responder": "It hurts [1]."})
    result = await converse(make_kit(model, people), Question(text=asked, person="ana", session=session))
    kept = await people.answer(result.id, "ana")
    history = Board.from_json(kept.board).latest(HistoryNote)
    assert history is not None
    assert [turn.utterance for turn in history.turns] == [f"{MARK}. What is gout?"]
    assert "zanzibar" not in json.dumps(await people.export("ana")).casefold()


async def test_undoing_the_first_change_takes_the_words_out_of_the_file_too(people: People, tmp_path: Path) -> None:
    statement = await people.tell("ana", SECRET)
    assert b"zanzibar" in b"".join(path.read_bytes() for path in tmp_path.glob("people.db*"))
    assert await people.undo("ana", statement.id) is None
    assert b"zanzibar" not in b"".join(path.read_bytes() for path in tmp_path.glob("people.db*"))


async def test_what_others_said_stays(make_kit: MakeKit, people: People) -> None:
    await people.add("ben")
    await people.add("carl")
    mine = await people.tell("ben", SECRET)
    await people.tell("carl", SECRET)
    await people.add_turn("carl", "s", SECRET, "No.", "a")
    before = await people.export("carl")
    await people.forget("ben", mine.id)
    assert await people.export("carl") == before


async def test_a_statement_that_was_cut_at_a_length_limit_leaves_too(people: People) -> None:
    long = "I keep a diary of everything that I eat: " + "beans and rice, " * 60
    statement = await people.tell("ana", long)
    await people.add_turn("ana", "s", f"You know this: {long[:300]}", "Yes.")
    await people.forget("ana", statement.id)
    assert [turn.question for turn in await people.turns("ana", "s")] == [f"You know this: {MARK}"]


@pytest.mark.parametrize(
    ("statement", "text", "left"),
    [
        ("I can't eat nuts", "Since I CAN’T  eat\nnuts, no.", "Since [forgotten], no."),
        ("tea", "steal tea. Tea!", "steal [forgotten]. [forgotten]!"),
        ("我对青霉素过敏。", "她说我对青霉素过敏了", "她说[forgotten]了"),
        ("I am (very) [tall] \\d+", "x I am (very) [tall] \\d+ y", "x [forgotten] y"),
        ("I am tall", "nothing of the kind", "nothing of the kind"),
    ],
)
def test_however_it_is_written(statement: str, text: str, left: str) -> None:
    assert Wording([statement]).without(text) == left


def test_no_statement_can_break_a_board() -> None:
    """Every field with fixed choices is kept as it is: a statement may say just what one of them says."""
    schema = TypeAdapter(AnyNote).json_schema()
    fields = {name: one for kind in schema["$defs"].values() for name, one in kind.get("properties", {}).items()}
    chosen = {name for name, one in fields.items() if _choices(one)}
    assert chosen
    assert chosen <= STRUCTURE


def _choices(field: dict[str, Any]) -> bool:
    return "enum" in field or "const" in field or any(_choices(one) for one in field.get("anyOf", []))
