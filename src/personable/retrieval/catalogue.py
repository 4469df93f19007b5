"""Catalogues: collections whose passages are items, one each, with price, brand, category and stock as metadata."""

from __future__ import annotations

import ast
import hashlib
import time
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

from personable.embed import Vectors
from personable.errors import DataError, UnreadableFileError
from personable.retrieval.item_records import KEPT_REVIEWS, Review, read_item, unread_price
from personable.retrieval.orders import clauses_without_orders, orders, without_orders
from personable.retrieval.records import json_record, record_rows
from personable.retrieval.report import Failed, IndexReport, Skipped
from personable.retrieval.store import PassageStore
from personable.retrieval.textfile import TextFile
from personable.types import Item, Passage, Scalar, Value

KINDS = (".csv", ".tsv", ".json", ".jsonl", ".ndjson")
CATEGORIES = "categories"
"""The metadata that holds every name of an item's categories, one a line."""
MARK, ITEM = "kind", "catalogue item"
"""The metadata that tells items from passages of documents."""
FIELDS = {MARK, CATEGORIES, "brand", "category", "in_stock", "price"}
"""The metadata of every item; an attribute of such a name is kept in the text only."""
NONE_LEFT = "so no item was taken out of the catalogue"
EVERY = 500
LONGEST_LINE = 1_000_000
SHORT = 80
"""Characters of a description that stand for a title, and of an order in a report."""


@dataclass
class Stock:
    """What files hold: items by their ids, in their order, and what could not be read; `whole` unless a file could not
    be read to its end."""

    items: dict[str, Item] = field(default_factory=dict)
    failed: list[Failed] = field(default_factory=list)
    whole: bool = True


