"""A language model puts a person's statements in order, a window at a time."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import Field

from personable.errors import ModelOutputError
from personable.llm.base import LanguageModel, Prompt
from personable.pipelines.answer_agents import permutation
from personable.pipelines.conversation import StatementRanker, Utterance
from personable.pipelines.statement_voters import read
from personable.prompts import fit, prompt_hash, render
from personable.types import Value

WINDOW, STEP = 4, 1
"""Statements that one call orders, and how far the window then moves towards the top (SR_FML)."""
MOST = 40
"""Statements that are ordered by the model: n - 3 calls. Those behind them keep their order."""
TURNS = 3
SAID, ROOM = 300, 600
"""Tokens in a prompt for the utterance and each earlier text, and for the statements of a window."""


class StatementOrder(Value):
    """What a model answers about a window of statements."""

    order: list[int] = Field(description="all statement numbers, the one that matters most first")


class Listwise:
    """Sliding windows from the end to the top, so that what matters rises (Sun et al. 2023, section 3.2).

    `start` gives the order to begin with, None: as given. An answer that is no order leaves its window as it is; a
    model that does not answer at all raises ModelError. The model reads the statements: give it only what it may see.
    """

    def __init__(self, name: str, model: LanguageModel, start: StatementRanker | None = None) -> None:
        self.name = name
        self.remote = model.remote or (start is not None and start.remote)
        self._model, self._start = model, start

    async def scores(self, said: Utterance, statements: Sequence[str]) -> list[float]:
        count = len(statements)
        first = await self._start.scores(said, statements) if self._start else [0.0] * count
        order = sorted(range(count), key=lambda at: -first[at])
        last = max(min(count, MOST) - WINDOW, 0)
        for start in range(last, -1, -STEP) if count > 1 else ():
            part = order[start : start + WINDOW]
            numbers = await self._ordered(said, [statements[at] for at in part])
            order[start : start + WINDOW] = [part[number - 1] for number in numbers]
        places = {at: place for place, at in enumerate(order)}
        return [1 - places[at] / count for at in range(count)]

    async def _ordered(self, said: Utterance, statements: Sequence[str]) -> list[int]:
        try:
            reply = await self._model.write(_prompt(said, statements), StatementOrder, 60)
        except ModelOutputError:
            return list(range(1, len(statements) + 1))
        return permutation(reply.value.order if reply.value else [], len(statements))


def _prompt(said: Utterance, statements: Sequence[str]) -> Prompt:
    turns = [] if said.rewrite.strip() else said.turns[-TURNS:]
    texts = fit([text for turn in turns for text in (turn.utterance, turn.response)], SAID * TURNS)
    before = list(zip(texts[::2], texts[1::2], strict=True))
    shared = render("converse/statement_utterance", turns=before, utterance=fit([read(said, "now")], SAID)[0])
    task = render("converse/statement_order", statements=fit(list(statements), ROOM), count=len(statements))
    return Prompt(
        system=render("converse/statement_ranking"),
        shared=shared,
        task=task,
        hash=prompt_hash("converse/statement_order"),
        agent="statements",
    )
