"""Trying again: a few times, with growing pauses, never beyond the time limit of the call."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, TypeVar

from personable.llm.failures import is_transient, waited_for

if TYPE_CHECKING:
    from tenacity import RetryCallState

R = TypeVar("R")

FIRST_PAUSE = 0.5
LONGEST_PAUSE = 30.0


async def retried(once: Callable[[], Awaitable[R]], retries: int, deadline: float) -> R:
    """`once()`, and up to `retries` times again after a passing failure; `deadline` is on the running loop's clock.

    The pause is the provider's Retry-After where it gave one, else exponential with jitter (0.5 to 30 s). When the
    pause would end after the deadline the failure is raised at once. Raises what `once` raised last.
    """
    from tenacity import AsyncRetrying, retry_if_exception, wait_random_exponential

    backoff = wait_random_exponential(multiplier=FIRST_PAUSE, max=LONGEST_PAUSE)
    loop = asyncio.get_running_loop()

    def pause(state: RetryCallState) -> float:
        asked = waited_for(state.outcome.exception() if state.outcome else None)
        return backoff(state) if asked is None else asked

    def enough(state: RetryCallState) -> bool:
        return state.attempt_number > retries or loop.time() + state.upcoming_sleep >= deadline

    attempts = AsyncRetrying(retry=retry_if_exception(is_transient), wait=pause, stop=enough, reraise=True)
    return await attempts(once)
