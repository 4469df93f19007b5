"""A second model for when the first one fails."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import TypeVar

from pydantic import BaseModel

from personable.errors import ModelError
from personable.llm.base import LanguageModel, Prompt, Reply, also, charged
from personable.llm.settling import Raw

T = TypeVar("T", bound=BaseModel)


class FallbackModel:
    """Asks `first`, and `second` when that raises a ModelError; the reply's `model` says who answered.

    A stream changes over only as long as no piece was given out. What reaches both counts for both: `remote` is True
    when either is, `concurrency` is the smaller one.
    """

    def __init__(self, first: LanguageModel, second: LanguageModel) -> None:
        self.first, self.second = first, second
        self.name = first.name
        self.remote = first.remote or second.remote
        self.concurrency = min(first.concurrency, second.concurrency)

    async def write(self, prompt: Prompt, output: type[T] | None = None, max_tokens: int | None = None) -> Reply[T]:
        """See LanguageModel. Raises the second model's error, which names the first one's as its cause."""
        try:
            return await self.first.write(prompt, output, max_tokens)
        except ModelError as error:
            failed = error
        try:
            reply = await self.second.write(prompt, output, max_tokens)
        except ModelError as error:
            raise _both(error, failed) from failed
        return also(reply, failed)

    async def stream(self, prompt: Prompt, max_tokens: int | None = None) -> AsyncGenerator[str | Raw]:
        """See LanguageModel."""
        given, failed = False, None
        try:
            async with aclosing(self.first.stream(prompt, max_tokens)) as pieces:
                async for piece in pieces:
                    given = True
                    yield piece
        except ModelError as error:
            if given:
                raise
            failed = error
        if failed is None:
            return
        try:
            async with aclosing(self.second.stream(prompt, max_tokens)) as pieces:
                async for piece in pieces:
                    yield piece if isinstance(piece, str) else also(piece, failed)
        except ModelError as error:
            raise _both(error, failed) from failed

    async def close(self) -> None:
        """Close both, the second also when closing the first fails."""
        try:
            await self.first.close()
        finally:
            await self.second.close()


def elsewhere(model: LanguageModel) -> frozenset[str]:
    """The names of the models elsewhere that may read what `model` is asked."""
    if isinstance(model, FallbackModel):
        return elsewhere(model.first) | elsewhere(model.second)
    return frozenset([model.name] if model.remote else [])


def _both(second: ModelError, first: ModelError) -> ModelError:
    return charged(type(second)(f"{second}; before that, {first}"), first, second)
