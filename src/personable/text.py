"""Sentences, words and token estimates: the few text measures that everything shares. Works for any script."""

from __future__ import annotations

import re
from typing import NamedTuple

_WORD = re.compile(r"\w+(?:['’]\w+)*", re.UNICODE)
# A block ends at a blank line, before a list item, before a line that heads a list, and after a short line that does
# not run on (a heading).
_BLOCK = re.compile(
    r"\n\s*\n|\n(?=\s*(?:[-*•‣·]|\d{1,3}[.)])\s)|\n(?=[A-Z][^\n.!?,;]{0,60}\n\s*[-*•‣·]\s)"
    r"|(?:(?<=\n)|^)[^\n]{1,44}(?<![,;])\n(?=[A-Z0-9\"“])"
)
_NUMBER = re.compile(r"\d{1,3}[.)]")
_CLOSING = re.compile(r"([)\]»”]+)(?:\s+|$)")
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]")


class Span(NamedTuple):
    """A piece of a text: `text == whole[start:end]`, offsets in characters."""

    text: str
    start: int
    end: int


def sentences(text: str, language: str = "en") -> list[Span]:
    """The sentences of `text`, without surrounding white space. List items, headings and paragraphs end a sentence."""
    from sentencex import get_sentence_boundaries

    spans: list[Span] = []
    start = 0
    for end in [*(match.end() for match in _BLOCK.finditer(text)), len(text)]:
        block = text[start:end]
        for bound in get_sentence_boundaries(language, block):
            lead = len(bound["text"]) - len(bound["text"].lstrip())
            body = bound["text"].strip()
            if body:
                first = start + bound["start_index"] + lead
                if spans and _NUMBER.fullmatch(spans[-1].text):  # "1." and what it numbers are one
                    first = spans.pop().start
                end_at = start + bound["start_index"] + lead + len(body)
                if spans and (closing := _CLOSING.match(text, first, end_at)):  # "(…. Or so.)" keeps its bracket
                    spans[-1] = Span(text[spans[-1].start : closing.end(1)], spans[-1].start, closing.end(1))
                    first = closing.end()
                if first < end_at:
                    spans.append(Span(text[first:end_at], first, end_at))
        start = end
    return spans


def words(text: str) -> list[str]:
    """Unicode words, lower case; one word a character in Chinese, Japanese and Korean text."""
    found: list[str] = []
    for match in _WORD.findall(text.casefold()):
        found.extend(match if _CJK.search(match) else [match])
    return found


def tokens(text: str) -> int:
    """An upper estimate of a language model's tokens for `text`, without its tokenizer.

    A byte-pair tokenizer spends about four bytes of English on a token; three is safe for other Latin scripts, and
    one token a character for Chinese, Japanese and Korean.
    """
    cjk = 0 if text.isascii() else len(_CJK.findall(text))
    return cjk + -(-(len(text.encode("utf-8", "replace")) - 3 * cjk) // 3)
