"""Packing: which spans to quote so that a few words cover as much as possible of what may be the answer."""

from __future__ import annotations

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


class Piece(NamedTuple):
    """A span of sentence number `sentence`; `covers` are the answers in it, `worth` what it says besides them."""

    sentence: int
    span: Span
    covers: frozenset[tuple[str, ...]]
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
    once. Where the answer is not `short`, only relevance counts and whole sentences are taken while they fit.
    """
    pieces = _pieces(sentences, relevance, found, max_words, short)
    odds: dict[tuple[str, ...], float] = defaultdict(float)
    if short:
        for clue, chance in zip(found, chances.tolist(), strict=True):
            odds[clue.key] = max(odds[clue.key], chance**_SHARPNESS)
    total = sum(odds.values()) or 1.0
    chosen: dict[int, Piece] = {}
    covered: set[tuple[str, ...]] = set()
    left = max_words
    while True:
        best, best_rate = None, 0.0
        for piece in pieces:
            cost, gain, opening = piece.span.length, piece.worth, _OPENING_COST
            if before := chosen.get(piece.sentence):
                if not _extends(piece.span, before.span):
                    continue
                cost, gain, opening = cost - before.span.length, gain - before.worth, 0
            if cost > left:
                continue
            gain += sum(odds[key] for key in piece.covers - covered) / total
            rate = gain / (cost + opening) ** _THRIFT * (_WHOLE if piece.span.whole else 1.0)
            if rate > best_rate:
                best, best_rate = piece, rate
        if best is None:
            return list(chosen.values())
        left -= best.span.length - (chosen[best.sentence].span.length if best.sentence in chosen else 0)
        chosen[best.sentence] = best
        covered |= best.covers


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
            pieces.append(Piece(number, span, covers, float(share[number]) * part))
    return pieces
