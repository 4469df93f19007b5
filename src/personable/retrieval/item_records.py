"""Records of catalogues as items: plain JSONL and CSV, and the Amazon review layouts of 2014, 2018 and 2023."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from personable.retrieval.document import clean
from personable.retrieval.markup import html_text
from personable.types import Item, Scalar

ID = "item id _id item_id parent_asin asin product_id sku code".split()
TITLE = "title name product_name product".split()
DESCRIPTION = "description descriptions text details_text features feature about abstract".split()
CATEGORY = "category categories main_category main_cat genre type".split()
BRAND = "brand store manufacturer author maker".split()
PRICE = "price cost list_price".split()
STOCK = "in_stock stock available availability".split()
REVIEWS = "reviews review".split()
TITLE_LENGTH, TEXT_LENGTH, VALUE_LENGTH = 300, 8000, 200
"""Characters that are kept of a title, a description or review, and an attribute."""
KEPT_REVIEWS = 3
_MARKUP = re.compile(r"</?[a-zA-Z!][^>]*>|&(?:[a-zA-Z]+|#\d+);")
_NUMBER = re.compile(r"\d[\d.,' \u00a0\u202f]*")
_NO = frozenset("0 false no n out none sold unavailable".split())


class Review(NamedTuple):
    """What somebody wrote about an item."""

    item: str
    text: str


def read_item(record: Mapping[str, Any]) -> Item | Review | str:
    """The item or the review that a record holds, or what is wrong with it."""
    fields = {name.strip().lower(): value for name, value in record.items()}
    id = _one_line(_first(fields, ID), VALUE_LENGTH)
    if not id:
        return f"no id; its fields are: {', '.join(record)}"
    if "reviewerid" in fields or "user_id" in fields:
        return Review(id, _text(fields.get("reviewtext", fields.get("text"))))
    description = "\n".join(_text(fields[name]) for name in DESCRIPTION if name in fields).strip()[:TEXT_LENGTH]
    title = _one_line(_first(fields, TITLE), TITLE_LENGTH) or _one_line(description, 80)
    if not title:
        return f"item {id!r} has neither title nor description: nothing could be said about it"
    reviews = [_text(one) for one in _listed(_first(fields, REVIEWS))]
    return Item(
        id=id,
        title=title,
        description=description,
        category=_category(_first(fields, CATEGORY)),
        brand=_one_line(_first(fields, BRAND), VALUE_LENGTH),
        price=price(_first(fields, PRICE)),
        in_stock=_in_stock(_first(fields, STOCK)),
        attributes=_attributes(record, fields.get("attributes", fields.get("details"))),
        reviews=tuple(one for one in reviews if one)[:KEPT_REVIEWS],
    )


def price(value: Any) -> float | None:
    """A price as a number: 1299.0 for "$1,299.00" and "1.299,00 €", the lower end of a range, None without one."""
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, int | float):
        return float(value) if math.isfinite(value) and value >= 0 else None
    text = str(value).strip()
    found = _NUMBER.search(text) if len(text) <= 40 else None  # longer ones are style sheets, not prices
    if found is None or text.startswith("-"):
        return None
    digits = re.sub(r"[' \u00a0\u202f]", "", found[0]).rstrip(".,")
    mark = max(digits.rfind("."), digits.rfind(","))
    decimals = digits[mark + 1 :] if mark >= 0 else ""
    # Three digits after the only comma, or after one of several equal marks, are thousands.
    if mark < 0 or (len(decimals) == 3 and (digits[mark] == "," or digits.count(".") > 1)):
        return float(re.sub(r"[.,]", "", digits))
    return float(re.sub(r"[.,]", "", digits[:mark]) + "." + (decimals or "0"))


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
    return _one_line(value, VALUE_LENGTH)


def _in_stock(value: Any) -> bool:
    if isinstance(value, str):
        return value.strip().lower().split(" ")[0] not in _NO
    return value is None or bool(value)


def _attributes(record: Mapping[str, Any], details: Any) -> dict[str, Scalar]:
    known = {*ID, *TITLE, *DESCRIPTION, *CATEGORY, *BRAND, *PRICE, *STOCK, *REVIEWS, "attributes", "details"}
    given = {name: value for name, value in record.items() if name.strip().lower() not in known}
    if isinstance(details, dict):
        given |= details
    kept: dict[str, Scalar] = {}
    for name, value in given.items():
        if isinstance(value, bool | int) or (isinstance(value, float) and math.isfinite(value)):
            kept[clean(str(name))] = value
        elif isinstance(value, str) and 0 < len(value) <= VALUE_LENGTH and "://" not in value:
            kept[clean(str(name))] = _one_line(value, VALUE_LENGTH)
    return kept
