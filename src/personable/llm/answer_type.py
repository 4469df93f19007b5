"""What kind of answer a question asks for: a person, a place, a date, a number, a thing, an account."""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

Kind = Literal["person", "place", "date", "number", "thing", "definition", "account", "yesno"]
"""`account` is what needs sentences, not a name: reasons, ways, symptoms, causes, treatments."""

_PHRASES: dict[Kind, str] = {
    "person": "name of a person",
    "place": "name of a place, city or country",
    "date": "date, year",
    "number": "number, amount",
    "thing": "name of a thing",
    "definition": "what it is",
    "account": "explanation",
    "yesno": "yes or no",
}


def _nouns(text: str) -> frozenset[str]:
    return frozenset(text.split())


class AnswerType(NamedTuple):
    """`kind` of the answer; `head` is the noun of its class in "which city", "what colour" ("" where there is none)."""

    kind: Kind
    head: str = ""

    @property
    def phrase(self) -> str:
        """Words that name the class of the answer, to compare with the meaning of a candidate."""
        return self.head or _PHRASES[self.kind]

    @property
    def short(self) -> bool:
        """Whether a name, a date or a number can be the whole answer."""
        return self.kind not in {"account", "definition", "yesno"}


_PERSON_NOUNS = _nouns(
    "actor actress artist athlete author boxer captain character chef coach comedian composer designer director "
    "emperor explorer footballer founder general gladiator god goddess golfer guitarist gymnast host inventor jockey "
    "judge king leader man minister monarch musician novelist owner painter person philosopher player poet politician "
    "pope president prince princess queen saint scientist senator singer star teacher winner woman writer"
)
_PLACE_NOUNS = _nouns(
    "area capital capitol city continent country county desert district island lake location mountain nation ocean "
    "place planet port province region river sea stadium state street territory town village"
)
_DATE_NOUNS = _nouns("birthday century date day decade month year")
_NUMBER_NOUNS = _nouns(
    "age amount code depth distance frequency height length number percentage population price size speed "
    "temperature value weight"
)
_THING_NOUNS = _nouns(
    "album animal award band bird book brand car channel club colour color company currency disease drink dynasty "
    "fish flower food fruit game gas group instrument invention language mineral movie film name nationality "
    "newspaper novel occupation opera organ party play poem profession programme religion school series shape "
    "ship show song sport surname symbol team title tribe university war battle weapon word zone"
)
_ACCOUNT_NOUNS = _nouns(
    "benefit cause change complication consequence danger diagnosis difference effect function outlook prevention "
    "prognosis purpose reason recommendation relationship requirement research risk sign step symptom therapy "
    "treatment way"
)
_HEADS: tuple[tuple[frozenset[str], Kind], ...] = (
    (_DATE_NOUNS, "date"),
    (_PLACE_NOUNS, "place"),
    (_NUMBER_NOUNS, "number"),
    (_PERSON_NOUNS, "person"),
    (_ACCOUNT_NOUNS, "account"),
)
_KNOWN = _PERSON_NOUNS | _PLACE_NOUNS | _DATE_NOUNS | _NUMBER_NOUNS | _THING_NOUNS | _ACCOUNT_NOUNS
_WHO = re.compile(r"\b(?:who|whom|whose)\b")
_WHEN = re.compile(r"\bwhen\b")
_WHERE = re.compile(r"\bwhere\b")
_ACCOUNT = re.compile(
    r"^\W*(?:why|how (?:do|does|did|can|could|to|is|are|was|were|would|should|might)"
    r"|what (?:to|should|can|could|happens|causes?)"
    r"|is there (?:a|any) (?:treatment|cure|way)|explain|describe|tell me)\b"
    r"|\bwhat (?:do|does|did) .*\bmean\b|\binformation (?:about|on)\b|\bat risk\b"
)
_NUMBER = re.compile(r"\bhow (?:many|much|old|long|far|tall|high|big|large|deep|fast|often|heavy|wide|late|early)\b")
_YES_NO = re.compile(
    r"^\W*(?:is|are|was|were|do|does|did|can|could|has|have|had|will|would|should|may|must)\b(?!.*\bor\b)"
)
_ARTICLE = r"(?:(?:the|an?|your|my|his|her|its|their)\s+)?"
_HEAD = re.compile(
    r"\b(?:what|which)(?:'s)?\s+(?:(?:kinds?|types?|sorts?|names?|parts?|forms?|one)\s+of\s+)?"
    rf"(?:(?:is|are|was|were)\s+)?{_ARTICLE}"
    rf"(?:(?:names?|kinds?|types?|forms?)\s+of\s+{_ARTICLE})?((?:[\w'’-]+\s*){{1,4}})"
)
_NOT_NOUNS = _nouns(
    "is are was were do does did can could has have had will would should may must of in on at to for from by with and "
    "or that who which the a an it he she they you i we as all most best first famous called known used made won led "
    "wrote told"
)
_DEFINITION = re.compile(
    rf"^\W*(?:(?:what|who)(?:'s| is| are| was| were)|define)\s+{_ARTICLE}"
    r"[\w'’-]+(?:\s+(?!(?:of|in|for|to|from|with|on|at|by|about)\b)[\w'’-]+){0,5}\s*\W*$"
)


def answer_type(question: str) -> AnswerType:
    """The kind of answer that an English `question` asks for; `thing` where nothing tells, as in other languages."""
    asked = " ".join(re.sub(r"\([^)]*\)", " ", question.casefold()).split())
    head = _head(asked)
    kind = _kind(head)
    tests: tuple[tuple[object, Kind], ...] = (
        (kind == "account" or _ACCOUNT.search(asked), "account"),
        (_WHEN.search(asked), "date"),
        (_NUMBER.search(asked), "number"),
        (_WHERE.search(asked), "place"),
        (not kind and _DEFINITION.search(asked), "definition"),
        (kind, kind or "thing"),
        (_WHO.search(asked), "person"),
        (_YES_NO.search(asked), "yesno"),
    )
    return AnswerType(next((found for test, found in tests if test), "thing"), head)


def _head(asked: str) -> str:
    """The noun of the phrase after what/which: "which former prime minister was …" gives "minister"."""
    match = _HEAD.search(asked)
    if not match:
        return ""
    phrase: list[str] = []
    for word in match.group(1).split():
        bare = word.removesuffix("'s").removesuffix("’s")
        if bare in _NOT_NOUNS or (phrase and bare.endswith("ed")):
            break
        phrase.append(bare)
        if word != bare or _singular(bare) != bare:
            break
    known = [word for word in phrase if _singular(word) in _KNOWN]
    return (known or phrase or [""])[-1]


def _singular(noun: str) -> str:
    if noun.endswith("ies"):
        return noun[:-3] + "y"
    return noun.removesuffix("s") if noun.removesuffix("s") in _KNOWN else noun


def _kind(head: str) -> Kind | None:
    return next((kind for nouns, kind in _HEADS if _singular(head) in nouns), None)
