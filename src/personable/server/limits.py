"""Bounds on what a request may bring, held before anything reads it."""

from __future__ import annotations

import asyncio
import contextlib

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from personable.server.problems import ProblemError, answer_with, problem_of

HEADER_BYTES = 32_768
LINGER_SECONDS = 5.0
"""How long what a refused request still sends is read."""


class SizeLimits:
    """Refuses large headers (431) and bodies (413): at once where their length is told, else when it is passed.

    `body` and `upload` are in bytes; the latter is for `multipart/form-data`.
    """

    def __init__(self, app: ASGIApp, *, body: int, upload: int) -> None:
        self.app, self.body, self.upload = app, body, upload

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        if sum(len(name) + len(value) for name, value in scope["headers"]) > HEADER_BYTES:
            await _refuse(scope, receive, send, ProblemError(431, f"headers may have {HEADER_BYTES:,} bytes"))
            return
        headers = dict(scope["headers"])
        upload = headers.get(b"content-type", b"").startswith(b"multipart/form-data")
        most = self.upload if upload else self.body
        told = headers.get(b"content-length", b"")
        too_large = ProblemError(413, f"the body of this request may have {most:,} bytes")
        if told.isdigit() and int(told) > most:
            await _refuse(scope, receive, send, too_large)
            return
        read, started = 0, False

        async def counted() -> Message:
            nonlocal read
            message = await receive()
            read += len(message.get("body", b""))
            if read > most:
                raise too_large
            return message

        async def noted(message: Message) -> None:
            nonlocal started
            started = started or message["type"] == "http.response.start"
            await send(message)

        try:
            await self.app(scope, counted, noted)
        except ProblemError as error:
            if error is not too_large or started:
                raise
            await _refuse(scope, receive, send, error)


async def _refuse(scope: Scope, receive: Receive, send: Send, error: ProblemError) -> None:
    """Answer, and end the connection: what was not read cannot be told from a next request.

    What is still coming is read and thrown away for a while, since a connection that is closed before would be reset,
    and who sends would never see the answer.
    """

    async def lingering(message: Message) -> None:
        if message["type"] != "http.response.body":
            await send(message)
            return
        await send({**message, "more_body": True})
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(LINGER_SECONDS):
                while (await receive()).get("more_body", False):
                    pass
        await send({"type": "http.response.body"})

    answer = answer_with(problem_of(error), {"Connection": "close"}, path=scope["path"])
    await answer(scope, receive, lingering)
