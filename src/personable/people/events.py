"""What a person did, and what was said in a session."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Literal

from pydantic import Field

from personable.people.checks import Instant
from personable.people.statements import new_id
from personable.types import Value

EventKind = Literal["query", "impression", "click", "dwell", "rating", "thumbs", "comment", "edit", "purchase"]
LONGEST_DWELL = 1_000_000
"""Seconds, twelve days."""


def now() -> datetime:
    """The present moment in UTC."""
    return datetime.now(UTC)


class Event(Value):
    """One thing that a person did.

    `value` is seconds for a dwell, 1 to 5 for a rating, -1 or 1 for thumbs. `position` counts from 1 where an
    impression or a click had a place in a list. `answer` is the id of the answer that it belongs to: thumbs, ratings,
    comments and edits with one are its feedback. `collection` is the catalogue that `item` is of; None: any that holds
    one. `text` is the query, the comment, or the title of what was clicked.
    """

    id: str = Field(default_factory=new_id)
    person: str
    kind: EventKind
    session: str | None = None
    passage: str | None = None
    item: str | None = None
    collection: str | None = None
    value: float | None = Field(default=None, allow_inf_nan=False)
    text: str = ""
    answer: str | None = None
    position: int | None = Field(default=None, ge=1)
    time: Instant = Field(default_factory=now)


def misvalued(kind: EventKind, value: float | None) -> str:
    """What is wrong with the value of an event of that kind; "" where nothing is."""
    sound = {
        "dwell": value is not None and 0 <= value <= LONGEST_DWELL,
        "rating": value is not None and 1 <= value <= 5,
        "thumbs": value in (-1, 1),
    }
    if sound.get(kind, value is None):
        return ""
    given = "without a value" if value is None else f"of {value:g}"
    return f"a {kind} {given}: a dwell has seconds as its value, a rating 1 to 5, thumbs -1 or 1, others none"


class Turn(Value):
    """A question of a session and its answer; `number` counts from 1 within the session."""

    session: str
    number: int = Field(ge=1)
    question: str
    answer: str
    answer_id: str = ""
    time: Instant


class Session(Value):
    """A session of a person; `turns` is how many it has."""

    id: str
    opened: Instant
    turns: int


class KeptText(Value):
    """A stored answer without its board."""

    id: str
    session: str | None
    answer: str
    created: Instant


class Kept(Value):
    """A stored answer: the answer and the board it came from, as they were serialised."""

    id: str
    person: str | None
    session: str | None
    answer: str
    board: str
    created: Instant
