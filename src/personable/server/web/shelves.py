"""The collections as the page offers them: which there are, and what each holds."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import NamedTuple

from personable.errors import PersonableError
from personable.retrieval.corpus import Kind, collection_kind
from personable.server.engine import Engine


class Shelf(NamedTuple):
    """A collection. `kind` is None, and `problem` says why, where it cannot be read."""

    name: str
    kind: Kind | None
    problem: str = ""


async def shelves(engine: Engine, *kinds: Kind) -> list[Shelf]:
    """The collections of these kinds (none given: all), by name."""
    home = engine.settings.home
    found = await asyncio.to_thread(lambda: [_look(home, name) for name in engine.collections()])
    return [one for one in found if not kinds or one.kind in kinds]


def chosen(there: list[Shelf], named: str) -> str:
    """The name meant among these: the named one, else `default`, else the first; "" where there is none."""
    names = [one.name for one in there]
    return next((name for name in (named, "default", *names) if name in names), "")


def _look(home: Path, name: str) -> Shelf:
    try:
        return Shelf(name, collection_kind(home, name))
    except PersonableError as error:
        return Shelf(name, None, str(error))
