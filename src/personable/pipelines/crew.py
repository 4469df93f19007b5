"""Running agents under a budget: side by side with a model, merged into one call, or by their numeric stand-ins."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

from personable.agent import Agent, Desk, Reading, cost_of
from personable.board import Board
from personable.errors import ModelError, ModelOutputError
from personable.notes import AgentsNote, DecisionNote, Note
from personable.pipelines.budget import Plan


@dataclass
class Crew:
    """The agents of one question, the desk they ask from (None: no model), and what went wrong, in words."""

    board: Board
    desk: Desk | None
    plan: Plan
    deadline: float
    without: Collection[str] = ()
    degraded: list[str] = field(default_factory=list)

    async def run(self, agents: Sequence[Agent[Any]], merged: str) -> None:
        """Run agents that do not need each other; `merged` is the prompt file that asks for all of them at once."""
        chosen = [agent for agent in agents if agent.name not in self.without]
        for name in self.without:
            self.decide(name, "skipped", "left out by the caller")
        if self.plan == "merged" and self.desk is not None:
            await self._merged(chosen, self.desk, merged)
            return
        async with asyncio.TaskGroup() as group:
            for agent in chosen:
                group.create_task(self.perform(agent))

    async def perform(self, agent: Agent[Any]) -> None:
        """One agent: by the model where the plan gives it a call, else, or when that fails, by its stand-in."""
        if self.plan == "separate" and self.desk is not None:
            try:
                async with asyncio.timeout_at(self.deadline):
                    await agent.ask(self.board, self.desk)
                    return
            except (ModelError, TimeoutError) as error:
                self.fail(agent.name, error)
        await agent.reckon(self.board)

    async def _merged(self, agents: Sequence[Agent[Any]], desk: Desk, merged: str) -> None:
        readings = {agent.name: Reading(self.board, agent.reads) for agent in agents}
        variables: dict[str, Any] = {}
        for agent in agents:
            variables |= agent.variables(readings[agent.name])
        prompt = desk.prompt("agents", merged, **variables)
        try:
            async with asyncio.timeout_at(self.deadline):
                reply = await desk.model.write(prompt, AgentsNote, sum(agent.max_tokens for agent in agents))
        except (ModelError, TimeoutError) as error:
            self.fail("all agents", error)
            for agent in agents:
                await agent.reckon(self.board)
            return
        if reply.value is None:
            raise ModelOutputError(f"{reply.model} gave no AgentsNote")
        self.board.post("agents", reply.value, cost=cost_of(reply, prompt))
        notes = {type(note): note for _, note in reply.value if isinstance(note, Note)}
        for agent in agents:
            note = agent.tidy(notes[agent.writes], readings[agent.name])
            self.board.post(agent.name, note, score=agent.score(note))

    def decide(self, about: str, choice: str, why: str) -> None:
        """Post a decision."""
        self.board.post("budget", DecisionNote(about=about, choice=choice, why=why))

    def fail(self, who: str, error: BaseException) -> None:
        """Post that `who` failed and its stand-in takes over; the answer will say so too."""
        why = str(error) or "its time was over"
        self.decide(who, "numeric", why)
        self.degraded.append(f"{who}: {why}")
