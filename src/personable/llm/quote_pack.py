"""Packing: which spans to quote so that a few words cover as much as possible of what may be the answer."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from personable.llm.quote_evidence import Clue
from personable.llm.quote_reading import Sentence
from personable.llm.quote_span import Span, spans

# Chosen by cross-validation on the development rows of the open QA sets; the optimum is flat.
_OPENING_COST = 3  # words that opening one more quotation counts as: few long quotations read better than many short
_SENTENCE_SHARE = 0.4  # worth of saying the relevant sentences, beside covering candidate answers (1)
_FOCUS = 2.0  # power on relevance: how far the best sentences stand out
_SHARPNESS = 1.3  # power on the chance of a candidate
_THRIFT = 0.9  # power on cost: 1 prefers the densest span, 0 the richest
_WHOLE = 1.15  # bonus of a whole sentence


Key = tuple[str, ...]


class Piece(NamedTuple):
    """A span of sentence number `sentence`, which has `stems`.

    `covers` are the answers in the span, `worth` is what it says besides them.
    """

    sentence: int
    stems: frozenset[str]
    span: Span
    covers: frozenset[Key]
    worth: float


def pack(
    sentences: Sequence[Sentence],
    relevance: NDArray[np.float64],
    found: Sequence[Clue],
    chances: NDArray[np.float64],
    max_words: int,
    short: bool,
) -> list[Piece]:
    """At most one span a sentence, chosen greedily by what it adds for each word (and each new quotation) it costs.

    `relevance` (a sentence) and `chances` (a mention) are probabilities. An answer that stands in several spans counts
    once. Where the answer is not `short`, relevance and what was not said yet count, and whole sentences are taken
    while they fit.
    """
    pieces = _pieces(sentences, relevance, found, max_words, short)
    packing = _Packing(max_words)
    if short:
        packing.promise(found, chances)
    while True:
        rated = [(packing.rate(piece), piece) for piece in pieces]
        rate, best = max(rated, key=lambda one: one[0], default=(0.0, None))
        if best is None or rate <= 0:
            return list(packing.chosen.values())
        packing.take(best)


class _Packing:
    """What was chosen so far; `promises` are the answers hoped for, with their shares of all hope."""

    def __init__(self, max_words: int) -> None:
        self.left = max_words
        self.chosen: dict[int, Piece] = {}
        self.promises: dict[Key, float] = {}
        self.covered: set[Key] = set()
        self.said: set[str] = set()

    def promise(self, found: Sequence[Clue], chances: NDArray[np.float64]) -> None:
        for clue, chance in zip(found, (chances**_SHARPNESS).tolist(), strict=True):
            self.promises[clue.key] = max(self.promises.get(clue.key, 0.0), chance)
        total = sum(self.promises.values()) or 1.0
        self.promises = {key: chance / total for key, chance in self.promises.items()}

    def rate(self, piece: Piece) -> float:
        """Gain by cost; 0 for what does not fit, or does not go beyond what was chosen of its sentence."""
        cost, gain, opening = piece.span.length, piece.worth, _OPENING_COST
        if before := self.chosen.get(piece.sentence):
            if not _extends(piece.span, before.span):
                return 0.0
            cost, gain, opening = cost - before.span.length, gain - before.worth, 0
        if cost > self.left:
            return 0.0
        if not self.promises:
            gain *= len(piece.stems - self.said) / len(piece.stems)
        gain += sum(self.promises.get(key, 0.0) for key in piece.covers - self.covered)
        effort = math.pow(cost + opening, _THRIFT)
        return gain / effort * (_WHOLE if piece.span.whole else 1.0)

    def take(self, piece: Piece) -> None:
        before = self.chosen.get(piece.sentence)
        self.left -= piece.span.length - (before.span.length if before else 0)
        self.chosen[piece.sentence] = piece
        self.covered |= piece.covers
        self.said |= piece.stems


def _extends(span: Span, before: Span) -> bool:
    return span.start <= before.start and span.end >= before.end and span.length > before.length


def _pieces(
    sentences: Sequence[Sentence],
    relevance: NDArray[np.float64],
    found: Sequence[Clue],
    max_words: int,
    short: bool,
) -> list[Piece]:
    inside: dict[int, list[Clue]] = defaultdict(list)
    for clue in found:
        inside[clue.sentence].append(clue)
    share = relevance**_FOCUS
    share *= (_SENTENCE_SHARE if short else 1.0) / (share.sum() or 1.0)
    pieces = []
    for number, sentence in enumerate(sentences):
        options = spans(sentence.text, max_words)
        if not short and any(option.whole for option in options):
            options = [option for option in options if option.whole]
        for span in options:
            covers = frozenset(
                clue.key for clue in inside[number] if span.start <= clue.mention.start and clue.mention.end <= span.end
            )
            part = (span.end - span.start) / len(sentence.text)
            pieces.append(Piece(number, frozenset(sentence.stems), span, covers, float(share[number]) * part))
    return pieces
