"""Cut a document into passages at its natural borders.

Sentences are packed up to the target size. A passage ends at the strongest border in its second half (a heading
before a paragraph before a line before a sentence) and the next one repeats its last whole sentences, unless a heading
parts them.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from typing import NamedTuple

from personable.errors import UsageError
from personable.retrieval.document import Document
from personable.text import Span, sentences, tokens
from personable.types import Passage

_WINDOW = 20_000  # characters; one unclosed quotation mark may hide the sentence ends of the rest of a text
_HEADING = re.compile(r"^ {0,3}(#{1,6})[ \t]+(\S.*?)[ \t#]*$", re.MULTILINE)
_FENCE = re.compile(r"^ {0,3}(```|~~~).*?(?:^ {0,3}\1|\Z)", re.MULTILINE | re.DOTALL)
_SENTENCE, _LINE, _PARAGRAPH, _SECTION = range(4)


class Piece(NamedTuple):
    """A passage to be: `text == whole[start:end]`, `heading` the path of headings above it, `A › B`."""

    text: str
    start: int
    end: int
    heading: str


class _Unit(NamedTuple):
    start: int
    end: int
    size: int  # tokens, alone
    gap: int  # tokens of the white space before it
    border: int  # how strong the border before it is


def passages(document: Document, target: int = 256, overlap: int = 32, language: str = "en") -> Iterator[Passage]:
    """The passages of a document, ids `<document id>#<n>` from 0.

    The title is the document's with the path of headings above the passage; `meta["page"]` counts from 1 where the
    document has pages. Offsets are characters of the whole text of its file: without `document.start`,
    `document.text[start:end] == passage.text`.
    """
    for number, piece in enumerate(segment(document.text, target, overlap, language)):
        meta = dict(document.meta)
        if document.pages:
            meta["page"] = bisect_right(document.pages, piece.start)
        yield Passage(
            id=f"{document.id}#{number}",
            text=piece.text,
            title=_titled(document.title, piece.heading),
            source=document.source,
            document=document.id,
            start=document.start + piece.start,
            end=document.start + piece.end,
            meta=meta,
        )


def segment(text: str, target: int = 256, overlap: int = 32, language: str = "en") -> Iterator[Piece]:
    """Pieces of at most `target` tokens (`personable.text.tokens`) that together hold all visible characters.

    Neighbours share up to `overlap` tokens of whole sentences. No piece is empty or starts or ends in white space.
    Raises UsageError where `overlap` is not less than half of `target`.
    """
    if target < 8 or not 0 <= overlap <= target // 2:
        raise UsageError(f"passages of {target} tokens with an overlap of {overlap}: at least 8, overlap at most half")
    headings = _headings(text)
    units = _units(text, headings, target, language)
    paths = _paths(headings)
    starts = [heading.start(1) for heading in headings]
    first = 0
    while first < len(units):
        last = _cut(units, first, _fill(units, first, target), target)
        start, end = units[first].start, units[last - 1].end
        yield Piece(text[start:end], start, end, paths[bisect_right(starts, start)])
        first = _step_back(units, first, last, target, overlap)


def _headings(text: str) -> list[re.Match[str]]:
    """Markdown headings, except those that only look like one inside fenced code."""
    found = list(_HEADING.finditer(text))
    fences = [match.span() for match in _FENCE.finditer(text)] if found else []
    return [match for match in found if not any(start < match.start() < end for start, end in fences)]


def _paths(headings: list[re.Match[str]]) -> list[str]:
    """`paths[n]` is where a text stands after the first n headings."""
    paths, stack = [""], list[tuple[int, str]]()
    for heading in headings:
        level = len(heading[1])
        stack = [above for above in stack if above[0] < level] + [(level, heading[2])]
        paths.append(" › ".join(name for _, name in stack))
    return paths


def _titled(title: str, heading: str) -> str:
    if not title or heading == title or heading.startswith(f"{title} › "):
        return heading or title
    return f"{title} › {heading}" if heading else title


def _units(text: str, headings: list[re.Match[str]], target: int, language: str) -> list[_Unit]:
    """Sentences, headings, and pieces of sentences that are longer than the target, each with the border before it."""
    units: list[_Unit] = []
    for span, is_heading in _spans(text, headings, language):
        for start, end, size in _shorten(text, span, target):
            between = text[units[-1].end if units else 0 : start]
            border = _SECTION if is_heading and start == span.start else _border(between)
            units.append(_Unit(start, end, size, tokens(between), border))
    return units


def _spans(text: str, headings: list[re.Match[str]], language: str) -> Iterator[tuple[Span, bool]]:
    """Headings (True) and the sentences between them (False), in order."""
    position = 0
    for heading in headings:
        line = heading[0].strip()
        start = heading.start(1)
        yield from ((span, False) for span in _sentences(text, position, start, language))
        position = start + len(line)
        yield Span(line, start, position), True
    yield from ((span, False) for span in _sentences(text, position, len(text), language))


def _sentences(text: str, start: int, end: int, language: str) -> Iterator[Span]:
    while start < end:
        stop = min(end, start + _WINDOW)
        found = sentences(text[start:stop], language)
        if stop < end and len(found) > 1:  # the last one may go on behind the window
            stop = start + found.pop().start
        yield from (Span(span.text, start + span.start, start + span.end) for span in found)
        start = stop


def _border(between: str) -> int:
    lines = between.count("\n")
    return _PARAGRAPH if lines > 1 else _LINE if lines else _SENTENCE


def _shorten(text: str, span: Span, target: int) -> Iterator[tuple[int, int, int]]:
    """(start, end, tokens) of the span, cut at word borders (else anywhere) where it is longer than the target."""
    size = tokens(span.text)
    if size <= target:
        yield span.start, span.end, size
        return
    start = span.start
    while start < span.end:
        end = min(span.end, start + 4 * target)
        while tokens(text[start:end]) > target:
            end = start + max(1, (end - start) * target // tokens(text[start:end]))
        if end < span.end and not text[end].isspace():
            space = max((n for n in range(start + 1, end) if text[n].isspace()), default=end)
            end = space
        body = text[start:end]
        lead = len(body) - len(body.lstrip())
        if body.strip():
            first, last = start + lead, start + len(body.rstrip())
            yield first, last, tokens(text[first:last])
        start = end


def _fill(units: list[_Unit], first: int, target: int) -> int:
    """One behind the last unit that still fits when a passage starts with `first`."""
    total, last = units[first].size, first + 1
    while last < len(units) and total + units[last].gap + units[last].size <= target:
        total += units[last].gap + units[last].size
        last += 1
    return last


def _cut(units: list[_Unit], first: int, last: int, target: int) -> int:
    """The strongest border in the second half of what fits, the latest of equals; the end where all fits."""
    if last == len(units):
        return last
    best, filled = last, -units[first].gap
    for unit in range(first + 1, last + 1):
        filled += units[unit - 1].gap + units[unit - 1].size
        if 2 * filled > target and units[unit].border >= units[best].border:
            best = unit
    while best - 1 > first and units[best - 1].border == _SECTION:  # a heading stays with what it heads
        best -= 1
    return best


def _step_back(units: list[_Unit], first: int, last: int, target: int, overlap: int) -> int:
    """Where the next passage starts: at `last`, or some whole sentences before it, that leave room for `last`."""
    if last == len(units) or units[last].border == _SECTION:
        return last
    room = min(overlap, target - units[last].size)
    start = last
    while start - 1 > first:
        room -= units[start - 1].size + units[start].gap
        if room < 0 or units[start].border == _SECTION:
            break
        start -= 1
    return start
