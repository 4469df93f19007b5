"""What was really sent, and where: models note each request as it goes out, whatever stands between them and who asked.

A reply cannot tell: a call that was cut off has none, and that of a fallback names only the model that answered.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field


@dataclass
class Sent:
    """Requests of a while: how many `calls` were made, and which models elsewhere one reached, a name for each."""

    calls: int = 0
    reached: list[str] = field(default_factory=list)

    @property
    def elsewhere(self) -> tuple[str, ...]:
        """The names of the models elsewhere, each once."""
        return tuple(sorted(set(self.reached)))


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


def note(name: str, remote: bool) -> Sequence[Sent]:
    """A request of the model `name` goes out; returns who watches, for `take_back`."""
    watches = _WATCHES.get()
    for sent in watches:
        sent.calls += 1
        if remote:
            sent.reached.append(name)
    return watches


def take_back(name: str, watches: Sequence[Sent]) -> None:
    """The request of the model `name`, elsewhere, found no connection: it was made and reached nobody."""
    for sent in watches:
        sent.reached.remove(name)
