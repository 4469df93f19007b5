"""Agents: values that read some notes of the board and write one note, with a model or with their numeric stand-in."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from personable import tracing
from personable.board import Board, Cost, Post
from personable.errors import ModelError, ModelOutputError
from personable.llm.base import LanguageModel, Prompt, Reply, charged
from personable.llm.sending import Sent, watched
from personable.notes import Note
from personable.prompts import prompt_hash, render
from personable.types import Tokens

N = TypeVar("N", bound=Note)
M = TypeVar("M", bound=Note)


class Reading:
    """The notes an agent may see: the newest of each type in its `reads`, as they were when it began."""

    def __init__(self, board: Board, reads: tuple[type[Note], ...]) -> None:
        self._notes = {kind: board.latest(kind) for kind in reads}

    def get(self, kind: type[M]) -> M | None:
        """The newest note of `kind`, or None where nobody wrote one."""
        note = self._notes[kind]
        return note if isinstance(note, kind) else None

    def __getitem__(self, kind: type[M]) -> M:
        """The newest note of `kind`. Raises LookupError where nobody wrote one: a fault of the pipeline."""
        note = self.get(kind)
        if note is None:
            raise LookupError(f"no {kind.__name__} on the board yet")
        return note


@dataclass(frozen=True)
class Desk:
    """What all agents of one question share when they ask a model: the model and the long beginning of the prompt."""

    model: LanguageModel
    system: str
    shared: str

    def prompt(self, agent: str, name: str, **variables: Any) -> Prompt:
        """The prompt of file `name` for `agent`, after the shared beginning."""
        return Prompt(
            system=self.system, shared=self.shared, task=render(name, **variables), hash=prompt_hash(name), agent=agent
        )


def _as_it_is(note: N, reading: Reading) -> N:
    return note


def _nothing(reading: Reading) -> dict[str, Any]:
    return {}


@dataclass(frozen=True)
class Agent(Generic[N]):
    """An agent: which notes it `reads`, which type it `writes`, its prompt file and its numeric stand-in.

    `variables` gives the prompt what it needs from the reading; `tidy` mends what a model may get wrong in content (a
    permutation, a claim that nobody made), since its form alone was checked; it raises ModelOutputError for a note
    of no use.
    """

    name: str
    reads: tuple[type[Note], ...]
    writes: type[N]
    numeric: Callable[[Reading], Awaitable[N]]
    prompt: str = ""
    variables: Callable[[Reading], dict[str, Any]] = _nothing
    tidy: Callable[[N, Reading], N] = _as_it_is
    max_tokens: int = 256
    score: Callable[[N], float | None] = field(default=lambda note: None)

    async def ask(self, board: Board, desk: Desk) -> Post:
        """Ask the desk's model for the note and post it. Raises ModelError where no valid note came."""
        reading = Reading(board, self.reads)
        prompt = desk.prompt(self.name, self.prompt, **self.variables(reading))
        with tracing.agent(self.name, "model"), watched() as sent:
            reply = await desk.model.write(prompt, self.writes, self.max_tokens)
        if reply.value is None:
            raise ModelOutputError(f"{reply.model} gave agent {self.name} no {self.writes.__name__}")
        try:
            note = self.tidy(reply.value, reading)
        except ModelOutputError as error:
            charged(error, reply)
            raise
        return board.post(self.name, note, score=self.score(note), cost=cost_of(reply, prompt, sent))

    async def reckon(self, board: Board) -> Post:
        """Post the note of the numeric stand-in: no model, no cost."""
        reading = Reading(board, self.reads)
        with tracing.agent(self.name, "numbers"):
            note = await self.numeric(reading)
        return board.post(self.name, note, score=self.score(note))


def cost_of(reply: Reply[Any], prompt: Prompt, sent: Sent) -> Cost:
    """What a reply cost for which `sent` went out, as it stands on the board."""
    return Cost(
        model=reply.model,
        elsewhere=sent.elsewhere,
        answered=sent.answered,
        prompt_hash=prompt.hash,
        tokens=reply.tokens,
        calls=reply.calls,
        seconds=reply.seconds,
        dollars=reply.cost,
    )


def lost(model: str, error: BaseException, sent: Sent) -> Cost:
    """What a call of `model` cost that gave nothing of use, and for which `sent` went out.

    A failure counts its own requests, so that one from a recording counts too; of a call that was cut off nobody knows
    tokens and price.
    """
    known = error if isinstance(error, ModelError) else None
    calls = max(known.calls if known else 0, sent.calls)
    return Cost(
        model=model,
        elsewhere=sent.elsewhere,
        answered=sent.answered,
        calls=calls,
        tokens=(known.tokens if known else None) or Tokens(),
        dollars=known.cost if known and calls else None,
    )
