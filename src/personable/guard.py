"""The guard: what may leave. Each sentence of a reply is checked against the passages before anybody sees it.

A sentence is supported by a passage when every number and every capitalised word in it stands in the passage or in the
question, and the passage holds at least 60 % of its content words that the question does not, stemmed. Lexical and
numeric evidence only: no entailment model is needed, and a paraphrase far from the passage's words is refused rather
than trusted.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, Protocol

from personable.notes import Verdict
from personable.retrieval.analysis import Analyser
from personable.text import sentences, words
from personable.types import Passage

COVERAGE = 0.6
REPEATED = 12
"""Words from which on a sentence needs a third of them to be different."""
_CITED = re.compile(r"\s*\[(\d{1,4}(?:\s*[,;–-]\s*\d{1,4})*)\]")
_LATE = re.compile(r"([.!?。！？])((?:\s*\[\d{1,4}(?:\s*[,;–-]\s*\d{1,4})*\])+)")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_NAME = re.compile(r"\b[A-Z][\w'’-]+")
_SCRIPTS = (
    ("latin", re.compile(r"[A-Za-z\u00c0-\u024f]")),
    ("cjk", re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")),
    ("cyrillic", re.compile(r"[\u0400-\u04ff]")),
    ("arabic", re.compile(r"[\u0600-\u06ff]")),
    ("greek", re.compile(r"[\u0370-\u03ff]")),
    ("devanagari", re.compile(r"[\u0900-\u097f]")),
)
# Words that carry no claim of their own: a sentence may add them freely.
_FREE = frozenset(
    """
    a an and are as at be been but by can could did do does for from had has have he her his how i if in into is it
    its may might more most no not of on or our she should so some such than that the their them then there these they
    this those to was we were what when where which who whom whose why will with would you your also according answer
    based because however passage passages document documents says said states mentioned question therefore thus yes
    """.split()
)


@dataclass(frozen=True)
class Checked:
    """A sentence after the check: `text` without citation marks ("" where it was removed), and the decision."""

    text: str
    verdict: Verdict


class Checks(Protocol):
    """What decides about sentences, one at a time."""

    def check(self, sentence: str) -> Checked:
        """The sentence as it may leave."""


@dataclass
class Guard:
    """Checks sentences against numbered `passages` (1 is the first). With `mark`, unsupported ones stay, marked so."""

    passages: Sequence[Passage]
    question: str
    language: str = "en"
    mark: bool = False
    _read: dict[int, _Read] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._analyser = Analyser(self.language)
        self._asked = self._reading(self.question)

    def check(self, sentence: str) -> Checked:
        """Keep a supported sentence, give it the passage that supports it, or take it out (or mark it)."""
        bare = unmarked(sentence)
        if not words(bare):
            return decided(sentence, "", "removed", "no words")
        if len(words(bare)) > REPEATED and len(set(words(bare))) < len(words(bare)) / 3:
            return decided(sentence, "", "removed", "the same words over and over")
        cited = [number for number in numbers_cited(sentence) if 1 <= number <= len(self.passages)]
        if cited and self._foreign(bare, cited):
            return decided(sentence, bare, "marked", "in another script than its passages: not checked", cited)
        support = {number: self._support(bare, number) for number in range(1, len(self.passages) + 1)}
        kept = [number for number in cited if support[number] >= COVERAGE]
        if kept:
            return decided(sentence, bare, "kept", "", kept, support)
        best = max(support, key=lambda number: support[number], default=0)
        if best and support[best] >= COVERAGE:
            reason = "another passage supports it" if cited else "cited no passage"
            return decided(sentence, bare, "cited", reason, [best], support)
        if self.mark:
            return decided(sentence, f"{bare} (unsupported)", "marked", "no passage supports it", [], support)
        return decided(sentence, "", "removed", "no passage supports it", [], support)

    def _support(self, bare: str, number: int) -> float:
        """Share of the sentence's new content words that the passage holds; 0 where a number or a name is missing."""
        passage = self._passage(number)
        if set(_NUMBER.findall(bare)) - passage.numbers - self._asked.numbers:
            return 0.0
        known = passage.stems | self._asked.stems
        for name in _NAME.findall(bare):
            if name.casefold() not in _FREE and not set(self._analyser.terms(name)) <= known:
                return 0.0
        content = set(self._analyser.terms(" ".join(word for word in words(bare) if word not in _FREE)))
        new = content - self._asked.stems or content
        return len(new & passage.stems) / len(new) if new else 1.0

    def _passage(self, number: int) -> _Read:
        if number not in self._read:
            passage = self.passages[number - 1]
            self._read[number] = self._reading(f"{passage.title}\n{passage.text}")
        return self._read[number]

    def _reading(self, text: str) -> _Read:
        return _Read(frozenset(self._analyser.terms(text)), frozenset(_NUMBER.findall(text)))

    def _foreign(self, bare: str, cited: list[int]) -> bool:
        own = script(bare)
        return own != "" and all(script(self.passages[number - 1].text) not in ("", own) for number in cited)


class _Read(NamedTuple):
    stems: frozenset[str]
    numbers: frozenset[str]


def decided(
    sentence: str,
    text: str,
    action: Literal["kept", "cited", "marked", "removed"],
    reason: str,
    passages: list[int] | None = None,
    support: dict[int, float] | None = None,
) -> Checked:
    """A sentence after its check; `support` is what each passage gave it."""
    evidence = {f"passage {number}": round(value, 3) for number, value in (support or {}).items() if value}
    verdict = Verdict(sentence=sentence, action=action, passages=passages or [], reason=reason, evidence=evidence)
    return Checked(text, verdict)


def script(text: str) -> str:
    """The writing system of most letters of `text`: latin, cjk, cyrillic, arabic, greek, devanagari, or "" if none."""
    counts = {name: len(pattern.findall(text)) for name, pattern in _SCRIPTS}
    best = max(counts, key=lambda name: counts[name])
    return best if counts[best] else ""


def place(bare: str, marks: str) -> str:
    """`bare` with its citation marks before the final stop: "So it is [1]."."""
    if not marks:
        return bare
    end = len(bare.rstrip(".!?。！？"))
    return f"{bare[:end].rstrip()} {marks}{bare[end:]}"


def unmarked(text: str) -> str:
    """`text` without anything that reads like a citation mark."""
    return _CITED.sub("", text).strip()


def split_reply(text: str) -> list[str]:
    """The sentences of a reply; citation marks that stand after a full stop belong to the sentence before them."""
    moved = _LATE.sub(lambda match: f"{match[2]}{match[1]}", text)
    return [span.text for span in sentences(moved)]


def split_stream(pending: str) -> tuple[list[str], str]:
    """The sentences of a growing text that are complete, and the rest, untouched.

    The last sentence may go on, and so may citation marks behind it, so it waits for words that follow.
    """
    starts = [span.start for span in sentences(pending) if not span.text.startswith("[")]
    if len(starts) < 2:
        return [], pending
    return split_reply(pending[: starts[-1]]), pending[starts[-1] :]


def numbers_cited(sentence: str) -> list[int]:
    """The numbers in a sentence's citation marks, each once."""
    found: list[int] = []
    for group in _CITED.findall(sentence):
        for number in re.split(r"\s*[,;–-]\s*", group):
            if int(number) not in found:
                found.append(int(number))
    return found
