"""Several questions at once: as many workers as the model has places."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator
from typing import TypeVar

T = TypeVar("T")


async def for_each(items: Iterable[T], do: Callable[[T], Awaitable[None]], workers: int) -> None:
    """Await `do` for every item, at most `workers` (at least 1) at a time, in their order as far as that goes.

    The first error stops the others and is raised, once they have stopped.
    """
    queue = iter(items)
    tasks = [asyncio.create_task(_work(queue, do)) for _ in range(workers)]
    try:
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _work(queue: Iterator[T], do: Callable[[T], Awaitable[None]]) -> None:
    for item in queue:
        await do(item)
