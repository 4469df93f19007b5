"""What forgetting a statement changes elsewhere: its words leave whatever else is kept about the person.

Stored answers and boards stay readable: each place says "[forgotten]". What a model made of a statement in words of its
own cannot be told from other text, and stays until the person is erased.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import JsonValue
from sqlalchemy import Column, Table, func, or_, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from personable.people import schema
from personable.people.statements import MARK, Statement

CUT = 24
"""Characters: a statement that was cut at the end of a text, at a length limit, is known by this much of it."""
STRUCTURE = frozenset(
    "id kind role verdict action dial state timestamp prompt_hash model passage_id statement person session".split()
) | {"source"}
"""Fields of boards and answers that hold names and choices, never a person's words."""

Words = Mapping[str, set[str]]
"""Texts of statements by the ids of these."""

_BRACKETS = re.compile(r"\(([^()]+)\)")
_TEXTS: tuple[tuple[Table, tuple[Column[Any], ...]], ...] = (
    (schema.answers, (schema.answers.c.answer, schema.answers.c.board)),
    (schema.turns, (schema.turns.c.question, schema.turns.c.answer)),
    (schema.events, (schema.events.c.text,)),
    (schema.statements, (schema.statements.c.cause,)),
    (schema.changes, (schema.changes.c.before, schema.changes.c.after, schema.changes.c.cause)),
    (schema.weights, (schema.weights.c.reason,)),
)


async def redact(connection: AsyncConnection, old: Statement) -> None:
    """Take the words of `old`, as it is and as it was before it was edited, out of all that is kept about its person.

    Passages on a board are the builder's documents and stay as they are.
    """
    history = select(schema.changes.c.before, schema.changes.c.after).where(
        schema.changes.c.person == old.person, schema.changes.c.statement == old.id
    )
    sides = [side for row in await connection.execute(history) for side in row if side]
    wording = Wording([old.text, *(side["text"] for side in sides)])
    for table, columns in _TEXTS:
        rows = select(table.c.row, *columns).where(table.c.person == old.person)
        if wording.hints:
            low = [func.lower(column) for column in columns]
            rows = rows.where(or_(*(one.contains(hint, autoescape=True) for one in low for hint in wording.hints)))
        for row in (await connection.execute(rows)).all():
            new = {column.name: wording.without(row._mapping[column.name]) for column in columns}
            if any(row._mapping[name] != value for name, value in new.items()):
                await connection.execute(update(table).where(table.c.row == row.row).values(new))


def words_of(*kept: str) -> Words:
    """The words of statements by their ids, as they stand in stored answers and boards."""
    found: dict[str, set[str]] = {}
    left: list[JsonValue] = [_parsed(one) for one in kept]
    while left:
        match left.pop():
            case {"statement": str(id), "text": str(text), "score": _}:
                found.setdefault(id, set()).add(text)
            case dict() as inside:
                left.extend(inside.values())
            case list() as inside:
                left.extend(inside)
    return found


async def forgotten(connection: AsyncConnection, person: str | None, *words: Words) -> Wording:
    """Of the `words` of the person's statements those that were forgotten."""
    table = schema.changes.c
    gone = select(table.statement).where(table.person == person, table.what == "forgotten")
    ids = await connection.scalars(gone) if any(words) else ()
    return Wording(text for id in ids for some in words for text in some.get(id, ()))


def _parsed(kept: str) -> JsonValue:
    try:
        return json.loads(kept)  # type: ignore[no-any-return]
    except ValueError:
        return None


class Wording:
    """Some texts, however they are spaced, capitalised and closed. `hints` has a word for each: what holds none of them
    holds no text; empty where a text has no word that a database could look for."""

    def __init__(self, texts: Iterable[str]) -> None:
        plain = {" ".join(text.split()).rstrip(".!。 ") or text for text in texts}
        self._any = bool(plain)
        self._words = {word for text in plain for word in re.findall(r"\w+", text.casefold())}
        self._starts = [text.casefold() for text in plain if len(text) > CUT]
        self._pattern = re.compile("|".join(_spelled(text) for text in sorted(plain, key=len, reverse=True)), re.I)
        words = [max(re.findall(r"[a-z0-9]+(?![^\W_])", text[:CUT].lower()), key=len, default="") for text in plain]
        self.hints = words if all(words) else []

    def without(self, value: Any) -> Any:
        """`value` with a mark in each place; JSON in a string stays valid JSON."""
        if not self._any:
            return value
        if not isinstance(value, str):
            return self._inside(value)
        try:
            parsed = json.loads(value)
        except ValueError:
            return self._text(value)
        inside = self._inside(parsed)
        return value if inside == parsed else json.dumps(inside, ensure_ascii=False, separators=(",", ":"))

    def _inside(self, value: JsonValue) -> JsonValue:
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, list):
            return [self._inside(one) for one in value]
        if isinstance(value, dict):
            kept = STRUCTURE | ({"text", "title", "quote"} if "passage_id" in value else set())
            return {
                name: one if name in kept and isinstance(one, str) else self._terms(self._inside(one))
                for name, one in value.items()
            }
        return value

    def _terms(self, value: JsonValue) -> JsonValue:
        """A rewritten utterance without terms that it took from the text: "And winter? (narcolepsy, sleep)"."""
        return _BRACKETS.sub(self._left, value) if isinstance(value, str) else value

    def _left(self, brackets: re.Match[str]) -> str:
        terms = brackets[1].split(", ")
        left = [term for term in terms if not set(re.findall(r"\w+", term.casefold())) <= self._words]
        return brackets[0] if len(left) == len(terms) else f"({', '.join([*left, MARK])})"

    def _text(self, text: str) -> str:
        text = self._pattern.sub(MARK, text)
        folded = text.casefold()
        for start in self._starts if len(folded) == len(text) else ():
            for size in range(min(len(start), len(text)), CUT - 1, -1):
                if folded.endswith(start[:size]):
                    return text[:-size] + MARK
        return text


def _spelled(text: str) -> str:
    """A pattern for `text` with any white space and either apostrophe, as whole words."""
    pattern = r"\s+".join(re.sub("['’]", "['’]", re.escape(word)) for word in text.split()) or re.escape(text)
    before = r"(?<!\w)" if text[0].isascii() and text[0].isalnum() else ""
    after = r"(?!\w)" if text[-1].isascii() and text[-1].isalnum() else ""
    return before + pattern + after
