"""The built-in answerer: the sentences of the given passages that fit the question best, quoted word for word."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from personable.llm.answer_type import AnswerType, answer_type
from personable.text import sentences, words
from personable.types import Passage, Value

Similar = Callable[[str, Sequence[str]], NDArray[np.float32]]
_EMBEDDED = 12
_FOUND = 0.3
_NAME = re.compile(r"\b[A-Z][\w'’-]+")
_DIGITS = re.compile(r"\d")
_STOP = frozenset(
    "a an and are as at be been by did do does for from had has have how in is it its of on or that the their this to was "
    "were what when where which who whom whose why will with would".split()
)


class Quoted(Value):
    """`text` is `passages[passage].text[start:end]`; `score` (0 to 1) estimates that it answers the question."""

    text: str
    passage: int
    start: int
    end: int
    score: float


class Quotation(Value):
    """Quotations, best first. `found` is False when nothing fits well enough to be called an answer."""

    sentences: list[Quoted]
    answer_type: str
    found: bool
    score: float


class _Candidate(NamedTuple):
    text: str
    passage: int
    start: int
    end: int
    stems: frozenset[str]


def quote(
    question: str,
    passages: Sequence[Passage],
    *,
    similar: Similar | None,
    max_words: int = 40,
    weights: Sequence[float] | None = None,
    language: str = "en",
) -> Quotation:
    """Answer `question` with at most `max_words` words quoted from `passages`, best first.

    `similar(question, texts)` gives cosine similarities (None: lexical evidence only); `weights` multiplies the odds of
    each passage (1.0 is neutral). Deterministic. Raises ValueError when `weights` does not match `passages`.
    """
    if weights is not None and len(weights) != len(passages):
        raise ValueError(f"{len(weights)} weights for {len(passages)} passages: give one weight a passage")
    kind = answer_type(question)
    found = _candidates(passages, language)
    if not found:
        return Quotation(sentences=[], answer_type=kind.kind, found=False, score=0.0)
    scores = _scores(question, kind, found, similar, language)
    if weights is not None:
        odds = scores / (1 - scores) * np.array([max(weights[c.passage], 0.0) for c in found])
        scores = odds / (1 + odds)
    chosen = _pack(found, scores, max_words)
    best = max((quoted.score for quoted in chosen), default=0.0)
    return Quotation(sentences=chosen, answer_type=kind.kind, found=best >= _FOUND, score=best)


def _candidates(passages: Sequence[Passage], language: str) -> list[_Candidate]:
    seen: set[str] = set()
    found = []
    for index, passage in enumerate(passages):
        for span in sentences(passage.text, language):
            key = " ".join(words(span.text))
            if key and key not in seen:
                seen.add(key)
                found.append(_Candidate(span.text, index, span.start, span.end, _stems(span.text, language)))
    return found


def _stems(text: str, language: str) -> frozenset[str]:
    import Stemmer

    terms = [word for word in words(text) if word not in _STOP]
    if language in Stemmer.algorithms() or language in {"en", "de", "fr", "es", "it", "nl", "pt", "sv", "ru"}:
        return frozenset(Stemmer.Stemmer(language).stemWords(terms))
    return frozenset(terms)


def _scores(
    question: str, kind: AnswerType, found: Sequence[_Candidate], similar: Similar | None, language: str
) -> NDArray[np.float64]:
    asked = _stems(question, language)
    counts = Counter(stem for candidate in found for stem in candidate.stems & asked)
    idf = {stem: math.log(1 + len(found) / (0.5 + counts[stem])) for stem in asked}
    total = sum(idf.values()) or 1.0
    overlap = np.array([sum(idf[stem] for stem in candidate.stems & asked) / total for candidate in found])
    dense = np.zeros(len(found))
    if similar is not None:
        picked = np.argsort(-overlap, kind="stable")[:_EMBEDDED]
        dense[picked] = similar(question, [found[i].text for i in picked])
    typed = np.array([_typed(kind, candidate.text, asked, language) for candidate in found])
    rank = np.array([1 / (1 + candidate.passage) for candidate in found])
    short = np.array([len(candidate.text) < 40 for candidate in found])
    weight = 1.0 if similar is not None else 0.5
    logit = -3.2 + 2.5 * overlap + 2.5 * dense * weight + 0.9 * typed + 0.5 * rank - 1.2 * short
    result: NDArray[np.float64] = 1 / (1 + np.exp(-logit))
    return result


def _typed(kind: AnswerType, text: str, asked: frozenset[str], language: str) -> float:
    if kind.kind in {"date", "number"}:
        return float(bool(_DIGITS.search(text)))
    if kind.kind in {"person", "place"}:
        return float(any(not _stems(name, language) <= asked for name in _NAME.findall(text)[1:]))
    return 0.5


def _pack(found: Sequence[_Candidate], scores: NDArray[np.float64], max_words: int) -> list[Quoted]:
    left = max_words
    chosen: list[Quoted] = []
    for i in np.argsort(-scores, kind="stable"):
        candidate = found[i]
        cut = list(re.finditer(r"\S+", candidate.text))
        if len(cut) > left and chosen:
            continue
        length = cut[min(left, len(cut)) - 1].end()
        chosen.append(
            Quoted(
                text=candidate.text[:length],
                passage=candidate.passage,
                start=candidate.start,
                end=candidate.start + length,
                score=float(scores[i]),
            )
        )
        left -= min(left, len(cut))
        if not left:
            break
    return chosen
