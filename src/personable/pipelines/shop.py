"""A catalogue as `recommend` uses it: items, their numbers in memory, and the weights of the lists."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from pydantic import ValidationError

from personable.errors import ConfigurationError, DataError
from personable.kit import Kit
from personable.people.events import Event
from personable.people.portrait import worth
from personable.retrieval.catalogue import Wanted, all_items
from personable.retrieval.choice import UNFITTED, Fusion, fit
from personable.retrieval.shelf import Shelf, item_terms
from personable.retrieval.visits import Sessions, Visits
from personable.types import Item

WEIGHTS = "weights.json"


@dataclass(frozen=True)
class Shop:
    """Items in the order of the shelf's rows. Open it once: what people do later counts when it is opened again."""

    items: Sequence[Item]
    shelf: Shelf
    fusion: Fusion = UNFITTED
    name: str = ""
    rows: dict[str, int] = field(init=False)
    _usual: NDArray[np.bool_] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "rows", {item.id: row for row, item in enumerate(self.items)})
        object.__setattr__(self, "_usual", self._matching(Wanted()))

    def allowed(self, wanted: Wanted) -> NDArray[np.bool_]:
        """Which rows pass the filter, shape (items,); a fresh array."""
        return self._usual.copy() if wanted == Wanted() else self._matching(wanted)

    def _matching(self, wanted: Wanted) -> NDArray[np.bool_]:
        return np.array([wanted.allows(item) for item in self.items], dtype=bool)


async def open_shop(kit: Kit) -> Shop:
    """The kit's collection as a catalogue, with co-visitation from what everybody did so far.

    Raises ConfigurationError for a kit without a collection, DataError for one that is empty or holds documents, and
    for weights that cannot be read.
    """
    return await _opened(kit, _stored(_folder(kit) / WEIGHTS))


async def _opened(kit: Kit, fusion: Fusion) -> Shop:
    assert kit.store is not None
    items, vectors = await asyncio.to_thread(all_items, kit.store)
    rows = {item.id: row for row, item in enumerate(items)}
    everybody = await _everybody(kit, kit.store.folder.name, rows)
    terms = await asyncio.to_thread(item_terms, items, kit.language)
    visits = await asyncio.to_thread(Visits.count, len(items), everybody)
    return Shop(items, Shelf(terms, vectors, visits), fusion, kit.store.folder.name)


async def learn_weights(kit: Kit) -> Fusion:
    """Fit the weights of the kit's catalogue to what people chose, and keep them with it, whatever was kept before:
    the unfitted ones where the fit proves no better.

    Raises what `open_shop` raises of the catalogue, and DataError where too few people chose anything.
    """
    path = _folder(kit) / WEIGHTS
    shop = await _opened(kit, UNFITTED)
    everybody = await _everybody(kit, shop.name, shop.rows)
    try:
        fusion = await asyncio.to_thread(fit, shop.shelf.terms, shop.shelf.vectors, everybody)
    except DataError as error:
        raise DataError(f"{error}: record more purchases or clicks") from error
    half = path.with_suffix(".new")
    half.write_text(fusion.model_dump_json(indent=2), encoding="utf-8")
    half.replace(path)  # at once, so that a kill leaves no damaged file
    return fusion


def _folder(kit: Kit) -> Path:
    if kit.store is None:
        raise ConfigurationError("no catalogue is open: personable index FILE --items --into NAME makes one")
    return kit.store.folder


def _stored(path: Path) -> Fusion:
    if not path.is_file():
        return UNFITTED
    try:
        return Fusion.model_validate_json(path.read_bytes())
    except ValidationError as error:
        raise DataError(f"{path} holds no weights of this version; make them again: personable tune") from error


async def _everybody(kit: Kit, name: str, rows: dict[str, int]) -> list[Sessions]:
    """For each person their sessions of rows, oldest first; deeds without a session are one session together."""
    if kit.people is None:
        return []
    persons: dict[str, dict[str | None, list[int]]] = {}
    for person, session, item, kind, value in await kit.people.item_events(name):
        event = Event.model_construct(person=person, kind=kind, value=value)
        if item in rows and worth(event) > 0:
            persons.setdefault(person, {}).setdefault(session, []).append(rows[item])
    return [list(sessions.values()) for sessions in persons.values()]
