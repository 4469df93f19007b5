"""Statements as other programs and people keep them: a Markdown list, and the `ptkb` of TREC iKAT."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any, get_args

from personable.errors import DataError, UsageError
from personable.people.person import Person
from personable.people.statements import Kind, State, Statement, Told
from personable.text import sentences

MOST_SENTENCES = 200
"""Of one self-description: who says more is writing a document, and each is weighed against all others."""

_TITLES: dict[Kind, str] = {
    "constraint": "Constraints", "goal": "Goals", "preference": "Preferences", "fact": "Facts"
}  # fmt: skip
_KINDS = {title.casefold(): kind for kind, title in _TITLES.items()}
_STATES: dict[str, State] = {state: state for state in get_args(State)}
_ITEM = re.compile(r"(?:[-*+]|\d{1,9}[.)]) (.*)", re.DOTALL)
_HEADING = re.compile(r"#{1,6} (.*)")
_REMARKS = re.compile(r" \*\(([^()*]*)\)\*$")
_SIGNS = re.compile(r"([\\`*_\[\]<>#])")


def to_markdown(person: Person, statements: Iterable[Statement]) -> str:
    """The statements as a Markdown list under one heading a kind. What is out of the ordinary stands behind an item:
    `*(proposed; sensitive; until 2026-01-31T00:00:00+00:00)*`."""
    ordered = list(statements)
    parts = [f"# What is known about {_escaped(person.name or person.id)}\n"]
    for kind, title in _TITLES.items():
        items = [_item(one) for one in ordered if one.kind == kind]
        if items:
            parts.append(f"## {title}\n\n" + "\n".join(items) + "\n")
    return "\n".join(parts)


def from_markdown(text: str) -> list[Told]:
    """The list items of a Markdown text as statements; the heading above may name their kind. Other lines are prose.

    Lines that go on with an item are indented by two spaces. Raises DataError where there is no item, or a remark
    cannot be read.
    """
    found: list[Told] = []
    kind: Kind | None = None
    for block in _blocks(text.replace("\r\n", "\n")):
        if heading := _HEADING.fullmatch(block):
            kind = next(
                (one for one, title in _TITLES.items() if heading[1].strip().casefold() == title.casefold()), None
            )
        elif item := _ITEM.fullmatch(block):
            found.append(_told(item[1], kind))
    if not found:
        raise DataError("no statement was found: write each one as a list item, such as: - I am vegetarian")
    return found


def to_ptkb(statements: Iterable[Statement]) -> dict[str, Any]:
    """The texts as TREC iKAT's personal text knowledge base: `{"ptkb": {"1": …, "2": …}}`."""
    return {"ptkb": {str(number): one.text for number, one in enumerate(statements, 1)}}


def from_ptkb(value: Any) -> list[Told]:
    """The statements of a `ptkb`: an object with that key, of texts by number, or a list of texts or `{id, text}`.

    Raises DataError for anything else.
    """
    held = value.get("ptkb", value) if isinstance(value, dict) else value
    rows: Sequence[Any] = list(held.values()) if isinstance(held, dict) else held
    if not isinstance(rows, list) or not rows:
        raise DataError('this is no ptkb: give {"ptkb": {"1": "I am vegetarian", …}}')
    told = []
    for number, row in enumerate(rows, 1):
        text = row.get("text") if isinstance(row, dict) else row
        if not isinstance(text, str):
            raise DataError(f"statement {number} of the ptkb has no text; nothing was imported")
        told.append(Told(text))
    return told


def from_description(texts: Iterable[str], language: str) -> list[Told]:
    """Each sentence of a self-description as a statement. Raises UsageError where there is none, or too many."""
    spans = (span.text for text in texts for span in sentences(text, language))
    told = [Told(said) for span in spans if (said := re.sub(r"^(?:[-*•‣·]|\d{1,3}[.)])\s+", "", span))]
    if not 0 < len(told) <= MOST_SENTENCES:
        said = f"{len(told):,} sentences are too many" if told else "nothing was said"
        raise UsageError(f"{said}; write 1 to {MOST_SENTENCES} about the person, such as: I am vegetarian.")
    return told


def read_import(text: str, person: str, where: str) -> dict[str, Any] | list[Told]:
    """What a file holds of `person`: their export, to be restored, or statements as Markdown or `ptkb`.

    Raises UsageError for somebody else's export, DataError for what cannot be read; `where` names the file.
    """
    if text.lstrip()[:1] not in ("{", "["):
        return from_markdown(text)
    try:
        held = json.loads(text)
    except (json.JSONDecodeError, RecursionError) as error:
        raise DataError(f"{where} is not JSON: {error}; nothing was imported") from error
    if not isinstance(held, dict) or "format" not in held:
        return from_ptkb(held)
    named = held.get("person")
    if not isinstance(named, dict) or named.get("id") != person:
        raise UsageError(f"{where} is not the export of {person!r}; give the id that it holds")
    return held


def _item(one: Statement) -> str:
    remarks: list[str] = [] if one.state == "confirmed" else [one.state]
    if one.sensitive is not None:
        remarks.append("sensitive" if one.sensitive else "not sensitive")
    remarks += [f"since {one.valid_from.isoformat()}"] if one.valid_from else []
    remarks += [f"until {one.valid_to.isoformat()}"] if one.valid_to else []
    text = _escaped(one.text).replace("\n", "\n  ")
    return f"- {text}" + (f" *({'; '.join(remarks)})*" if remarks else "")


def _escaped(text: str) -> str:
    return _SIGNS.sub(r"\\\1", text)


def _blocks(text: str) -> list[str]:
    """The lines of `text`, each with the indented lines below it."""
    blocks: list[str] = []
    for line in text.split("\n"):
        if blocks and line.startswith("  "):
            blocks[-1] += "\n" + line[2:]
        else:
            blocks.append(line)
    return blocks


def _told(item: str, kind: Kind | None) -> Told:
    found = _REMARKS.search(item)
    body = item[: found.start()] if found else item
    told = Told(re.sub(r"\\([\\`*_\[\]<>#])", r"\1", body), kind)
    for remark in found[1].split("; ") if found else ():
        word, _, when = remark.partition(" ")
        if remark in _STATES:
            told = told._replace(state=_STATES[remark])
        elif remark in ("sensitive", "not sensitive"):
            told = told._replace(sensitive=remark == "sensitive")
        elif word == "since":
            told = told._replace(valid_from=moment(when))
        elif word == "until":
            told = told._replace(valid_to=moment(when))
        else:
            raise DataError(f"the remark {remark!r} behind “{body[:50]}” is unknown; nothing was imported")
    return told


def moment(text: str) -> datetime:
    """A date or a date and time in ISO form; without a zone it is UTC. Raises DataError for anything else."""
    try:
        read = datetime.fromisoformat(text)
    except ValueError as error:
        raise DataError(f"{text!r} is no date; write it like 2026-01-31") from error
    return read if read.tzinfo else read.replace(tzinfo=UTC)
