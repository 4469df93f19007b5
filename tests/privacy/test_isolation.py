"""Nothing of one person reaches another: fifty people, each with words that nobody else has, in one kit."""

from __future__ import annotations

import asyncio
import json
import logging
import re
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from pydantic import BaseModel

from personable.board import Board, Text
from personable.kit import Kit
from personable.llm.base import Prompt
from personable.llm.scripted import ScriptedModel
from personable.notes import DigestNote, DraftNote, ProfileNote, QueriesNote, RewriteNote, SessionNote
from personable.people.events import Event
from personable.people.store import People
from personable.pipelines.answer import answer
from personable.pipelines.converse import converse
from personable.types import Answer, Question
from tests.pipelines.test_answer import AGENTS

pytestmark = pytest.mark.slow

MakeKit = Callable[..., Kit]
Pipeline = Callable[[Kit, Question, Board], Awaitable[Answer]]
PEOPLE = [f"person{n:02}" for n in range(50)]
CANARY = re.compile(r"canary(person\d\d)")
PIPELINES: dict[str, Pipeline] = {
    "answer": lambda kit, question, board: answer(kit, question, board=board),
    "converse": lambda kit, question, board: converse(kit, question, board=board),
}

LEAST = {"answer": 7, "converse": 2}
"""Model calls that each question takes at least."""


def gossip(prompt: Prompt, output: type[BaseModel] | None) -> BaseModel | str:
    """A model that repeats everything that it sees of a person, in every note."""
    seen = " ".join(sorted({f"canary{name}" for name in CANARY.findall(prompt.shared + prompt.task)}))
    notes: dict[type[BaseModel] | None, BaseModel] = {
        ProfileNote: ProfileNote(summary=seen, proposed=[f"I am {seen}"]),
        QueriesNote: QueriesNote(queries=[f"iron {seen}"]),
        SessionNote: SessionNote(need=seen, next_questions=[f"{seen}?"]),
        DraftNote: DraftNote(reasoning=seen, answer=f"{seen} [1]"),
        DigestNote: DigestNote(text=seen),
        RewriteNote: RewriteNote(text=f"{seen} iron"),
    }
    return notes.get(output) or AGENTS.get(prompt.agent) or f"Lentils and spinach are rich in iron [1]. {seen}"


async def fill(people: People, name: str) -> None:
    await people.add(name, f"canary{name} Smith", "on")
    await people.tell(name, f"I need iron, says canary{name}")
    await people.tell(name, f"I like canary{name} lentils", source="inferred", cause=f"canary{name}")
    await people.record(Event(person=name, kind="query", session="old", text=f"canary{name} tablets"))
    await people.record(Event(person=name, kind="click", session="s", text=f"canary{name} card"))
    await people.add_turn(name, "s", f"Is canary{name} rich in iron?", "No.")


@pytest.fixture
async def crowd(people: People) -> People:
    for name in PEOPLE:
        await fill(people, name)
    return people


def owners(text: str) -> set[str]:
    return set(CANARY.findall(text))


@pytest.mark.parametrize("with_model", [True, False], ids=["model", "quote"])
@pytest.mark.parametrize("pipeline", PIPELINES)
async def test_fifty_at_once_see_only_their_own(
    make_kit: MakeKit,
    crowd: People,
    pipeline: str,
    with_model: bool,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    caplog.set_level(logging.DEBUG)
    model = ScriptedModel(gossip, delay=0.001) if with_model else None
    kit, boards = make_kit(model, crowd), {name: Board() for name in PEOPLE}

    async def ask(name: str) -> tuple[Answer, str]:
        heard = boards[name].subscribe()
        question = Question(text=f"What should I eat? asks canary{name}", person=name, session="s")
        result = await PIPELINES[pipeline](kit, question, boards[name])
        return result, "".join([event.text async for event in heard if isinstance(event, Text)])

    for name, (result, heard) in zip(PEOPLE, await asyncio.gather(*map(ask, PEOPLE)), strict=True):
        assert owners(result.model_dump_json()) == {name}
        assert owners(boards[name].to_json()) == {name}
        assert owners(heard) <= {name}
        assert owners(json.dumps(await crowd.export(name))) == {name}
        kept = await crowd.answer(result.id, name)
        assert owners(kept.answer + kept.board) == {name}
    if model is not None:
        assert len(model.prompts) >= LEAST[pipeline] * len(PEOPLE)
        assert {len(owners(prompt.model_dump_json())) for prompt in model.prompts} <= {0, 1}
        assert set().union(*(owners(prompt.shared) for prompt in model.prompts)) == set(PEOPLE)
    captured = capfd.readouterr()
    assert logging.getLogger("asyncio").isEnabledFor(logging.DEBUG)
    logged = owners(caplog.text + captured.out + captured.err)
    assert not logged, sorted(logged)


async def test_what_a_kit_remembers_changes_nobodys_answer(make_kit: MakeKit, crowd: People) -> None:
    shared, answers = make_kit(people=crowd), []
    for name in PEOPLE[:5]:
        for kit in (shared, make_kit(people=crowd)):
            result = await answer(kit, Question(text="What should I eat?", person=name), keep=False)
            answers.append(result.model_copy(update={"id": "", "seconds": 0.0}))
    assert answers[::2] == answers[1::2]


async def test_after_erasing_the_memory_of_a_kit_holds_nothing_of_the_person(
    make_kit: MakeKit, crowd: People, tmp_path: Path
) -> None:
    kit = make_kit(ScriptedModel(gossip), crowd)
    for name in PEOPLE[:2]:
        await answer(kit, Question(text=f"What should canary{name} eat?", person=name, session="s"))
    assert PEOPLE[0] in owners(repr(kit._vectors))
    receipt = await kit.erase(PEOPLE[0])
    assert receipt.clean
    assert PEOPLE[0] not in owners(repr(kit._vectors))
    files = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert PEOPLE[0] not in owners(files.decode("utf-8", "replace"))
    assert PEOPLE[1] in owners(files.decode("utf-8", "replace"))


async def test_a_remembering_embedder_forgets_the_queries_of_who_was_erased(make_kit: MakeKit, crowd: People) -> None:
    from personable.embed.remembering import Remembering

    kit = make_kit(people=crowd)
    assert kit.embedder is not None
    kit.embedder = remembering = Remembering(kit.embedder)
    await answer(kit, Question(text=f"What should canary{PEOPLE[0]} eat?", person=PEOPLE[0]))
    assert PEOPLE[0] in owners(repr(list(remembering._queries)))
    await kit.erase(PEOPLE[0])
    assert remembering._queries == {}
