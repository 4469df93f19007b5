"""Several questions at once: as many workers as the model takes calls, each with one call under way."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable
from contextlib import aclosing
from typing import TypeVar

from pydantic import BaseModel

from personable.llm.base import LanguageModel, Prompt, Reply
from personable.llm.settling import Raw

T = TypeVar("T")
M = TypeVar("M", bound=BaseModel)


class OneAtATime:
    """Asks `model`, one call after the other, in the order they come.

    Where every question under way has its own, the calls of one question meet in one place of the model, whose prefix
    cache then holds what they share; side by side each place would read it anew.
    """

    concurrency = 1

    def __init__(self, model: LanguageModel) -> None:
        self.name, self.remote = model.name, model.remote
        self._model, self._turn = model, asyncio.Lock()

    async def write(self, prompt: Prompt, output: type[M] | None = None, max_tokens: int | None = None) -> Reply[M]:
        """See LanguageModel."""
        async with self._turn:
            return await self._model.write(prompt, output, max_tokens)

    async def stream(self, prompt: Prompt, max_tokens: int | None = None) -> AsyncGenerator[str | Raw]:
        """See LanguageModel."""
        async with self._turn, aclosing(self._model.stream(prompt, max_tokens)) as pieces:
            async for piece in pieces:
                yield piece

    async def close(self) -> None:
        """See LanguageModel."""
        await self._model.close()


async def for_each(items: Iterable[T], do: Callable[[T], Awaitable[None]], workers: int) -> None:
    """Await `do` for every item, at most `workers` (at least 1) at a time, begun in their order.

    After an error nothing more is begun; what is under way comes to its end before the error is raised, since a thread
    that still searches cannot be stopped, and what it searches is closed next.
    """
    waiting = deque(items)
    tasks = [asyncio.create_task(_work(waiting, do)) for _ in range(workers)]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
        if any(task.done() and task.exception() for task in tasks):
            waiting.clear()
        await asyncio.wait(tasks)
        for task in tasks:
            task.result()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _work(waiting: deque[T], do: Callable[[T], Awaitable[None]]) -> None:
    while waiting:
        await do(waiting.popleft())
