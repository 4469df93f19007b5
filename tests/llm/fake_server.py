"""A model server on loopback that speaks the OpenAI protocol and misbehaves as told."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

CACHED = 7


@dataclass(frozen=True)
class Says:
    """One answer: `pieces` with `pause` seconds before each; `hangs` keeps the line open after the last one."""

    pieces: tuple[str, ...] = ()
    status: int = 200
    error: str = ""
    headers: dict[str, str] = field(default_factory=dict)
    pause: float = 0.0
    hangs: bool = False
    breaks: bool = False
    body: str | None = None
    finish: str = "stop"


def says(text: str, **more: Any) -> Says:
    return Says(pieces=(text,), **more)


@dataclass
class FakeServer:
    """`requests` holds the bodies it got, `headers` their headers; `left` is set when a client hangs up on it."""

    answers: Sequence[Says]
    url: str = ""
    requests: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    asked: asyncio.Event = field(default_factory=asyncio.Event)
    left: asyncio.Event = field(default_factory=asyncio.Event)
    under_way: int = 0
    most_at_once: int = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
            headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:])}
            body = json.loads(await reader.readexactly(int(headers.get("content-length", 0))) or b"{}")
            answer = self.answers[min(len(self.requests), len(self.answers) - 1)]
            self.requests.append(body)
            self.headers.append(headers)
            self.asked.set()
            self.under_way += 1
            self.most_at_once = max(self.most_at_once, self.under_way)
            answering = asyncio.ensure_future(self.answer(answer, body, writer))
            leaving = asyncio.ensure_future(reader.read(1))
            done, _ = await asyncio.wait({answering, leaving}, return_when=asyncio.FIRST_COMPLETED)
            gone = answering in done and isinstance(answering.exception(), ConnectionError)
            if gone or answering not in done:
                self.left.set()
            answering.cancel()
            leaving.cancel()
            await asyncio.gather(answering, leaving, return_exceptions=True)
            self.under_way -= 1
        except (asyncio.IncompleteReadError, ConnectionError):
            self.left.set()
        finally:
            writer.close()

    async def answer(self, says: Says, body: dict[str, Any], writer: asyncio.StreamWriter) -> None:
        if says.breaks and not says.pieces:
            return
        streamed = bool(body.get("stream")) and says.status == 200 and says.body is None
        kind = "text/event-stream" if streamed else "application/json"
        head = [f"HTTP/1.1 {says.status} X", f"Content-Type: {kind}", "Connection: close"]
        writer.write("\r\n".join([*head, *(f"{n}: {v}" for n, v in says.headers.items()), "", ""]).encode())
        await writer.drain()
        if says.status != 200:
            writer.write(json.dumps({"error": {"message": says.error, "code": None}}).encode())
        elif says.body is not None:
            writer.write(says.body.encode())
        elif streamed:
            await self.stream(says, writer)
        else:
            await asyncio.sleep(says.pause)
            if says.hangs:
                await asyncio.Event().wait()
            writer.write(json.dumps(self.completion("".join(says.pieces), says.finish)).encode())
        await writer.drain()

    async def stream(self, says: Says, writer: asyncio.StreamWriter) -> None:
        for piece in says.pieces:
            await asyncio.sleep(says.pause)
            self.event({"choices": [{"index": 0, "delta": {"content": piece}, "finish_reason": None}]}, writer)
            await writer.drain()
        if says.hangs:
            await asyncio.Event().wait()
        if says.breaks:
            return
        self.event({"choices": [{"index": 0, "delta": {}, "finish_reason": says.finish}]}, writer)
        self.event({"choices": [], "usage": self.usage()}, writer)
        writer.write(b"data: [DONE]\n\n")

    def event(self, part: dict[str, Any], writer: asyncio.StreamWriter) -> None:
        whole = {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "fake", **part}
        writer.write(f"data: {json.dumps(whole)}\n\n".encode())

    def completion(self, text: str, finish: str) -> dict[str, Any]:
        message = {"role": "assistant", "content": text}
        choices = [{"index": 0, "message": message, "finish_reason": finish}]
        return {
            "id": "1",
            "object": "chat.completion",
            "created": 1,
            "model": "fake",
            "choices": choices,
            "usage": self.usage(),
        }

    def usage(self) -> dict[str, Any]:
        details = {"cached_tokens": CACHED}
        return {"prompt_tokens": 11, "completion_tokens": 5, "total_tokens": 16, "prompt_tokens_details": details}


@asynccontextmanager
async def fake_server(*answers: Says) -> AsyncIterator[FakeServer]:
    """A server that gives `answers` one after another, the last one again and again."""
    fake = FakeServer(answers)
    server = await asyncio.start_server(fake.serve, "127.0.0.1", 0)
    fake.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
    try:
        yield fake
    finally:
        server.close()
