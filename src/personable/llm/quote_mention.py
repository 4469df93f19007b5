"""Mentions: the pieces of a sentence that could be an answer: names, quoted titles, dates, numbers, words."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import Literal, NamedTuple

MentionKind = Literal["name", "title", "date", "number", "word"]


class Token(NamedTuple):
    """A word with its offsets in the sentence."""

    text: str
    start: int
    end: int


class Mention(NamedTuple):
    """`sentence[start:end]`, made of the tokens `first` to `last` (inclusive)."""

    kind: MentionKind
    text: str
    start: int
    end: int
    first: int
    last: int


CJK = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff"
_LETTERS = rf"(?:(?![{CJK}])\w)+"
_TOKEN = re.compile(rf"[{CJK}]|\d{{1,3}}(?:,\d{{3}})+\w*|{_LETTERS}(?:['’.\-–]{_LETTERS})*")
_MONTH = "January|February|March|April|May|June|July|August|September|October|November|December"
_YEAR = r"(?:1\d{3}|20\d\d)"
_DATE = re.compile(
    rf"\b(?:(?:\d{{1,2}}\s+)?(?:{_MONTH})(?:\s+\d{{1,2}}(?:st|nd|rd|th)?)?(?:,?\s+{_YEAR})?\b|{_YEAR}(?:s\b|\b(?:[–-]\d\d+)?)"
    rf"|\d{{1,4}}\s*(?:BCE?|AD|CE)\b|\d{{1,2}}th[ -]century)"
)
_NUMBER = re.compile(
    r"[$£€]?\b\d[\d,.]*(?<![,.])(?:\s*(?:%|percent|million|billion|trillion|thousand|hundred|miles?|km|kilomet\w+|met\w+|feet|ft|"
    r"years?|days?|hours?|minutes?|pounds?|kg|cm|mm|inches)\b)?"
    r"|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|"
    r"nineteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundred|thousand|million|billion|once|twice|half|"
    r"double|triple|first|second|third)\b",
    re.IGNORECASE,
)
_TITLE = re.compile(r"[\"“]([^\"“”]{2,60})[\"”]")
_NAME = re.compile(
    r"(?:\b[^\W\d_a-z][\w'’.\-–]*)(?:(?:\s|\s?&\s|\s(?:of|the|de|la|le|du|del|der|van|von|da|di|al|bin|ibn|of the)\s)"
    r"(?:[^\W\d_a-z][\w'’.\-–]*|[IVX]+\b))*"
)


def tokens(sentence: str) -> list[Token]:
    """The words of `sentence`; each Chinese, Japanese or Korean character is one."""
    return [Token(match.group(), match.start(), match.end()) for match in _TOKEN.finditer(sentence)]


def mentions(sentence: str, words: list[Token], common: Collection[str]) -> list[Mention]:
    """The mentions of `sentence`, which has the tokens `words`, in order; words in `common` alone are none.

    A piece of text belongs to one mention: a title goes before a date, a number, a name and a word.
    """
    found: list[Mention] = []
    for kind, start, end in _spans(sentence, words, common):
        inside = [i for i, word in enumerate(words) if word.start < end and word.end > start]
        if inside and not any(start < other.end and end > other.start for other in found):
            found.append(Mention(kind, sentence[start:end], start, end, inside[0], inside[-1]))
    return sorted(found, key=lambda mention: mention.start)


def _spans(sentence: str, words: list[Token], common: Collection[str]) -> Iterator[tuple[MentionKind, int, int]]:
    for match in _TITLE.finditer(sentence):
        yield "title", match.start(1), match.end(1)
    for match in _DATE.finditer(sentence):
        if match.group() not in {"May", "March"} or sentence[: match.start()].endswith(" in "):
            yield "date", *match.span()
    for match in _NUMBER.finditer(sentence):
        yield "number", *match.span()
    for match in _NAME.finditer(sentence):
        start, end = _without_common(sentence, *match.span(), common)
        if start < end:
            yield "name", start, end
    for word in words:
        if word.text[:1].islower() and len(word.text) > 2 and word.text.casefold() not in common:
            yield "word", word.start, word.end


def _without_common(sentence: str, start: int, end: int, common: Collection[str]) -> tuple[int, int]:
    """Cut "The" from "The Beatles", everything from "He", and a full stop at the end."""
    while start < end:
        match = re.match(r"[\w'’\-–]+\W*", sentence[start:end])
        if match and match.group().strip(" .").casefold() in common:
            start += match.end()
        else:
            break
    text = sentence[start:end].rstrip(" .'’-–")
    return start, start + len(text)
