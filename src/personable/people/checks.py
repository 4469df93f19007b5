"""What may be stored about a person: bounds of ids, texts and times, each refused with a sentence that says why."""

from __future__ import annotations

import unicodedata
from datetime import UTC, datetime
from typing import Annotated

from pydantic import AfterValidator, AwareDatetime

from personable.errors import UsageError

ID_LENGTH = 200
STATEMENT_LENGTH = 2_000
TEXT_LENGTH = 1_000_000


def utc(time: datetime) -> datetime:
    """`time` in UTC. Raises UsageError for a time without a zone, or one that UTC moves out of years 1 to 9999."""
    if time.tzinfo is None:
        raise UsageError(f"the time {time.isoformat()} has no time zone; give one, such as +00:00")
    try:
        return time.astimezone(UTC)
    except OverflowError as error:
        raise UsageError(f"the time {time.isoformat()} lies outside the years 1 to 9999 in UTC") from error


Instant = Annotated[AwareDatetime, AfterValidator(utc)]
"""A moment, kept in UTC."""


def checked_id(value: str, what: str) -> str:
    """`value`, an id: 1 to 200 characters, exact (never trimmed or folded: two ids that differ are two people).

    Raises UsageError for an empty, blank or long one, and for control characters and lone surrogates.
    """
    named = f"id of {'an' if what[0] in 'aeiou' else 'a'} {what}"
    if not value.strip():
        raise UsageError(f"the {named} is empty; give 1 to {ID_LENGTH} characters")
    return checked_line(value, named)


def checked_line(value: str, what: str) -> str:
    """`value`, a text of at most 200 characters on one line. Raises UsageError otherwise."""
    if len(value) > ID_LENGTH:
        raise UsageError(f"the {what} has {len(value):,} characters; at most {ID_LENGTH} are allowed")
    _refuse(value, what, ("Cc", "Cs", "Zl", "Zp"), allowed="")
    return value


def checked_statement(text: str) -> str:
    """A statement's text without surrounding white space: 1 to 2,000 characters, otherwise exact.

    Raises UsageError for an empty or long one, and for control characters other than white space.
    """
    trimmed = text.strip()
    if not trimmed:
        raise UsageError("the statement is empty; say one thing about the person, such as “I am vegetarian”")
    if len(trimmed) > STATEMENT_LENGTH:
        raise UsageError(
            f"the statement has {len(trimmed):,} characters; at most {STATEMENT_LENGTH:,} are allowed: "
            "say one thing in each statement"
        )
    _refuse(trimmed, "statement", ("Cc", "Cs"), allowed="\t\n\r")
    return trimmed


def checked_text(text: str, what: str) -> str:
    """`text`, exact: at most a million characters that every database can hold. Raises UsageError otherwise."""
    if len(text) > TEXT_LENGTH:
        raise UsageError(f"the {what} has {len(text):,} characters; at most {TEXT_LENGTH:,} are allowed")
    if "\0" in text or not _encodes(text):
        raise UsageError(f"the {what} holds a zero character or half a surrogate pair; remove it")
    return text


def _refuse(text: str, what: str, categories: tuple[str, ...], allowed: str) -> None:
    for place, character in enumerate(text):
        if unicodedata.category(character) in categories and character not in allowed:
            raise UsageError(
                f"the {what} holds the control character U+{ord(character):04X} at position {place}; remove it"
            )


def _encodes(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
