"""A passage, opened where a citation points."""

from __future__ import annotations

from typing import NamedTuple

from personable.errors import ConfigurationError
from personable.kit import Kit
from personable.retrieval.showing import shown
from personable.types import Passage


class Opened(NamedTuple):
    """A passage in three stretches; `marked` is what was quoted, "" where that is all of it."""

    passage: Passage
    before: str
    marked: str
    after: str


def opened(kit: Kit, id: str, start: int, end: int) -> Opened:
    """The passage with the stretch from `start` to `end`, offsets into its document's text, apart.

    Raises NotFoundError, and what `shown` raises of certified ones. Blocks: call it from a worker thread.
    """
    if kit.store is None:
        raise ConfigurationError("this kit was opened without a collection, so there is no passage to open")
    found = shown(kit.store, kit.store.passage(id))
    size = len(found.text)
    first = min(max(start - found.start, 0), size)
    last = min(max(end - found.start, first), size)
    if last - first in (0, size):
        return Opened(found, found.text, "", "")
    return Opened(found, found.text[:first], found.text[first:last], found.text[last:])
