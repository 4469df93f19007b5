"""A model whose calls are spans; see `personable.tracing`."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import TypeVar

from pydantic import BaseModel

from personable.llm.base import LanguageModel, Prompt, Reply
from personable.llm.settling import Raw
from personable.tracing import Spanning, model_call, spent

T = TypeVar("T", bound=BaseModel)


class TracedModel:
    """Asks `model`; a span tells which, how long it took and how many tokens, and nothing of the texts."""

    def __init__(self, model: LanguageModel) -> None:
        self.name, self.remote, self.concurrency = model.name, model.remote, model.concurrency
        self._model = model

    async def write(self, prompt: Prompt, output: type[T] | None = None, max_tokens: int | None = None) -> Reply[T]:
        """See LanguageModel."""
        with model_call(self.name, prompt.agent) as span:
            reply = await self._model.write(prompt, output, max_tokens)
            _note(span, reply)
            return reply

    async def stream(self, prompt: Prompt, max_tokens: int | None = None) -> AsyncGenerator[str | Raw]:
        """See LanguageModel."""
        began, first = time.perf_counter(), True
        with model_call(self.name, prompt.agent, stream=True) as span:
            async with aclosing(self._model.stream(prompt, max_tokens)) as pieces:
                async for piece in pieces:
                    if first:
                        span.set({"gen_ai.response.time_to_first_chunk": time.perf_counter() - began})
                        first = False
                    if not isinstance(piece, str):
                        _note(span, piece)
                    yield piece

    async def close(self) -> None:
        """See LanguageModel."""
        await self._model.close()


def _note(span: Spanning, reply: Reply[T] | Raw) -> None:
    used = reply.tokens
    span.set(spent(used.prompt, used.cached, used.completion))
