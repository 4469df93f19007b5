"""Running agents under a budget: side by side with a model, merged into one call, or by their numeric stand-ins."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

from personable import tracing
from personable.agent import Agent, Desk, Reading, cost_of, lost
from personable.board import Board, Cost
from personable.errors import ModelError, ModelOutputError, ModelTimeoutError
from personable.llm.sending import watched
from personable.notes import AgentsNote, DecisionNote, Note
from personable.pipelines.budget import Plan


@dataclass
class Crew:
    """The agents of one question, the desk they ask from (None: no model), and what went wrong, in words.

    `heard` says whether the model answered anybody, None before anybody asked it. With `strict` a model that fails is
    an error, else stand-ins take over; `useless_too` False makes an exception of answers of no use, which are replaced.
    """

    board: Board
    desk: Desk | None
    plan: Plan
    deadline: float
    without: Collection[str] = ()
    strict: bool = False
    useless_too: bool = True
    heard: bool | None = None
    _wrong: dict[str, list[str]] = field(default_factory=dict)

    @property
    def degraded(self) -> list[str]:
        """What did not work as asked: one line for each reason, led by all whom it befell."""
        return [f"{', '.join(who)}: {why}" for why, who in self._wrong.items()]

    async def run(self, agents: Sequence[Agent[Any]], merged: str) -> None:
        """Run agents that do not need each other; `merged` is the prompt file that asks for all of them at once."""
        chosen = [agent for agent in agents if agent.name not in self.without]
        for name in self.without:
            self.decide(name, "skipped", "left out by the caller")
        if self.plan == "merged" and self.desk is not None:
            await self._merged(chosen, self.desk, merged)
            return
        try:
            async with asyncio.TaskGroup() as group:
                for agent in chosen:
                    group.create_task(self.perform(agent))
        except ExceptionGroup as failed:
            raise failed.exceptions[0] from failed

    async def perform(self, agent: Agent[Any]) -> None:
        """One agent: by the model where the plan gives it a call, else, or when that fails, by its stand-in."""
        if self.plan == "separate" and self.desk is not None:
            with watched() as sent:
                try:
                    async with asyncio.timeout_at(self.deadline):
                        await agent.ask(self.board, self.desk)
                    self.heard = True
                    return
                except (ModelError, TimeoutError) as error:
                    self.fail(agent.name, error, lost(self.desk.model.name, error, sent))
        await agent.reckon(self.board)

    async def _merged(self, agents: Sequence[Agent[Any]], desk: Desk, merged: str) -> None:
        readings = {agent.name: Reading(self.board, agent.reads) for agent in agents}
        variables: dict[str, Any] = {}
        for agent in agents:
            variables |= agent.variables(readings[agent.name])
        prompt = desk.prompt("agents", merged, **variables)
        with watched() as sent:
            try:
                with tracing.agent("agents", "model"):
                    async with asyncio.timeout_at(self.deadline):
                        reply = await desk.model.write(prompt, AgentsNote, sum(agent.max_tokens for agent in agents))
            except (ModelError, TimeoutError) as error:
                self.fail("all agents", error, lost(desk.model.name, error, sent))
                for agent in agents:
                    await agent.reckon(self.board)
                return
        if reply.value is None:
            raise ModelOutputError(f"{reply.model} gave no AgentsNote")
        self.heard = True
        self.board.post("agents", reply.value, cost=cost_of(reply, prompt, sent))
        notes = {type(note): note for _, note in reply.value if isinstance(note, Note)}
        for agent in agents:
            note = agent.tidy(notes[agent.writes], readings[agent.name])
            self.board.post(agent.name, note, score=agent.score(note))

    def decide(self, about: str, choice: str, why: str, cost: Cost | None = None) -> None:
        """Post a decision."""
        self.board.post("budget", DecisionNote(about=about, choice=choice, why=why), cost=cost)

    def degrade(self, who: str, why: str) -> None:
        """Note for the answer that something did not work as asked."""
        self._wrong.setdefault(why, []).append(who)

    def fail(self, who: str, error: ModelError | TimeoutError, spent: Cost | None = None) -> None:
        """Post that `who` failed, at what cost (where that is not posted yet), and that its stand-in takes over; the
        answer says so too.

        Raises ModelError instead where the crew is strict about it.
        """
        why = str(error) or "its time was over"
        self.decide(who, "numeric", why, spent)
        self.degrade(who, why)
        self.heard = bool(self.heard) or isinstance(error, ModelOutputError)
        if self.strict and (self.useless_too or not isinstance(error, ModelOutputError)):
            raise error if isinstance(error, ModelError) else ModelTimeoutError(f"{who}: {why}") from error
