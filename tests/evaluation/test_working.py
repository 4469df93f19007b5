"""Several questions at once."""

from __future__ import annotations

import asyncio

import pytest

from personable.evaluation.working import for_each


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


async def test_an_error_stops_the_others_and_is_raised() -> None:
    stopped: list[int] = []

    async def do(item: int) -> None:
        if item == 1:
            raise ValueError("one is wrong")
        try:
            await asyncio.sleep(30)
        except asyncio.CancelledError:
            stopped.append(item)
            raise

    with pytest.raises(ValueError, match="one is wrong"):
        await for_each(range(10), do, 2)
    assert stopped == [0]
