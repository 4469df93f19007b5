"""Spans of OpenTelemetry for pipelines, agents, model calls and searches, under the names of its GenAI conventions.

A span holds names, counts and times, never what a person asked or said: each kind of span has a function here that
takes just what it may hold. Of an error the type is kept and not the message, which may quote the person. Where nobody
has set up an SDK nothing is recorded; an observer, such as the server's metrics, sees the same spans without one.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Coroutine
from contextvars import ContextVar
from functools import wraps
from pathlib import PurePath
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, ParamSpec, Protocol, TypeVar

if TYPE_CHECKING:
    from contextvars import Token

    from opentelemetry.context import Context
    from opentelemetry.trace import Span

P = ParamSpec("P")
R = TypeVar("R")

Attributes = dict[str, str | int | float]


class Observer(Protocol):
    """Who is told of every span that begins and ends, in the same task."""

    def began(self, attributes: Attributes) -> None:
        """A span begins."""

    def ended(self, attributes: Attributes, seconds: float) -> None:
        """A span ended; `attributes` now hold what was found on the way, and `error.type` where it failed."""


OBSERVER: ContextVar[Observer | None] = ContextVar("observer", default=None)
"""The observer of what runs in this context."""


class Spanning:
    """A context manager that is one span. `current` makes it the parent of the spans that are opened inside.

    A generator must not be the parent of anything: what it yields to runs in the same context.
    """

    __slots__ = ("_attributes", "_began", "_current", "_name", "_observer", "_outer", "_span")

    def __init__(self, name: str, attributes: Attributes, *, current: bool = True) -> None:
        self._name, self._attributes, self._current = name, attributes, current
        self._observer = OBSERVER.get()
        self._began = 0.0
        self._span: Span | None = None
        self._outer: Token[Context] | None = None

    def set(self, attributes: Attributes) -> None:
        """Add attributes; nothing where nothing is recorded."""
        if self._observer is not None:
            self._attributes.update(attributes)
        if self._span is not None:
            self._span.set_attributes(attributes)

    def __enter__(self) -> Spanning:
        if self._observer is not None:
            self._began = time.perf_counter()
            self._observer.began(self._attributes)
        # Who sets up an SDK imports this first; before that its import alone would cost a tenth of a second.
        trace: Any = sys.modules.get("opentelemetry.trace")
        if trace is None:
            return self
        span = trace.get_tracer("personable").start_span(self._name, attributes=self._attributes)
        if not span.get_span_context().is_valid:
            return self
        self._span = span
        if self._current:
            from opentelemetry.context import attach

            self._outer = attach(trace.set_span_in_context(span))
        return self

    def __exit__(self, kind: type[BaseException] | None, _: BaseException | None, __: TracebackType | None) -> None:
        failed = kind is not None and kind is not GeneratorExit
        if failed:
            assert kind is not None
            self.set({"error.type": kind.__name__})
        if self._observer is not None:
            self._observer.ended(self._attributes, time.perf_counter() - self._began)
        if self._span is None:
            return
        if failed:
            from opentelemetry.trace import StatusCode

            self._span.set_status(StatusCode.ERROR)
        if self._outer is not None:
            from opentelemetry.context import detach

            detach(self._outer)
        self._span.end()


def pipeline(name: str) -> Callable[[Callable[P, Coroutine[Any, Any, R]]], Callable[P, Coroutine[Any, Any, R]]]:
    """A decorator: each run of the pipeline `name` is a span."""

    def wrap(work: Callable[P, Coroutine[Any, Any, R]]) -> Callable[P, Coroutine[Any, Any, R]]:
        @wraps(work)
        async def spanned(*args: P.args, **kwargs: P.kwargs) -> R:
            with Spanning(name, {"gen_ai.operation.name": "invoke_workflow", "gen_ai.agent.name": name}):
                return await work(*args, **kwargs)

        return spanned

    return wrap


def agent(name: str, by: Literal["model", "numbers"]) -> Spanning:
    """The span of one agent, which asks a model or reckons."""
    attributes: Attributes = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": name, "personable.by": by}
    return Spanning(f"invoke_agent {name}", attributes)


def model_call(model: str, asker: str, *, stream: bool = False) -> Spanning:
    """The span of one call of the model that settings call `model`, asked by the agent `asker`; see `spent`."""
    provider, _, asked = model.partition(":")
    if provider == "llamacpp":  # a path can name the person whose folder it leads through
        asked = PurePath(asked).name
    attributes: Attributes = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": provider,
        "gen_ai.request.model": asked or model,
        "gen_ai.agent.name": asker,
        "gen_ai.request.stream": stream,
    }
    return Spanning(f"chat {asked or model}", attributes, current=not stream)


def spent(prompt: int, cached: int, completion: int) -> Attributes:
    """The tokens of a model call, as attributes for its span."""
    return {
        "gen_ai.usage.input_tokens": prompt,
        "gen_ai.usage.cache_read.input_tokens": cached,
        "gen_ai.usage.output_tokens": completion,
    }


def retrieval(k: int) -> Spanning:
    """The span of a search for `k` passages; see `hits`."""
    return Spanning("retrieval", {"gen_ai.operation.name": "retrieval", "gen_ai.retrieval.top_k": k})


def hits(count: int) -> Attributes:
    """How many passages a search found, as an attribute for its span."""
    return {"personable.hits": count}
