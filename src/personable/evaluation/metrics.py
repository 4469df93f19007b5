"""Metrics of an answer against gold answers, and of passages against gold answers. Each is a small pure function.

An empty answer is a wrong answer.
"""

from __future__ import annotations

import math
import re
import string
from collections import Counter
from collections.abc import Sequence

from personable.errors import DataError
from personable.text import words

_ARTICLES = re.compile(r"\b(a|an|the)\b")
_PUNCTUATION = frozenset(string.punctuation)


def contains(answer: str, golds: Sequence[str]) -> bool:
    """Accuracy by containment: any gold answer is a substring of the output, both case-folded.

    PersonaRAG (arXiv 2407.09394) section 4.3. It rewards long outputs: show the length beside it.
    """
    folded = answer.casefold()
    return any(gold.casefold() in folded for gold in golds if gold)


def contains_words(answer: str, golds: Sequence[str]) -> bool:
    """Containment at word borders: a gold answer must not begin or end within a word of the output.

    The strict reading of PersonaRAG section 4.3: "art" is not found in "party".
    """
    folded = answer.casefold()
    return any(re.search(rf"(?<!\w){re.escape(gold.casefold())}(?!\w)", folded) for gold in golds if gold)


def normalise(text: str) -> str:
    """SQuAD's answer normalisation: lower case, no ASCII punctuation, no articles, single spaces.

    Rajpurkar et al. 2016 (arXiv 1606.05250), section 6.1.
    """
    bare = "".join(character for character in text.lower() if character not in _PUNCTUATION)
    return " ".join(_ARTICLES.sub(" ", bare).split())


def exact_match(answer: str, golds: Sequence[str]) -> bool:
    """SQuAD exact match, best over aliases: the normalised output equals a normalised gold answer (section 6.1)."""
    said = normalise(answer)
    return bool(answer.strip()) and any(normalise(gold) == said for gold in golds)


def token_f1(answer: str, golds: Sequence[str]) -> float:
    """SQuAD token F1 (0 to 1), best over aliases: harmonic mean of precision and recall of normalised tokens.

    Rajpurkar et al. 2016, section 6.1. A text that normalises to nothing ("The") has F1 1 with its like, else 0.
    """
    if not answer.strip():
        return 0.0
    return max((_f1(normalise(answer).split(), normalise(gold).split()) for gold in golds), default=0.0)


def length(answer: str) -> int:
    """Answer length in words (Unicode words; one a character in Chinese, Japanese and Korean)."""
    return len(words(answer))


def first_answer(passages: Sequence[str], golds: Sequence[str]) -> int | None:
    """The rank (from 1) of the first passage that contains a gold answer as `contains` does, None without one."""
    return next((rank for rank, text in enumerate(passages, 1) if contains(text, golds)), None)


def passage_contains(passages: Sequence[str], golds: Sequence[str], k: int) -> bool:
    """Passage-contains-answer@k: any of the first `k` passages contains a gold answer, case-folded.

    Top-k retrieval accuracy of Karpukhin et al. 2020 (arXiv 2004.04906), section 5, with containment as matcher. The
    ceiling of a strictly grounded answer's accuracy.
    """
    rank = first_answer(passages, golds)
    return rank is not None and rank <= k


def hit(ranked: Sequence[str], relevant: set[str] | frozenset[str], k: int) -> bool:
    """Hit@k: at least one of the first `k` ids is relevant."""
    return any(id in relevant for id in ranked[:k])


def finite(value: float, what: str) -> float:
    """`value` itself. Raises DataError that names `what` when it is NaN or infinite."""
    if not math.isfinite(value):
        raise DataError(f"{what} is {value}: a score must be a finite number")
    return value


def _f1(said: list[str], gold: list[str]) -> float:
    if not said or not gold:
        return float(said == gold)
    common = sum((Counter(said) & Counter(gold)).values())
    return 2 * common / (len(said) + len(gold))