class Wanted(Value):
    """Which items may be recommended; prices are in the catalogue's currency, both ends included.

    `category` is any name on any path of an item's categories, or its main category; case does not matter. An item
    whose price is not known passes no price limit.
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
        if self.category is not None:
            names = {name.casefold() for name in (item.category, *item.categories)}
            if self.category.strip().casefold() not in names:
                return False
        if self.brand is not None and item.brand.casefold() != self.brand.strip().casefold():
            return False
        if self.cheapest is None and self.dearest is None:
            return True
        least, most = self.cheapest or 0.0, float("inf") if self.dearest is None else self.dearest
        return item.price is not None and least <= item.price <= most


def read_items(paths: Sequence[Path]) -> Stock:
    """The items of JSONL, JSON and CSV files; records of reviews are added to the items they are about.

    Of two records with one id the first is kept, and the second reported, as are records without id or without title
    and description, and for each file how many prices could not be read. Raises DataError where no item can be read.
    """
    stock, reviews = Stock(), dict[str, list[str]]()
    for path in paths:
        if not path.is_file() or TextFile(path).kind not in KINDS:
            raise DataError(f"{path} is no file of items; a catalogue is made from {' '.join(KINDS)} (also .gz)")
        try:
            _read(path, stock, reviews)
        except (UnreadableFileError, OSError, EOFError, zlib.error) as error:
            stock.failed.append(Failed(source=str(path), error=f"{error}; {NONE_LEFT}"))
            stock.whole = False
    if not stock.items:
        why = f" ({stock.failed[0].source}: {stock.failed[0].error})" if stock.failed else ": they are empty"
        raise DataError(f"no item in {', '.join(map(str, paths))}{why}; an item needs an id and a title")
    for id, texts in reviews.items():
        if (item := stock.items.get(id)) is not None:
            kept = (*item.reviews, *texts)[:KEPT_REVIEWS]
            stock.items[id] = item.model_copy(update={"reviews": kept})
    return stock


def _read(path: Path, stock: Stock, reviews: dict[str, list[str]]) -> None:
    unread: list[tuple[int, str]] = []
    record: Any = None
    for line, record in record_rows(TextFile(path), _one_a_line(path), _object):
        found = record if isinstance(record, str) else read_item(record)
        if isinstance(found, Review):
            if found.text and len(reviews.setdefault(found.item, [])) < KEPT_REVIEWS:
                reviews[found.item].append(found.text)
            continue
        if isinstance(found, Item) and found.id in stock.items:
            found = f"the id {found.id!r} was used before; the first item was kept"
        if isinstance(found, str) or isinstance(record, str):
            stock.failed.append(Failed(source=f"{path}, line {line}", error=str(found)))
            continue
        stock.items[found.id] = found
        if price := unread_price(record):
            unread.append((line, price))
    if isinstance(record, str):  # the last one: the file breaks off there
        stock.failed[-1] = Failed(source=stock.failed[-1].source, error=f"{record}; {NONE_LEFT}")
        stock.whole = False
    if unread:
        (line, price), many = unread[0], f" and {len(unread) - 1} more of this file" * (len(unread) > 1)
        why = f"the price {price!r}{many} cannot be read surely; the item is kept without one"
        stock.failed.append(Failed(source=f"{path}, line {line}", error=why))


def _one_a_line(path: Path) -> bool:
    """Whether the first line is a record by itself, as in the published `.json` files of reviews, and not all of them
    under one name."""
    with TextFile(path).text() as lines:
        first = _object(lines.readline(LONGEST_LINE))
    wrapped = len(first) == 1 and isinstance(next(iter(first.values())), list) if isinstance(first, Mapping) else False
    return isinstance(first, Mapping) and not wrapped


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


def fill(store: PassageStore, stock: Stock, told: Callable[[int, int], None] = lambda items, new: None) -> IndexReport:
    """Make the collection mirror `stock`: items that are no longer in it leave, if it is whole. `told`
    hears after each commit how many items are done and how many of them were written; it may raise to stop, and what
    was committed stays.

    Raises DataError for a collection that holds documents, ModelError where embedding fails.
    """
    began, held = time.monotonic(), store.documents()
    if held and not is_catalogue(store):
        raise DataError(f"the collection at {store.folder} holds documents; give items a collection of their own")
    counts = dict.fromkeys(("added", "replaced", "unchanged", "removed", "passages"), 0)
    skipped = {item.id: _left_out(item) for item in stock.items.values()}
    for id in held.keys() - stock.items.keys() if stock.whole else ():
        store.drop(id)
        counts["removed"] += 1
    for number, item in enumerate(stock.items.values(), 1):
        # What was left out counts: a version that leaves out more stores such an item anew.
        whole = item.model_dump_json() + "".join(one.reason for one in skipped[item.id])
        digest = hashlib.sha256(whole.encode()).hexdigest()
        if held.get(item.id) == digest:
            counts["unchanged"] += 1
        else:
            store.put(item.id, digest, [as_passage(item)])
            counts["replaced" if item.id in held else "added"] += 1
            counts["passages"] += 1
        if number % EVERY == 0:
            store.commit()
            told(number, counts["passages"])
    store.commit()
    return IndexReport(
        **counts, failed=stock.failed, skipped=[*chain(*skipped.values())], seconds=time.monotonic() - began
    )


def as_passage(item: Item) -> Passage:
    """The passage that stands for an item: its text is what is searched, its metadata what is filtered.

    Sentences and clauses of the title that order whoever ranks are left out, so that neither numbers nor models read
    them.
    """
    own: dict[str, Scalar] = {MARK: ITEM, "brand": item.brand, "category": item.category, "in_stock": item.in_stock}
    own[CATEGORIES] = "\n".join(item.categories)
    if item.price is not None:
        own["price"] = item.price
    return Passage(
        id=item.id,
        document=item.id,
        title=_title(item),
        text="\n".join(filter(None, map(without_orders, _texts(item)))),
        meta={**{name: value for name, value in item.attributes.items() if name not in FIELDS}, **own},
    )


def _title(item: Item) -> str:
    """The title without its orders; of one that is nothing else, what the item says of itself instead."""
    said = " ".join(without_orders(item.description).split())[:SHORT].strip()
    return clauses_without_orders(item.title) or said or item.brand or item.category or item.id


def _left_out(item: Item) -> list[Skipped]:
    """The orders in an item's texts, as they are reported."""
    found = [order for text in (item.title, *_texts(item)) for order in orders(text)]
    return [Skipped(source=f"item {item.id}", reason=f"speaks to whoever ranks: {one[:SHORT]!r}") for one in found]


def _texts(item: Item) -> list[str]:
    facts = "\n".join(f"{name}: {value}" for name, value in item.attributes.items())
    return [item.brand, item.category, item.description, facts, *item.reviews]


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
        categories=tuple(filter(None, str(meta.get(CATEGORIES, "")).split("\n"))),
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
