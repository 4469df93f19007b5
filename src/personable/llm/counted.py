"""A model that adds up what it was asked."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import TypeVar

from pydantic import BaseModel

from personable.errors import ModelError
from personable.llm.base import LanguageModel, Prompt, Reply, Spent, total
from personable.llm.settling import Raw
from personable.types import Tokens

T = TypeVar("T", bound=BaseModel)


class Counted:
    """Asks `model`; `calls`, `tokens` and `cost` (US dollars, None where no price is known) are those of all calls so
    far, also of those that gave nothing of use."""

    def __init__(self, model: LanguageModel) -> None:
        self.name, self.remote, self.concurrency = model.name, model.remote, model.concurrency
        self.calls, self.tokens = 0, Tokens()
        self.cost: float | None = 0.0
        self._model = model

    async def write(self, prompt: Prompt, output: type[T] | None = None, max_tokens: int | None = None) -> Reply[T]:
        """See LanguageModel."""
        try:
            reply = await self._model.write(prompt, output, max_tokens)
        except ModelError as error:
            self._add(error)
            raise
        self._add(reply)
        return reply

    async def stream(self, prompt: Prompt, max_tokens: int | None = None) -> AsyncGenerator[str | Raw]:
        """See LanguageModel."""
        try:
            async with aclosing(self._model.stream(prompt, max_tokens)) as pieces:
                async for piece in pieces:
                    if isinstance(piece, Reply):
                        self._add(piece)
                    yield piece
        except ModelError as error:
            self._add(error)
            raise

    async def close(self) -> None:
        """See LanguageModel."""
        await self._model.close()

    def _add(self, spent: Spent) -> None:
        for name, value in total(self, spent).items():
            setattr(self, name, value)
