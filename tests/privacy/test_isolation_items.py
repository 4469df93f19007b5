"""Nothing that one person said reaches another by recommending: fifty people at once over one catalogue."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from pydantic import BaseModel

from personable.board import Board
from personable.kit import Kit
from personable.llm.base import Prompt
from personable.llm.scripted import ScriptedModel
from personable.notes import JudgementsNote, RankingNote, SummaryNote, TasteNote
from personable.people.events import Event
from personable.pipelines.recommend import recommend
from personable.pipelines.shop import open_shop
from personable.types import Wish
from tests.pipelines.test_recommend import items, make_kit
from tests.privacy.test_isolation import CANARY, PEOPLE, owners

pytestmark = pytest.mark.slow


def gossip(prompt: Prompt, output: type[BaseModel] | None) -> BaseModel:
    """A model that repeats everything that it sees of a person, in every note."""
    seen = " ".join(sorted({f"canary{name}" for name in CANARY.findall(prompt.shared + prompt.task)}))
    notes: dict[type[BaseModel] | None, BaseModel] = {
        TasteNote: TasteNote(long_term=seen, goal=seen),
        SummaryNote: SummaryNote(text=seen, accepted=[1]),
        RankingNote: RankingNote(order=[2, 1], remarks=[seen]),
    }
    return notes.get(output) or JudgementsNote()


@pytest.fixture
async def kit(tmp_path: Path) -> AsyncIterator[Kit]:
    async with await make_kit(tmp_path, items()) as made:
        assert made.people is not None
        for at, name in enumerate(PEOPLE):
            await made.people.add(name, f"canary{name} Smith", "on")
            await made.people.tell(name, f"I like canary{name} desks", sensitive=False)
            await made.people.open_session(name, "s")
            await made.people.record(Event(person=name, kind="query", session="s", text=f"canary{name} ink"))
            bought = ["red-ink", "oak-desk", "wall-clock"][at % 3]
            await made.people.record(Event(person=name, kind="purchase", item=bought, text=f"canary{name} thing"))
        yield made


@pytest.mark.parametrize("with_model", [True, False], ids=["model", "numbers"])
async def test_fifty_at_once_see_only_their_own(kit: Kit, with_model: bool) -> None:
    model = ScriptedModel(gossip, delay=0.001) if with_model else None
    kit.model = kit.agents_model = model
    shop, boards = await open_shop(kit), {name: Board() for name in PEOPLE}

    async def ask(name: str) -> str:
        wish = Wish(person=name, session="s", query=f"a lamp for canary{name}")
        return (await recommend(kit, shop, wish, board=boards[name])).model_dump_json()

    for name, told in zip(PEOPLE, await asyncio.gather(*map(ask, PEOPLE)), strict=True):
        assert owners(told) <= {name}
        assert owners(boards[name].to_json()) == {name}
    if model is not None:
        assert len(model.prompts) >= 4 * len(PEOPLE)
        assert all(len(owners(prompt.model_dump_json())) <= 1 for prompt in model.prompts)
        assert set().union(*(owners(prompt.shared) for prompt in model.prompts)) == set(PEOPLE)
