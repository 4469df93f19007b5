"""Statements: what a person said about themselves, or what was inferred, one thing each (the PTKB of TREC iKAT)."""

from __future__ import annotations

import hashlib
import re
import secrets
import unicodedata
from datetime import datetime
from typing import Literal, NamedTuple, Self

from pydantic import Field

from personable.errors import UsageError
from personable.people.checks import Instant
from personable.types import Value

Kind = Literal["fact", "preference", "constraint", "goal"]
Source = Literal["told", "inferred"]
State = Literal["proposed", "confirmed", "rejected"]
Bound = Literal["valid_from", "valid_to"]
What = Literal["told", "proposed", "confirmed", "rejected", "edited", "ended", "undone", "forgotten"]

MARK = "[forgotten]"
"""What stands for a forgotten statement's words in stored answers, boards, turns and events."""

_KINDS: tuple[tuple[Kind, re.Pattern[str]], ...] = (
    (
        "constraint",
        re.compile(
            r"allerg|intoleran|vegetarian|vegan|coeliac|celiac|kosher|halal|can(?:no|['’])t\b|unable to|must|"
            r"(?:do|does) ?n[o'’]t (?:eat|drink|drive|use)|never (?:eat|drink|use)|avoid|only (?:eat|drink|use)|"
            r"no more than|at most|budget",
        ),
    ),
    (
        "goal",
        re.compile(
            r"\bgoal|want(?:s|ed)? to|wish(?:es)? to|hop(?:e|es|ing) to|plan(?:s|ning)? (?:to|on)|try(?:ing)? to|"
            r"would like to|['’]d like to|aim(?:s|ing)? to|saving (?:up )?for|training for|preparing for|learning\b",
        ),
    ),
    (
        "preference",
        re.compile(
            r"\b(?:dis)?lik(?:e|es|ed)\b|\blov(?:e|es|ed)\b|\bhat(?:e|es|ed)\b|prefer|enjoy|favou?rite|fond of|"
            r"\bfan of|keen on|interested in|rather\b|can(?:no|['’])t stand",
        ),
    ),
)


def without_marks(text: str) -> str:
    """`text` without the marks of what was forgotten: nothing is to be searched for by them."""
    return " ".join(text.replace(MARK, " ").split()) if MARK in text else text


class Statement(Value):
    """One thing about a person. `text` is data, kept exactly as it was said.

    `source` says whether the person told it or it was inferred; `cause` is the utterance or event behind it. It holds
    from `valid_from` until `valid_to` (None: open). `sensitive` None means that nobody classified it yet, which counts
    as sensitive. `confidence` is 0 to 1.
    """

    id: str
    person: str
    text: str
    kind: Kind
    source: Source = "told"
    cause: str = ""
    confidence: float = Field(default=1.0, ge=0, le=1)
    valid_from: Instant | None = None
    valid_to: Instant | None = None
    sensitive: bool | None = None
    state: State = "confirmed"
    created: Instant

    def holds(self, at: datetime) -> bool:
        """Whether the statement holds at the moment `at`."""
        begun = self.valid_from is None or self.valid_from <= at
        return begun and (self.valid_to is None or at < self.valid_to)

    def checked(self) -> Self:
        """Itself. Raises UsageError where it would end before it begins to hold."""
        if self.valid_from and self.valid_to and self.valid_from >= self.valid_to:
            raise UsageError("a statement must begin to hold before it ends; check valid_from and valid_to")
        return self


class Told(NamedTuple):
    """A statement that is to be stored: None leaves a field to the store. Nothing is checked before it is stored."""

    text: str
    kind: Kind | None = None
    source: Source = "told"
    cause: str = ""
    state: State | None = None
    confidence: float = 1.0
    sensitive: bool | None = None
    valid_from: datetime | None = None
    valid_to: datetime | None = None


class Change(Value):
    """One change of a statement: `before` is None for the first, `after` once it was forgotten.

    `cause` is the utterance behind a proposal, the id of the change that contradicted what ended, or of the one undone.
    """

    id: str
    person: str
    statement: str
    what: What
    before: Statement | None = None
    after: Statement | None = None
    cause: str = ""
    time: Instant


def may_leave(statement: Statement, remote: bool) -> bool:
    """Whether a prompt may hold `statement`: with `remote` only what was classified as not sensitive."""
    return not remote or statement.sensitive is False


def guess_kind(text: str) -> Kind:
    """The kind of an English statement by its wording; "fact" where no wording tells, and in other languages."""
    folded = text.casefold()
    if re.search(r"can(?:no|['’])t stand", folded):
        return "preference"
    return next((kind for kind, pattern in _KINDS if pattern.search(folded)), "fact")


def sameness(text: str) -> str:
    """A key that two statements share when they differ only in case, white space or closing full stops.

    Other signs stay: "I like C" and "I like C++" are two statements.
    """
    folded = unicodedata.normalize("NFD", unicodedata.normalize("NFD", text).casefold()).replace("’", "'")
    plain = " ".join(folded.split())
    return hashlib.sha256((plain.rstrip(".!。 ") or plain).encode()).hexdigest()


def new_id() -> str:
    """A fresh id: 16 hexadecimal digits, random."""
    return secrets.token_hex(8)
