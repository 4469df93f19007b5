"""Several questions at once: as many workers as the model takes calls."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Iterable
from typing import TypeVar

T = TypeVar("T")


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
