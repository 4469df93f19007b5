"""Catalogues: collections whose passages are items, one each, with price, brand, category and stock as metadata."""

from __future__ import annotations

import ast
import hashlib
import re
import time
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from personable.embed import Vectors
from personable.errors import DataError, UnreadableFileError
from personable.retrieval.item_records import KEPT_REVIEWS, Review, read_item
from personable.retrieval.records import json_record, record_rows
from personable.retrieval.report import Failed, IndexReport
from personable.retrieval.store import PassageStore
from personable.retrieval.textfile import TextFile
from personable.text import sentences
from personable.types import Item, Passage, Value

KINDS = (".csv", ".tsv", ".json", ".jsonl", ".ndjson")
MARK, ITEM = "kind", "catalogue item"
"""The metadata that tells items from passages of documents."""
EVERY = 2000
LONGEST_LINE = 1_000_000


_ORDER = re.compile(
    r"\b(?:rank|rate|place|put|list|recommend|choose|pick|select|score)\b[^.!?]*\b(?:me|this|first|top|highest|best)\b"
    r"|\b(?:ignore|disregard|forget)\b[^.!?]*\b(?:previous|above|instruction|rule|other)s?\b",
    re.IGNORECASE,
)


@dataclass
class Stock:
    """What files hold: items by their ids, in their order, and what could not be read."""

    items: dict[str, Item] = field(default_factory=dict)
    failed: list[Failed] = field(default_factory=list)


class Wanted(Value):
    """Which items may be recommended; prices are in the catalogue's currency, both ends included.

    An item whose price is not known passes no price limit.
    """

    category: str | None = None
    brand: str | None = None
    cheapest: float | None = None
    dearest: float | None = None
    in_stock: bool = True

    def allows(self, item: Item) -> bool:
        """Whether `item` passes."""
        if self.in_stock and not item.in_stock:
            return False
        if self.category is not None and item.category.casefold() != self.category.casefold():
            return False
        if self.brand is not None and item.brand.casefold() != self.brand.casefold():
            return False
        if self.cheapest is None and self.dearest is None:
            return True
        least, most = self.cheapest or 0.0, float("inf") if self.dearest is None else self.dearest
        return item.price is not None and least <= item.price <= most


def read_items(paths: Sequence[Path]) -> Stock:
    """The items of JSONL, JSON and CSV files; records of reviews are added to the items they are about.

    Of two records with one id the first is kept, and the second reported, as are records without id or without title
    and description. Raises DataError where no item can be read.
    """
    stock, reviews = Stock(), dict[str, list[str]]()
    for path in paths:
        if not path.is_file() or TextFile(path).kind not in KINDS:
            raise DataError(f"{path} is no file of items; a catalogue is made from {' '.join(KINDS)} (also .gz)")
        try:
            _read(path, stock, reviews)
        except (UnreadableFileError, OSError, EOFError, zlib.error) as error:
            stock.failed.append(Failed(source=str(path), error=str(error)))
    if not stock.items:
        why = f" ({stock.failed[0].source}: {stock.failed[0].error})" if stock.failed else ": they are empty"
        raise DataError(f"no item in {', '.join(map(str, paths))}{why}; an item needs an id and a title")
    for id, texts in reviews.items():
        if (item := stock.items.get(id)) is not None:
            kept = (*item.reviews, *texts)[:KEPT_REVIEWS]
            stock.items[id] = item.model_copy(update={"reviews": kept})
    return stock


def _read(path: Path, stock: Stock, reviews: dict[str, list[str]]) -> None:
    for line, record in record_rows(TextFile(path), _one_a_line(path), _object):
        found = record if isinstance(record, str) else read_item(record)
        if isinstance(found, Review):
            if found.text and len(reviews.setdefault(found.item, [])) < KEPT_REVIEWS:
                reviews[found.item].append(found.text)
            continue
        if isinstance(found, Item) and found.id in stock.items:
            found = f"the id {found.id!r} was used before; the first item was kept"
        if isinstance(found, Item):
            stock.items[found.id] = found
        else:
            stock.failed.append(Failed(source=f"{path}, line {line}", error=found))


