"""What a conversation has said so far, as the parts of `converse` read it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from pydantic import Field

from personable.types import PastTurn as PastTurn
from personable.types import Value


class Utterance(Value):
    """What the person says now. `turns` came before, oldest first; `rewrite` says the same so that it stands alone,
    empty where nothing had to be resolved or nobody resolved it."""

    text: str = Field(min_length=1)
    turns: list[PastTurn] = Field(default_factory=list)
    rewrite: str = ""


class StatementRanker(Protocol):
    """Says how much each of a person's statements matters for what is said now."""

    @property
    def name(self) -> str:
        """The name that chooses this ranker."""

    @property
    def remote(self) -> bool:
        """True when something that it asks is elsewhere and not trusted."""

    async def scores(self, said: Utterance, statements: Sequence[str]) -> list[float]:
        """One score a statement, 0 to 1, higher matters more; empty for no statements. Raises ModelError where a model
        that it needs fails."""
