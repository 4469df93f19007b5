"""Every request as it passes: its id, and what became of it, for the log and the metrics.

Of a request only the route's template is kept, never its path, query or body: those name people and quote them.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from uuid import uuid4

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from personable.tracing import OBSERVER, Observer

HEADER = "X-Request-ID"
REQUEST: ContextVar[str] = ContextVar("request", default="")
"""The id of the request that is under way in this context, "" outside of any."""
UNMATCHED = "unmatched"
_PLAIN = re.compile(rb"[A-Za-z0-9._-]{1,64}")
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


@dataclass
class Served:
    """What became of one request.

    `status` is 500 where it failed before it had one; `whole` is False where the response did not come to its end.
    `seconds` last to its end, `first` to its first byte (None: there was none).
    """

    id: str
    method: str
    route: str = UNMATCHED
    key: str = ""
    status: int = 500
    stream: bool = False
    whole: bool = False
    first: float | None = None
    seconds: float = 0.0
    began: float = field(default_factory=time.perf_counter)

    def note(self, message: Message) -> None:
        """Take from a message of the response what is told about it; its id goes out with it."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
            headers = MutableHeaders(scope=message)
            headers[HEADER] = self.id
            self.stream = headers.get("content-type", "").startswith("text/event-stream")
        elif message["type"] == "http.response.body":
            if self.first is None and message.get("body"):
                self.first = time.perf_counter() - self.began
            self.whole = not message.get("more_body", False)

    def end(self, scope: Scope) -> None:
        """Nothing more will come: take what the app left in the request's scope."""
        self.seconds = time.perf_counter() - self.began
        self.route, self.key = template(scope), scope.get("personable.key", "")


class Watch:
    """The outermost layer of the app: gives each request its id and tells `listeners` what became of it.

    Pipelines, model calls and searches on the way are told to `observer`.
    """

    def __init__(
        self, app: ASGIApp, listeners: Sequence[Callable[[Served], None]], observer: Observer | None = None
    ) -> None:
        self.app, self.listeners, self.observer = app, listeners, observer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        OBSERVER.set(self.observer)
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        method = scope["method"] if scope["method"] in _METHODS else "other"
        served = Served(id=request_id(scope), method=method)
        REQUEST.set(served.id)

        async def noted(message: Message) -> None:
            served.note(message)
            await send(message)

        try:
            await self.app(scope, receive, noted)
        finally:
            served.end(scope)
            for listener in self.listeners:
                listener(served)


def request_id(scope: Scope) -> str:
    """The id that the client gave, where it is short and plain, else a new one."""
    given = next((value for name, value in scope["headers"] if name == HEADER.lower().encode()), b"")
    return given.decode() if _PLAIN.fullmatch(given) else uuid4().hex


def template(scope: Scope) -> str:
    """The template of the route that took the request, such as `/v1/people/{person}`; `unmatched` where none did."""
    route = scope.get("route")
    if route is None:
        return UNMATCHED
    # A route inside of an included router knows only its own end; the whole is in FastAPI's part of the scope.
    whole = scope.get("fastapi", {}).get("effective_route_context")
    if whole is not None and getattr(whole, "original_route", None) is route:
        return str(whole.path)
    mounted = scope.get("root_path", "").removeprefix(scope.get("app_root_path", ""))
    return f"{mounted}{route.path}"
