"""Several questions at once."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest

from personable.evaluation.working import OneAtATime, for_each
from personable.llm import Prompt, Reply, ScriptedModel


@pytest.mark.parametrize("workers", [1, 3, 20])
async def test_each_is_done_once_and_no_more_than_the_workers_at_a_time(workers: int) -> None:
    begun: list[int] = []
    now, most = 0, 0

    async def do(item: int) -> None:
        nonlocal now, most
        begun.append(item)
        now += 1
        most = max(most, now)
        await asyncio.sleep(0)
        now -= 1

    await for_each(range(10), do, workers)
    assert begun == list(range(10))
    assert most == min(workers, 10)


async def test_after_an_error_nothing_is_begun_and_what_is_under_way_ends_first() -> None:
    begun, ended = list[int](), list[int]()

    async def do(item: int) -> None:
        begun.append(item)
        if item == 1:
            raise ValueError("one is wrong")
        await asyncio.to_thread(time.sleep, 0.2)  # as a search does: no cancelling reaches it
        ended.append(item)

    with pytest.raises(ValueError, match="one is wrong"):
        await for_each(range(10), do, 2)
    assert begun == [0, 1]
    assert ended == [0]


async def test_who_is_stopped_from_outside_stops_the_workers() -> None:
    stopped: list[int] = []

    async def do(item: int) -> None:
        try:
            await asyncio.sleep(30)
        except asyncio.CancelledError:
            stopped.append(item)
            raise

    with pytest.raises(TimeoutError):
        await asyncio.wait_for(for_each(range(10), do, 2), 0.05)
    assert stopped == [0, 1]


async def test_of_one_question_one_call_is_under_way_at_a_time() -> None:
    now, most = 0, 0

    class Slow(ScriptedModel):
        async def write(self, *asked: Any, **how: Any) -> Reply[Any]:
            nonlocal now, most
            now += 1
            most = max(most, now)
            await asyncio.sleep(0.01)
            now -= 1
            return await super().write(*asked, **how)

    model = OneAtATime(Slow({"a": "first", "b": "second"}))
    prompts = [Prompt(system="You are one of two.", task="Say which you are.", agent=name) for name in "abab"]
    replies = await asyncio.gather(*(model.write(prompt) for prompt in prompts))
    assert [reply.text for reply in replies] == ["first", "second"] * 2
    assert (most, model.concurrency, model.name) == (1, 1, "scripted")
