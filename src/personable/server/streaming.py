"""Work for a client that may go away, and its story as server-sent events.

A stream is made of `post` events (the board, as it grows), `text` events (checked sentences of the answer) and, always,
one `final` event: `{"result": …}` with what the same request gives without a stream, or `{"problem": …}`.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncGenerator, AsyncIterator, Coroutine
from typing import Any, NamedTuple, TypeVar

from fastapi import Request
from fastapi.sse import KEEPALIVE_COMMENT, EventSourceResponse, format_sse_event
from pydantic import BaseModel

from personable.board import Board, Post, Text
from personable.server.problems import ClientGoneError, Problem, problem_of

T = TypeVar("T")
HEADERS = {"Cache-Control": "no-cache, no-transform", "X-Accel-Buffering": "no"}
PING_SECONDS = 15.0


class Ended(NamedTuple):
    """How work ended: its result, or the problem that it met."""

    result: Any
    problem: Problem | None = None


async def attended(request: Request, work: Coroutine[Any, Any, T]) -> T:
    """What `work` gives; when the client goes away it is cancelled. Raises ClientGoneError then, and what it raises."""
    task = asyncio.create_task(work)
    gone = asyncio.create_task(_gone(request))
    try:
        await asyncio.wait({task, gone}, return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            raise ClientGoneError
        return task.result()
    finally:
        await _stop(task, gone)


def streamed(board: Board, work: Coroutine[Any, Any, BaseModel]) -> EventSourceResponse:
    """The story of `work`, which posts on `board`, as a stream. It stops with the client."""
    return EventSourceResponse(_events(board, work), headers=HEADERS)


async def told(board: Board, task: asyncio.Task[Any]) -> AsyncIterator[Post | Text | None]:
    """What happens on `board` until `task` is done; None for each stretch of silence."""
    subscription = aiter(board.subscribe())
    task.add_done_callback(lambda _: board.close())
    coming = asyncio.ensure_future(anext(subscription))
    try:
        while True:
            done, _ = await asyncio.wait({coming}, timeout=PING_SECONDS)
            if not done:
                yield None
                continue
            try:
                event = coming.result()
            except StopAsyncIteration:
                return
            coming = asyncio.ensure_future(anext(subscription))
            yield event
    finally:
        await _stop(coming)


async def followed(board: Board, work: Coroutine[Any, Any, Any]) -> AsyncGenerator[Post | Text | Ended | None]:
    """What `told` tells of `work`, and at last how it ended. It stops with who follows."""
    task = asyncio.create_task(work)
    try:
        async with contextlib.aclosing(told(board, task)) as events:  # type: ignore[type-var]
            async for event in events:
                yield event
        await asyncio.wait({task})
        yield _ended(task)
    finally:
        await _stop(task)


async def settled(work: Coroutine[Any, Any, Any]) -> Ended:
    """How `work` ends. It stops with who waits."""
    task = asyncio.create_task(work)
    try:
        await asyncio.wait({task})
        return _ended(task)
    finally:
        await _stop(task)


async def _events(board: Board, work: Coroutine[Any, Any, BaseModel]) -> AsyncGenerator[bytes]:
    async with contextlib.aclosing(followed(board, work)) as story:
        async for event in story:
            yield _encoded(event)


def _ended(task: asyncio.Task[Any]) -> Ended:
    error = asyncio.CancelledError() if task.cancelled() else task.exception()
    if error is None:
        return Ended(task.result())
    return Ended(None, problem_of(error if isinstance(error, Exception) else RuntimeError("stopped")))


def _final(ended: Ended) -> str:
    problem = ended.problem
    if problem is None:
        return f'{{"result": {ended.result.model_dump_json()}}}'
    return json.dumps({"problem": problem.model_dump(exclude_defaults=True) | {"type": problem.type}})


def _encoded(event: Post | Text | Ended | None) -> bytes:
    if event is None:
        return KEEPALIVE_COMMENT
    if isinstance(event, Ended):
        return format_sse_event(event="final", data_str=_final(event))
    if isinstance(event, Post):
        return format_sse_event(event="post", id=str(event.id), data_str=event.model_dump_json())
    return format_sse_event(event="text", data_str=event.model_dump_json())


async def _gone(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


async def _stop(*tasks: asyncio.Future[Any]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
