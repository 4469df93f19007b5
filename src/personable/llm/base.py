"""The seam to language models: a prompt in three parts goes in, a reply with its cost comes out."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Any, Generic, Literal, Protocol, TypeVar

from pydantic import BaseModel, ConfigDict, Field

from personable.errors import ModelError
from personable.types import Tokens, Value

T = TypeVar("T", bound=BaseModel)
E = TypeVar("E", bound=ModelError)


class Prompt(Value):
    """What a model is asked, ordered so that calls about one question share their beginning.

    `system` holds the rules, `shared` the person, passages and question (the same for every agent of a question, so a
    prefix cache reads it once), `task` what this one agent shall do. `hash` names the prompt file's version and
    `agent` who asks; neither is sent.
    """

    system: str
    shared: str = ""
    task: str
    hash: str = ""
    agent: str = ""


class Reply(BaseModel, Generic[T]):
    """What a model answered. `value` is set when a typed output was asked for, else `text` is the answer.

    `calls` counts requests made, repairs and retries included; `seconds` is wall time. `cost` is in US dollars, None
    where no price is known. `cut` says that the text ends early: at the token limit, or where the model began to
    repeat itself (the repetition is left out).
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    text: str
    value: T | None = None
    model: str
    tokens: Tokens = Tokens()
    calls: int = 1
    seconds: float = 0.0
    cost: float | None = None
    repaired: bool = Field(default=False, description="the output had to be mended or asked for again")
    cut: Literal["", "length", "repetition"] = ""


class Spent(Protocol):
    """What calls took; `Reply` says how to read it. Replies and errors of models are that."""

    @property
    def calls(self) -> int: ...

    @property
    def tokens(self) -> Tokens | None: ...

    @property
    def cost(self) -> float | None: ...


def charged(error: E, *spent: Spent) -> E:
    """`error`, at the cost of what was `spent` before it, too."""
    for name, value in total(error, *spent).items():
        setattr(error, name, value)
    return error


def also(reply: Reply[T], *spent: Spent) -> Reply[T]:
    """`reply`, at the cost of what was `spent` before it, too."""
    return reply.model_copy(update=total(reply, *spent))


def total(*spent: Spent) -> dict[str, Any]:
    """The sums, by name. The cost is unknown (None) where one of them is."""
    costs = [one.cost for one in spent if one.cost is not None]
    return {
        "calls": sum(one.calls for one in spent),
        "tokens": sum((one.tokens for one in spent if one.tokens), Tokens()),
        "cost": sum(costs) if len(costs) == len(spent) else None,
    }


class LanguageModel(Protocol):
    """Any language model. Raises only ModelError and its children, and never hangs beyond its time limit.

    The time limit of a call starts when the call has its turn: waiting for one of `concurrency` places is not counted.
    What makes requests notes each of them (`sending.note`) and what became of it.
    """

    @property
    def name(self) -> str:
        """The name in settings that makes this model, such as `openai:gpt-5-mini`."""

    @property
    def remote(self) -> bool:
        """True when text leaves this machine (not loopback) for a model that is not marked trusted."""

    @property
    def concurrency(self) -> int:
        """Calls that may be under way at once; 1 means that a prefix cache is best warmed by one call first."""

    async def write(self, prompt: Prompt, output: type[T] | None = None, max_tokens: int | None = None) -> Reply[T]:
        """Ask once. With `output`, the reply's `value` is a valid instance or ModelOutputError is raised."""

    def stream(self, prompt: Prompt, max_tokens: int | None = None) -> AsyncGenerator[str | Reply[BaseModel]]:
        """Pieces of text as they come, then one final Reply that holds the whole text and the cost.

        Who stops early closes it (`contextlib.aclosing`); that ends the request at the provider too.
        """

    async def close(self) -> None:
        """Let go of connections and of a model in memory."""
