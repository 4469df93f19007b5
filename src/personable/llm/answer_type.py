"""What kind of answer a question asks for: a person, a place, a date, a number, a definition, a thing named by a noun."""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

Kind = Literal["person", "place", "date", "number", "definition", "reason", "yesno", "thing"]


class AnswerType(NamedTuple):
    """`kind` of the answer, and the noun that names its class in "which city", "what colour" ("" where there is none)."""

    kind: Kind
    head: str = ""


_PERSON_NOUNS = frozenset(
    "actor actress artist author boxer character chef composer designer director explorer footballer golfer gymnast king "
    "leader man musician name novelist painter philosopher player poet politician pope president queen saint scientist "
    "singer woman writer".split()
)
_PLACE_NOUNS = frozenset(
    "capital city continent country county island lake location mountain nation ocean place port province region river sea "
    "state stadium street town village".split()
)
_DATE_NOUNS = frozenset("birthday century date day decade month year years".split())
_NUMBER_NOUNS = frozenset(
    "age amount area code depth distance frequency height length number percentage population price size speed temperature "
    "value weight".split()
)
_HEADS: tuple[tuple[frozenset[str], Kind], ...] = (
    (_DATE_NOUNS, "date"),
    (_PLACE_NOUNS, "place"),
    (_NUMBER_NOUNS, "number"),
    (_PERSON_NOUNS, "person"),
)
_WHO = re.compile(r"\b(?:who|whom|whose)\b")
_WHEN = re.compile(r"\bwhen\b")
_WHERE = re.compile(r"\bwhere\b")
_WHY = re.compile(r"^\W*(?:why|how (?:do|does|did|can|could|to|is|are|was|were|would|should))\b")
_NUMBER = re.compile(
    r"\bhow (?:many|much|old|long|far|tall|high|big|large|deep|fast|often|heavy|wide|late|early)\b"
)
_YES_NO = re.compile(
    r"^\W*(?:is|are|was|were|do|does|did|can|could|has|have|had|will|would|should|may|must)\b(?!.*\bor\b)"
)
_HEAD = re.compile(
    r"\b(?:what|which)(?:'s)?\s+(?:(?:kind|type|sort|name|part|form|one)\s+of\s+)?(?:(?:is|are|was|were)\s+)?"
    r"(?:(?:the|a|an|your|my|his|her|its|their)\s+)?(?:(?:name|names|kind|type|form)\s+of\s+(?:the\s+|a\s+|an\s+)?)?"
    r"((?:[\w'’-]+\s*){1,4})"
)
_VERBS = frozenset(
    "is are was were do does did can could has have had will would should may must of in on at to for from by with and or "
    "that who which the a an it he she they you i we called known used made".split()
)
_DEFINITION = re.compile(
    r"^\W*(?:what(?:'s| is| are| was| were)|who(?:'s| is| are| was| were)|define|describe|explain)\s+(?:an?\s+|the\s+)?"
    r"[\w'’-]+(?:\s+(?!of\b|in\b|for\b|to\b|from\b|with\b|on\b)[\w'’-]+){0,2}\s*\W*$"
)


def answer_type(question: str) -> AnswerType:
    """The kind of answer that an English `question` asks for; `thing` where nothing tells (other languages included)."""
    asked = " ".join(question.casefold().split())
    head = _head(asked)
    if _WHEN.search(asked):
        return AnswerType("date")
    if _NUMBER.search(asked):
        return AnswerType("number")
    if _WHERE.search(asked):
        return AnswerType("place")
    if _WHY.search(asked):
        return AnswerType("reason")
    if _DEFINITION.search(asked) and not (head and _kind(head)):
        return AnswerType("definition", head)
    if kind := _kind(head):
        return AnswerType(kind, head)
    if _WHO.search(asked):
        return AnswerType("person")
    if _YES_NO.search(asked):
        return AnswerType("yesno")
    return AnswerType("thing", head)


def _head(asked: str) -> str:
    """The last noun of the phrase after what/which: "which former prime minister was …" gives "minister"."""
    match = _HEAD.search(asked)
    if not match:
        return ""
    head = ""
    for word in match.group(1).split():
        if word in _VERBS:
            break
        head = word.removesuffix("'s").removesuffix("’s")
    return head


def _kind(head: str) -> Kind | None:
    singular = head.removesuffix("s")
    return next((kind for nouns, kind in _HEADS if head in nouns or singular in nouns), None)
