"""Spans: the pieces of a sentence that can be quoted alone, cut where a clause or phrase begins."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import NamedTuple

from personable.llm.quote_mention import CJK

_LEAST = 5
_OPENERS = (  # words that may open a clause or phrase
    "after and as at because before but by during for from in on since that until when where which while who whom "
    "whose with"
)
_CUT = re.compile(
    rf"\s*\n\s*|(?<=[,;:)\]—–])\s+|\s+(?=[(\[—–])|\s+(?=(?:{'|'.join(_OPENERS.split())})\s)|(?<=[、，；：])"
)
_PIECE = re.compile(rf"[{CJK}]|[^\s{CJK}]+")
_LEADING = re.compile(r"(?:(?:and|but|or)\s+|[,;:–—\s])+")
_TRAILING = re.compile(r"[\s,;:–—(\[]+$")


class Span(NamedTuple):
    """`sentence[start:end]`, `length` words long; `whole` when nothing of the sentence is left out."""

    start: int
    end: int
    length: int
    whole: bool


def length(text: str) -> int:
    """Words between white space; every Chinese, Japanese or Korean character counts as one."""
    return len(_PIECE.findall(text))


def spans(sentence: str, longest: int) -> list[Span]:
    """Every run of clauses of at most `longest` words and, unless it is the whole sentence, at least five.

    Where no clause fits, the first `longest` words.
    """
    cuts = [0, *(match.end() for match in _CUT.finditer(sentence)), len(sentence)]
    sizes = [length(sentence[start:end]) for start, end in pairwise(cuts)]
    total = sum(sizes)
    found = []
    for first in range(len(sizes)):
        size = 0
        for last in range(first, len(sizes)):
            size += sizes[last]
            if size > longest:
                break
            if size == total:
                found.append(Span(0, len(sentence), total, True))
            elif size >= _LEAST:
                found.append(_trimmed(sentence, cuts[first], cuts[last + 1]))
    if not found:
        pieces = list(_PIECE.finditer(sentence))[:longest]
        found = [Span(0, pieces[-1].end(), len(pieces), False)] if pieces else []
    return found


def _trimmed(sentence: str, start: int, end: int) -> Span:
    """Without a conjunction in front or punctuation that leads on behind."""
    text = sentence[start:end]
    lead = _LEADING.match(text)
    if start and lead:
        start += lead.end()
    end -= len(text) - len(_TRAILING.sub("", text))
    return Span(start, end, length(sentence[start:end]), False)
