"""The collections as the page offers them: which there are, and what each holds."""

from __future__ import annotations

import asyncio
from contextlib import closing
from pathlib import Path
from typing import Literal, NamedTuple

from personable.errors import PersonableError
from personable.retrieval.catalogue import ITEM, MARK
from personable.retrieval.certified import STORED
from personable.retrieval.database import Database
from personable.server.engine import Engine

Kind = Literal["documents", "items", "certified", "unreadable"]


class Shelf(NamedTuple):
    """A collection; `problem` says why it cannot be read, "" where it can."""

    name: str
    kind: Kind
    passages: int = 0
    documents: int = 0
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
    folder = home / "collections" / name
    try:
        with closing(Database(folder, write=False)) as database:
            items = len(database.matching({MARK: ITEM})) > 0
            counts = (database.count(), len(database.documents()))
    except PersonableError as error:
        return Shelf(name, "unreadable", problem=str(error))
    kind: Kind = "certified" if (folder / STORED).is_file() else "items" if items else "documents"
    return Shelf(name, kind, *counts)
