"""Records of catalogues as items: plain JSONL and CSV, and the Amazon review layouts of 2014, 2018 and 2023."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from personable.retrieval.document import clean
from personable.retrieval.markup import html_text
from personable.retrieval.prices import price
from personable.retrieval.records import json_record
from personable.types import Item, Scalar

ID = "id _id item_id parent_asin asin product_id".split()
CODE = "sku code".split()
TITLE = "title name product_name product".split()
DESCRIPTION = "description descriptions text details_text features feature about abstract".split()
CATEGORY = "category categories main_category main_cat genre type".split()
BRAND = "brand store manufacturer author maker".split()
PRICE = "price cost list_price".split()
STOCK = "in_stock stock available availability".split()
REVIEWS = "reviews review".split()
REVIEW = "text reviewtext body".split()
RATED = {*REVIEW, "rating", "overall", "verified_purchase"}
"""What tells a review from an item that names the person who sells it."""
TITLE_LENGTH, TEXT_LENGTH, VALUE_LENGTH = 300, 8000, 200
"""Characters that are kept of a title, a description or review, and an attribute."""
KEPT_REVIEWS = 3
SHOWN = 40
"""Characters that are shown of a price that cannot be read."""
_MARKUP = re.compile(r"</?[a-zA-Z!][^>]*>|&(?:[a-zA-Z]+|#\d+);")
_STEP = re.compile(r"\s*[>|]\s*")
_QUOTED = re.compile(r"'([^']*)'|\"([^\"]*)\"")
_JOINT = re.compile(r"(?<=[a-z])(?=[A-Z])|[\s_./-]+")
_LEFT = re.compile(r"[-+]?\d+(?:\.\d+)?")
_GONE = re.compile(
    r"n$|(?:false|no|none|out|sold)\b|.*\b(?:out ?of ?stock|sold ?out|unavailable|discontinued|no longer|no stock"
    r"|not (?:currently |yet )?(?:in ?stock|available)|(?:on ?)?back ?order(?:ed)?|pre ?(?:order|sale))\b"
)
_NO_PRICE = frozenset(("", "none", "null", "nan", "n/a", "-", "–"))


class Review(NamedTuple):
    """What somebody wrote about an item."""

    item: str
    text: str


def read_item(record: Mapping[str, Any]) -> Item | Review | str:
    """The item or the review that a record holds, or what is wrong with it."""
    fields = _folded(record)
    ids, names = _names_of(fields)
    id = _one_line(_first(fields, ids), VALUE_LENGTH)
    if not id:
        return f"no id; its fields are: {', '.join(record)}"
    if "reviewerid" in fields or ("user_id" in fields and RATED & fields.keys()):
        return Review(id, _text(_first(fields, REVIEW)))
    description = "\n".join(_text(fields[name]) for name in DESCRIPTION if name in fields).strip()[:TEXT_LENGTH]
    title = _one_line(_first(fields, names), TITLE_LENGTH) or _one_line(description, 80)
    if not title:
        return f"item {id!r} has neither title nor description: nothing could be said about it"
    reviews = [_review(one) for one in _listed(_first(fields, REVIEWS))]
    return Item(
        id=id,
        title=title,
        description=description,
        category=_category(_first(fields, CATEGORY)),
        categories=tuple(dict.fromkeys(name for field in CATEGORY for name in _names(fields.get(field)))),
        brand=_one_line(_first(fields, BRAND), VALUE_LENGTH),
        price=price(_first(fields, PRICE)),
        in_stock=_in_stock(_first(fields, STOCK)),
        attributes=_attributes(record, fields.get("attributes", fields.get("details"))),
        reviews=tuple(one for one in reviews if one)[:KEPT_REVIEWS],
    )


def _names_of(fields: Mapping[str, Any]) -> tuple[list[str], list[str]]:
    """The fields that may hold the id, and those that may hold the title. `item` is a title beside another id; beside a
    mere code a number is the id, if there is another title."""
    numbered = str(fields.get("item", "")).strip().isdigit() and _first(fields, TITLE) is not None
    if _first(fields, ID) is None and (numbered or _first(fields, CODE) is None):
        return ["item"], TITLE
    return [*ID, *CODE], [*TITLE, "item"]


def unread_price(record: Mapping[str, Any]) -> str:
    """The price that a record gives and that `price` could not read, shortened; "" where there is none."""
    given = _first(_folded(record), PRICE)
    if given is None or price(given) is not None or (isinstance(given, float) and math.isnan(given)):
        return ""
    shown = " ".join(str(given).split())
    return "" if shown.lower() in _NO_PRICE else shown[:SHOWN] + "…" * (len(shown) > SHOWN)


def _folded(record: Mapping[str, Any]) -> dict[str, Any]:
    return {name.strip().lower(): value for name, value in record.items()}


def _first(fields: Mapping[str, Any], names: list[str]) -> Any:
    return next((fields[name] for name in names if fields.get(name) not in (None, "", [], {})), None)


def _text(value: Any) -> str:
    """The text of a value, lists joined, markup taken out."""
    if isinstance(value, list | tuple):
        return "\n".join(filter(None, map(_text, value)))
    if value is None or isinstance(value, dict):
        return ""
    text = clean(str(value))
    return (html_text(text) if _MARKUP.search(text) else text).strip()[:TEXT_LENGTH]


def _one_line(value: Any, longest: int) -> str:
    return " ".join(_text(value).split())[:longest].strip()


def _listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else [] if value is None else [value]


def _category(value: Any) -> str:
    """The most special name of a path of categories."""
    while isinstance(value, list | tuple):
        value = value[-1] if value else None
    return next(reversed(_path(value)), "")


def _names(value: Any) -> list[str]:
    """Every name on every path of categories."""
    if isinstance(value, list | tuple):
        return [name for one in value for name in _names(one)]
    return _path(value)


def _path(value: Any) -> list[str]:
    """The names of a path in one text, as tables write it: `Home > Lamps`, `Home|Lamps`, `['Home', 'Lamps']`."""
    text = _one_line(value, TEXT_LENGTH)
    if text.startswith("[") and text.endswith("]"):
        text = "|".join(one or other for one, other in _QUOTED.findall(text)) or text[1:-1]
    return [name for part in _STEP.split(text) if (name := part.strip()[:VALUE_LENGTH])]


def _in_stock(value: Any) -> bool:
    """Whether an item can be had now, from a number, a truth value, or the words of shops and of schema.org.

    Where nothing is said, and of words that are not known, it can: a shop that speaks in words of its own would
    otherwise recommend nothing. What can only be ordered in advance or on back order cannot.
    """
    if not isinstance(value, str):
        return value is None or not (isinstance(value, int | float) and value <= 0)
    if (left := _LEFT.match(value.strip())) is not None:
        return float(left[0]) > 0
    return _GONE.match(_JOINT.sub(" ", value.strip()).lower()) is None


def _review(value: Any) -> str:
    return _text(_first(_folded(value), REVIEW) if isinstance(value, dict) else value)


def _attributes(record: Mapping[str, Any], details: Any) -> dict[str, Scalar]:
    known = {
        "item",
        *ID,
        *CODE,
        *TITLE,
        *DESCRIPTION,
        *CATEGORY,
        *BRAND,
        *PRICE,
        *STOCK,
        *REVIEWS,
        "attributes",
        "details",
    }
    given = {name: value for name, value in record.items() if name.strip().lower() not in known}
    if isinstance(details, str):
        details = json_record(details)
    if isinstance(details, Mapping):
        given |= details
    kept: dict[str, Scalar] = {}
    for name, value in given.items():
        if isinstance(value, bool | int) or (isinstance(value, float) and math.isfinite(value)):
            kept[clean(str(name))] = value
        elif isinstance(value, str) and 0 < len(value) <= VALUE_LENGTH and "://" not in value:
            kept[clean(str(name))] = _one_line(value, VALUE_LENGTH)
    return kept
