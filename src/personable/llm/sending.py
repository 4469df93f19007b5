"""What was really sent, and where: models note each request as it goes out, whatever stands between them and who asked.

A reply cannot tell: a call that was cut off has none, and that of a fallback names only the model that answered.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

from personable.types import Tokens


@dataclass
class Sent:
    """Requests of a while: how many `calls` were made, which models elsewhere each may have `reached`, which of these
    `replied`, and the `tokens` that were counted for whole replies."""

    calls: int = 0
    tokens: Tokens = field(default_factory=Tokens)
    reached: list[str] = field(default_factory=list)
    replied: set[str] = field(default_factory=set)

    @property
    def elsewhere(self) -> tuple[str, ...]:
        """The names of the models elsewhere that may have read what was sent, each once."""
        return tuple(sorted(set(self.reached)))

    @property
    def answered(self) -> tuple[str, ...]:
        """The names of the models elsewhere that certainly read it, as they answered, each once."""
        return tuple(sorted(self.replied))


_WATCHES: ContextVar[tuple[Sent, ...]] = ContextVar("watches", default=())


@contextmanager
def watched() -> Iterator[Sent]:
    """What is sent meanwhile, by this task and those that it starts. Not for generators: they share their context."""
    sent = Sent()
    token = _WATCHES.set((*_WATCHES.get(), sent))
    try:
        yield sent
    finally:
        _WATCHES.reset(token)


@dataclass(frozen=True)
class Request:
    """A request of the model `name` that went out, and who watches. One that is cut off is neither answered nor lost:
    nobody knows how far it came."""

    name: str
    remote: bool
    watches: tuple[Sent, ...]

    def answered(self, tokens: Tokens | None = None) -> None:
        """The model said something to it, be it an error; `tokens` are those of a whole reply."""
        for sent in self.watches:
            if tokens is not None:
                sent.tokens += tokens
            if self.remote:
                sent.replied.add(self.name)

    def unconnected(self) -> None:
        """There was no connection: it was made and reached nobody."""
        for sent in self.watches:
            if self.remote:
                sent.reached.remove(self.name)


def note(name: str, remote: bool) -> Request:
    """A request of the model `name` goes out; what becomes of it is told to what this returns."""
    watches = _WATCHES.get()
    for sent in watches:
        sent.calls += 1
        if remote:
            sent.reached.append(name)
    return Request(name, remote, watches)
