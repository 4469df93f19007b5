"""How many calls of one model may be under way at once."""

from __future__ import annotations

import asyncio


class Places:
    """A semaphore that may be used from one event loop after another (a script that calls `asyncio.run` twice)."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._loop: asyncio.AbstractEventLoop | None = None
        self._semaphore = asyncio.Semaphore(count)

    def one(self) -> asyncio.Semaphore:
        """`async with places.one():` waits for a place and holds it."""
        loop = asyncio.get_running_loop()
        if loop is not self._loop:
            self._loop, self._semaphore = loop, asyncio.Semaphore(self._count)
        return self._semaphore
