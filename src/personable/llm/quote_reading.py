"""Reading: a question and passages taken apart into sentences, stems and mentions."""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import NamedTuple, Protocol

from personable.llm.answer_type import AnswerType, answer_type
from personable.llm.quote_mention import Mention, Token, mentions, tokens
from personable.text import Span, sentences, words
from personable.types import Passage


class Sentence(NamedTuple):
    """Sentence number `place` of passage number `passage`, at `start` in its text.

    `stems[i]` belongs to `words[i]` ("" for common words). `context` holds the stems of the title and of the sentences
    and headings before it, which a pronoun may stand for.
    """

    text: str
    passage: int
    start: int
    place: int
    words: list[Token]
    stems: list[str]
    mentions: list[Mention]
    context: frozenset[str]


class Asked(NamedTuple):
    """The question: the kind of its answer, its stems in order, their weights, and the stem of the kind's noun."""

    kind: AnswerType
    stems: list[str]
    weight: Mapping[str, float]
    head: str


class _Stemmer(Protocol):
    def stemWord(self, word: str) -> str: ...


class _Plain:
    def stemWord(self, word: str) -> str:
        return word


@cache
def lexicon() -> tuple[frozenset[str], Mapping[str, float]]:
    """English function words, and for frequent English stems the share of passages that hold them."""
    path = files("personable.llm") / "quote_lexicon.json"
    data = json.loads(path.read_text(encoding="utf-8"))
    return frozenset(data["common"]), data["background"]


_ITEM = re.compile(r"(?:[-*•‣·]|\d{1,3}[.)])\s")
_HEADING = re.compile(r"^ {0,3}#{1,6}[ \t].*$", re.MULTILINE)
_RUNS_ON = re.compile(r"(?:\S+\s+){3,}\S*[^\s.!?。]$")
_LIST_WORDS = 60
_TELLING = frozenset(["first", "second", "new", "one", "two", "three", "most", "only", "many"])


class Reader:
    """Reads texts of one language ("en"); a language without a stemmer is read without one."""

    def __init__(self, language: str) -> None:
        import Stemmer

        self.language = language.partition("-")[0]
        try:
            self._stemmer: _Stemmer = Stemmer.Stemmer(self.language)
        except KeyError:
            self._stemmer = _Plain()
        self._common, self.background = lexicon() if self.language == "en" else (frozenset(), {})

    def stem(self, word: str) -> str:
        """The stem of `word`; "" where it says nothing by itself."""
        bare = word.casefold().replace(",", "").removesuffix("'s").removesuffix("’s")
        return "" if bare in self._common - _TELLING else self._stemmer.stemWord(bare)

    def question(self, text: str) -> tuple[AnswerType, list[str], str]:
        """The kind of answer, the distinct stems in order, and the stem of the kind's noun."""
        kind = answer_type(text)
        stems = dict.fromkeys(self.stem(word.text) for word in tokens(text))
        return kind, [stem for stem in stems if stem], self.stem(kind.head) if kind.head else ""

    def passages(self, passages: Sequence[Passage]) -> list[Sentence]:
        """All sentences, without repetitions."""
        seen: set[str] = set()
        found: list[Sentence] = []
        for number, passage in enumerate(passages):
            context = self._stems(passage.title)
            headings = deque(_HEADING.finditer(passage.text))
            for place, span in enumerate(_statements(passage.text, self.language)):
                while headings and headings[0].start() < span.start:
                    context |= self._stems(headings.popleft().group())
                parts = tokens(span.text)
                key = " ".join(words(span.text))
                if not parts or key in seen:
                    continue
                seen.add(key)
                stems = [self.stem(word.text) for word in parts]
                inside = mentions(span.text, parts, self._common)
                found.append(Sentence(span.text, number, span.start, place, parts, stems, inside, context))
                context |= frozenset(stems) - {""}
        return found

    def _stems(self, text: str) -> frozenset[str]:
        return frozenset(self.stem(word.text) for word in tokens(text)) - {""}


def _statements(text: str, language: str) -> Iterator[Span]:
    """Sentences and lists, without Markdown headings: those say what the text below is about and are no answer."""
    start = 0
    for end, following in [*(match.span() for match in _HEADING.finditer(text)), (len(text), len(text))]:
        section = text[start:end]
        for span in _with_lists(section, sentences(section, language)):
            yield Span(span.text, start + span.start, start + span.end)
        start = following


def _with_lists(text: str, spans: Sequence[Span]) -> list[Span]:
    """Join a list's items to each other and to the sentence that introduces them, up to sixty words a piece."""
    joined: list[Span] = []
    for span in spans:
        if joined and _ITEM.match(span.text):
            before = joined[-1]
            together = Span(text[before.start : span.end], before.start, span.end)
            introduced = before.text.endswith(":") or _RUNS_ON.search(before.text)
            if (introduced or _ITEM.match(before.text)) and len(together.text.split()) <= _LIST_WORDS:
                joined[-1] = together
                continue
        joined.append(span)
    return joined
