"""Orders to whoever ranks, which sellers put into the texts of items, and the same texts without them."""

from __future__ import annotations

import re

from personable.text import sentences

_RANK = "(?:re-?rank|rank|rate|score|recommend|suggest|choose|pick|select)"
_PUT = "(?:place|put|list|show|keep|move|sort|order)"
_MUST = "(?:must|should|shall|has to|needs to|is to|ought to) (?:always )?(?:be|come)"
_ME = r"(?:me|us|(?:this|my|our) (?:\w+ ){0,2}(?:item|product|listing|entry|candidate|offer|one))"
_FIRST = (
    "(?:(?:as|at|in|on|to|the|your|its|very) )*"
    r"(?:first|1st|(?:number|no\.?|rank|place|position) (?:one|1)|\#\s?1|top|highest|best|above(?: all| any| the)*)"
)
_LIST = "(?:list|ranking|result|recommendation|order|candidate|item|product|other|answer)s?"
# What may follow a place: else it is the first word of something else, as in "choose this top for summer".
_END = (
    f"(?: (?:{_LIST}|place|position|spot|rank|choice|score|rating))?"
    r"(?=\W*$|[.!?,;:)\]\"'”’…–—-]| [–-] | (?:and|or|please|always|every|no matter|before|above|over|among)\b"
    rf"| (?:of|in|on|for) (?:(?:the|your|any|every|all|each|other) )*(?:{_LIST}|users?|customer|query|person)\b)"
)
_NOT_I = r"(?<!\bI\s)(?<!\bwe\s)(?<!would\s)(?<!['’]d\s)"
"""A reviewer who says "I rate this the highest" orders nothing."""
_RULES = "(?:instructions?|rules?|prompts?|guidelines)"
_ORDER = re.compile(  # a space stands for any white space
    "|".join(
        (
            rf"\b(?:{_RANK}|{_PUT}) {_ME} {_FIRST}{_END}",
            rf"{_NOT_I}\b{_RANK} (?:this|it) {_FIRST}{_END}",
            rf"\b{_PUT} (?:this|it)(?: \w+)? (?:at|to|on) (?:the )?(?:very )?top of (?:\w+ )?{_LIST}\b",
            rf"\bgive (?:{_ME}|this|it) (?:a|the|your) (?:top|highest|best|full|perfect) (?:score|rank|rating|mark)",
            rf"\b(?:this(?: \w+){{0,2}}|it|I) {_MUST} (?:(?:{_RANK}e?d?|{_PUT}(?:ed)?|chosen) )?{_FIRST}{_END}",
            rf"(?:^|(?<=[.!?:]\s))(?:please )?always {_RANK} {_ME}\b",
            r"\b(?:ignore|disregard|forget|override) (?:(?:about|all|any|every|of|the) )*"
            rf"(?:(?:previous|prior|above|earlier|preceding|your|system|these|those|given) )+(?:{_RULES}|items)\b",
            rf"\b(?:ignore|disregard|forget) (?:all|any|every|the) (?:(?:the|of) )*{_RULES}\b(?! of)",
            r"\b(?:ignore|disregard|forget) (?:(?:all|any|the) )*other instructions?\b",
            r"\b(?:ignore|disregard) (?:(?:all|any|the) )*other (?:items|candidates)\b",
            r"\b(?:ignore|disregard|forget) (?:everything|all|anything|what) (?:\w+ ){0,2}above\b",
        )
    ).replace(" ", r"\s+"),
    re.IGNORECASE | re.MULTILINE,
)
_JOINT = re.compile(r"(\s*[.!?;:,|()\[\]–—]+(?:\s+|$)|\s+[-(\[]+\s*)")


def without_orders(text: str) -> str:
    """`text` without the sentences that order whoever ranks: they say nothing about an item."""
    return _parted(text)[0]


def orders(text: str) -> list[str]:
    """The sentences of `text` that `without_orders` leaves out."""
    return _parted(text)[1]


def _parted(text: str) -> tuple[str, list[str]]:
    """The text without its orders, and the orders. One that runs over a line's end is one nevertheless."""
    spans = [found.span() for found in _ORDER.finditer(text)]
    if not spans:
        return text, []
    kept, ordered = list[str](), list[str]()
    for one in sentences(text):
        is_order = any(start < one.end and one.start < end for start, end in spans)
        (ordered if is_order else kept).append(one.text)
    return " ".join(kept), ordered


def clauses_without_orders(title: str) -> str:
    """`title` without the clauses that order whoever ranks, and without the marks that led to them or ended them."""
    if not _ORDER.search(title):
        return title
    parts, kept, after_order = _JOINT.split(title), "", False
    for mark, clause in zip(["", *parts[1::2]], parts[::2], strict=True):
        if _ORDER.search(clause):
            after_order = True
        elif clause.strip():
            joint = re.sub(r"[()\[\]]", "", mark) if after_order else mark
            kept, after_order = f"{kept}{joint}{clause}" if kept else clause, False
    return kept.strip()
