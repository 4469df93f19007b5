"""The budget of one question: it decides whether agents ask a model each, together in one call, or not at all."""

from __future__ import annotations

from dataclasses import dataclass, field
from time import monotonic
from typing import Literal

from personable.settings import Settings

Plan = Literal["separate", "merged", "reply only", "numeric"]

TASK_TOKENS = 150
"""Tokens of an agent's own instruction, with its output schema."""
NOTE_TOKENS = 150
"""Tokens that an agent's note usually takes."""


@dataclass(frozen=True)
class Budget:
    """Model calls, tokens (read and written) and seconds that one question may take. Calls are planned beforehand: a
    call's repairs and retries come on top, and count on the board alone."""

    calls: int
    tokens: int
    seconds: float
    started: float = field(default_factory=monotonic)

    @classmethod
    def of(cls, settings: Settings) -> Budget:
        """A fresh budget, as the settings bound it."""
        return cls(settings.budget_calls, settings.budget_tokens, settings.budget_seconds)

    def plan(self, prefix: int, reply: int, agents: int) -> tuple[Plan, str]:
        """What fits, and why: `prefix` tokens of the shared prompt, `reply` of the answer, `agents` to run.

        Separate calls count the prefix once for each, since not every provider caches it.
        """
        last = prefix + TASK_TOKENS + reply
        each = prefix + TASK_TOKENS + NOTE_TOKENS
        if self.calls >= agents + 2 and self.tokens >= agents * each + last:
            return "separate", f"{agents + 2} calls and about {agents * each + last} tokens fit"
        if self.calls >= 2 and self.tokens >= each + agents * NOTE_TOKENS + last:
            return "merged", f"{self.calls} calls and {self.tokens} tokens do not allow a call for each agent"
        if self.calls >= 1 and self.tokens >= last:
            return "reply only", f"{self.calls} calls and {self.tokens} tokens allow one call"
        return "numeric", f"{self.calls} calls and {self.tokens} tokens allow no call of about {last} tokens"

    def deadline(self, share: float = 1.0) -> float:
        """The moment (of the monotonic clock, as event loops use it) at which `share` of the seconds is spent."""
        return self.started + self.seconds * share