def _one_a_line(path: Path) -> bool:
    """Whether the first line is a record by itself, as in the published `.json` files of reviews."""
    with TextFile(path).text() as lines:
        return isinstance(_object(lines.readline(LONGEST_LINE)), Mapping)


def _object(line: str) -> Mapping[str, Any] | str:
    """A JSON object, or the Python dictionary that a line of the 2014 layout is."""
    found = json_record(line)
    if isinstance(found, str) and line.lstrip().startswith("{'"):
        try:
            value = ast.literal_eval(line.strip())
        except (ValueError, SyntaxError, MemoryError, RecursionError) as error:
            return f"neither JSON nor a Python dictionary: {error}"
        return value if isinstance(value, dict) else found
    return found


def fill(store: PassageStore, stock: Stock) -> IndexReport:
    """Make the collection mirror `stock`: items that are no longer in it leave.

    Raises DataError for a collection that holds documents, ModelError where embedding fails.
    """
    began, held = time.monotonic(), store.documents()
    if held and not is_catalogue(store):
        raise DataError(f"the collection at {store.folder} holds documents; give items a collection of their own")
    counts = dict.fromkeys(("added", "replaced", "unchanged", "removed", "passages"), 0)
    for id in held.keys() - stock.items.keys():
        store.drop(id)
        counts["removed"] += 1
    for number, item in enumerate(stock.items.values(), 1):
        digest = hashlib.sha256(item.model_dump_json().encode()).hexdigest()
        if held.get(item.id) == digest:
            counts["unchanged"] += 1
            continue
        store.put(item.id, digest, [as_passage(item)])
        counts["replaced" if item.id in held else "added"] += 1
        counts["passages"] += 1
        if number % EVERY == 0:
            store.commit()
    store.commit()
    return IndexReport(**counts, failed=stock.failed, skipped=[], seconds=time.monotonic() - began)


def as_passage(item: Item) -> Passage:
    """The passage that stands for an item: its text is what is searched, its metadata what is filtered.

    Sentences that speak to whoever ranks it are left out, so that neither numbers nor models read them.
    """
    facts = "\n".join(f"{name}: {value}" for name, value in item.attributes.items())
    parts = [item.brand, item.category, item.description, facts, *item.reviews]
    own = {MARK: ITEM, "brand": item.brand, "category": item.category, "in_stock": item.in_stock}
    return Passage(
        id=item.id,
        document=item.id,
        title=without_orders(item.title) or item.id,
        text="\n".join(filter(None, map(without_orders, parts))),
        meta={**item.attributes, **own, **({} if item.price is None else {"price": item.price})},
    )


def without_orders(text: str) -> str:
    """`text` without the sentences that ask to be ranked or rules to be forgotten: they say nothing about an item."""
    if not _ORDER.search(text):
        return text
    return " ".join(one.text for one in sentences(text) if not _ORDER.search(one.text))


def item_of(passage: Passage) -> Item:
    """The item that `as_passage` put there, its whole text as description. Raises DataError for one of a document."""
    meta = passage.meta
    if meta.get(MARK) != ITEM:
        raise DataError(
            f"passage {passage.id!r} is no item of a catalogue: personable index FILE --items --into NAME makes one"
        )
    price = meta.get("price")
    return Item(
        id=passage.id,
        title=passage.title,
        description=passage.text,
        category=str(meta.get("category", "")),
        brand=str(meta.get("brand", "")),
        price=float(price) if isinstance(price, int | float) else None,
        in_stock=bool(meta.get("in_stock", True)),
    )


def is_catalogue(store: PassageStore) -> bool:
    """Whether the collection holds items."""
    rows = store.rows({MARK: ITEM})
    return rows is not None and len(rows) > 0


def all_items(store: PassageStore) -> tuple[list[Item], Vectors | None]:
    """Every item of a catalogue with its vector, shape (items, dim); None for a collection without vectors.

    Raises DataError for an empty collection and for one of documents.
    """
    passages, vectors = store.everything()
    if not passages:
        raise DataError(f"the catalogue at {store.folder} is empty: personable index FILE --items --into NAME fills it")
    return [item_of(passage) for passage in passages], vectors
