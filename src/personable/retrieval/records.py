"""Records of CSV, TSV, JSON and JSONL files as documents; the fields are named, or guessed by their usual names."""

from __future__ import annotations

import csv
import json
import math
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import IO, Any

from personable.errors import UnreadableFileError
from personable.retrieval.document import Document, Origin, Problem, ReadOptions, clean
from personable.retrieval.textfile import TextFile
from personable.types import Scalar

TEXT = "text content contents body passage answer page_content article document abstract description response".split()
TITLE = "title question headline name subject heading".split()
ID = "id _id docid doc_id document_id docno pid passage_id uid key".split()
SOURCE = "url source_url uri link href".split()
_LONGEST = 16_000_000  # characters of one record
_WHOLE = 200_000_000  # characters of a .json file, which cannot be read in pieces
_META = 500  # characters of a field that is kept as metadata


def read_records(file: TextFile, origin: Origin, options: ReadOptions) -> Iterator[Document | Problem]:
    """One document a record; a record that is malformed or has no text is a Problem that names its line.

    The document's id is the record's own, else `<file>:<line>`. Other fields that hold one number, truth value or
    string of at most 500 characters become metadata. Raises UnreadableFileError.
    """
    seen: set[str] = set()
    try:
        for line, record in record_rows(file):
            where = f"{origin.source}, line {line}"
            if isinstance(record, str):
                yield Problem(where, record)
                continue
            found = _document(record, Origin(f"{origin.name}:{line}", origin.source), where, options)
            if isinstance(found, Document):
                if found.id in seen:
                    found = Problem(
                        where, f"the id {found.id!r} was used before in this file; the first record was kept"
                    )
                else:
                    seen.add(found.id)
            yield found
    except (OSError, EOFError, zlib.error) as error:
        raise UnreadableFileError(f"{file.path} is damaged: {error}") from error


def _document(record: Mapping[str, Any], origin: Origin, where: str, options: ReadOptions) -> Document | Problem:
    names = {name.strip().lower(): name for name in record}
    chosen = {
        "text": _field(record, names, options.text_field, TEXT),
        "title": _field(record, names, options.title_field, TITLE),
        "id": _field(record, names, options.id_field, ID),
        "source": _field(record, names, None, SOURCE),
    }
    for role, named in (("text", options.text_field), ("title", options.title_field), ("id", options.id_field)):
        if named is not None and chosen[role] is None:
            return Problem(where, f"no field {named!r} (--{role}-field); its fields are: {', '.join(record)}")
    if chosen["text"] is None:
        return Problem(
            where, f"which field is the text? Name it with --text-field; its fields are: {', '.join(record)}"
        )
    text = _string(record[chosen["text"]])
    if not text.strip():
        return Problem(where, f"the field {chosen['text']!r} holds no text")
    values = {role: _string(record[name]).strip() for role, name in chosen.items() if name is not None}
    used = set(chosen.values())
    return Document(
        id=values.get("id") or origin.name,
        text=text,
        title=" ".join(values.get("title", "").split()),
        source=values.get("source") or origin.source,
        meta={clean(name): _meta(value) for name, value in record.items() if name not in used and _is_meta(value)},
    )


def _field(record: Mapping[str, Any], names: Mapping[str, str], named: str | None, usual: list[str]) -> str | None:
    if named is not None:
        return named if named in record else names.get(named.lower())
    return next((names[name] for name in usual if name in names), None)


def _string(value: Any) -> str:
    if isinstance(value, list) and all(isinstance(part, str) for part in value):
        return clean("\n\n".join(value))
    return "" if value is None or isinstance(value, (list, dict)) else clean(str(value))


def _is_meta(value: Any) -> bool:
    if isinstance(value, str):
        return 0 < len(value) <= _META
    return isinstance(value, (bool, int)) or (isinstance(value, float) and math.isfinite(value))


def _meta(value: Scalar) -> Scalar:
    return clean(value) if isinstance(value, str) else value


Row = tuple[int, Mapping[str, Any] | str]
"""(line from 1, record or what is wrong with it)"""

Parse = Callable[[str], Mapping[str, Any] | str]


def record_rows(file: TextFile, lines: bool = False, parse: Parse | None = None) -> Iterator[Row]:
    """The records of a file by its suffix; `lines`: a .json file holds one record a line, each read by `parse`.

    Raises UnreadableFileError, and what reading a damaged archive raises.
    """
    if file.kind in (".csv", ".tsv"):
        return _table(file)
    return _array(file) if file.kind == ".json" and not lines else _lines(file, parse or json_record)


def _lines(file: TextFile, parse: Parse) -> Iterator[Row]:
    with file.text() as lines:
        for number, line in _bounded(lines):
            if line is None:
                yield number, f"the line is longer than {_LONGEST:,} characters"
            elif line.strip():
                yield number, parse(line)


def _bounded(lines: IO[str]) -> Iterator[tuple[int, str | None]]:
    """Numbered lines; None for one that is too long to be held in memory."""
    number = 0
    while line := lines.readline(_LONGEST):
        number += 1
        if line.endswith("\n") or len(line) < _LONGEST:
            yield number, line
            continue
        while (rest := lines.readline(_LONGEST)) and not rest.endswith("\n"):
            pass
        yield number, None


def json_record(line: str) -> Mapping[str, Any] | str:
    """The JSON object of a line, or what is wrong with it."""
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:  # also an integer of thousands of digits
        return f"not valid JSON: {error}"
    return record if isinstance(record, dict) else f"not a JSON object but {type(record).__name__}"


def _array(file: TextFile) -> Iterator[Row]:
    try:
        content = json.loads(file.whole(_WHOLE))
    except (ValueError, RecursionError) as error:  # also an integer of thousands of digits
        raise UnreadableFileError(
            f"{file.path} is not valid JSON: {error}; one object a line belongs in a .jsonl file"
        ) from error
    if isinstance(content, dict):
        lists = [value for value in content.values() if isinstance(value, list)]
        content = lists[0] if len(content) == 1 and lists else [content]
    if not isinstance(content, list):
        raise UnreadableFileError(f"{file.path} holds no array of objects but {type(content).__name__}")
    for number, record in enumerate(content, start=1):
        yield number, record if isinstance(record, dict) else f"not an object but {type(record).__name__}"


def _table(file: TextFile) -> Iterator[Row]:
    csv.field_size_limit(max(csv.field_size_limit(), _LONGEST))
    with file.text() as lines:
        first = lines.readline(_LONGEST)
        separator = "\t" if file.kind == ".tsv" else max(",;\t|", key=first.count)
        header = next(csv.reader([first], delimiter=separator), [])
        if len(set(header)) < len(header):
            raise UnreadableFileError(f"{file.path}: two columns have the same name: {', '.join(header)}")
        yield from _cells(lines, header, separator)


def _cells(lines: Iterable[str], header: list[str], separator: str) -> Iterator[Row]:
    rows = csv.reader(lines, delimiter=separator, strict=True)
    while True:
        line = rows.line_num + 2
        try:
            cells = next(rows, None)
        except csv.Error as error:
            yield line, f"not valid CSV: {error}"
            continue
        if cells is None:
            return
        if len(cells) > len(header):
            yield line, f"{len(cells)} cells, but the header names {len(header)} columns"
        elif cells:
            yield line, dict(zip(header, cells, strict=False))
