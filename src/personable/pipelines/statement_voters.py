"""Who says how much a statement matters for an utterance: words, and embedders, each by itself.

Every voter is a `StatementRanker`, so that each can also stand alone.
"""

from __future__ import annotations

import asyncio
import math
from collections import Counter
from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from personable.errors import ModelError
from personable.kit import Kit
from personable.pipelines.conversation import Utterance
from personable.retrieval.analysis import Analyser

Reading = Literal["now", "after question", "after reply", "all questions"]
"""What an utterance is read together with: nothing; what the person said before it; what was replied to that; all that
the person said."""

REPLY = 1000
"""Characters of a reply that are read: the utterance behind it must stay within the 256 tokens that MiniLM reads."""
QUESTIONS = 2000
"""Characters of earlier questions that are read, the latest."""
K1, B = 1.2, 0.75


def read(said: Utterance, reading: Reading) -> str:
    """The text that stands for what is said. A rewrite already holds what came before, so it is read alone."""
    if said.rewrite.strip() or not said.turns:
        return said.rewrite.strip() or said.text
    last = said.turns[-1]
    match reading:
        case "now":
            return said.text
        case "after question":
            return f"{last.utterance[-QUESTIONS:]} {said.text}"
        case "after reply":
            return f"{last.response[:REPLY]} {said.text}".strip()
        case "all questions":
            before = " ".join(turn.utterance for turn in said.turns[-100:])
            return f"{before[-QUESTIONS:]} {said.text}"


class Words:
    """BM25 over the statements (Robertson & Zaragoza 2009, section 3.4; k1 = 1.2, b = 0.75, Lucene's idf), halved
    towards 1: s / (s + 1). 0 where no word is shared."""

    name, remote = "words", False

    def __init__(self, language: str = "en") -> None:
        self._analyser = Analyser(language)

    async def scores(self, said: Utterance, statements: Sequence[str]) -> list[float]:
        found = bm25(self._analyser, read(said, "now"), statements)
        return [score / (score + 1) for score in found.tolist()]


def bm25(analyser: Analyser, query: str, texts: Sequence[str]) -> NDArray[np.float64]:
    """BM25 of `query` for each text, shape (len(texts),); the texts are the whole collection."""
    bags = [Counter(analyser.terms(text)) for text in texts]
    lengths = [bag.total() for bag in bags]
    mean = sum(lengths) / len(bags) if any(lengths) else 1.0
    frequency = Counter(term for bag in bags for term in bag)
    asked = dict.fromkeys(analyser.content(query))
    idf = {term: math.log1p((len(bags) - frequency[term] + 0.5) / (frequency[term] + 0.5)) for term in asked}
    return np.array(
        [
            sum(idf[t] * bag[t] * (K1 + 1) / (bag[t] + K1 * (1 - B + B * size / mean)) for t in asked if t in bag)
            for bag, size in zip(bags, lengths, strict=True)
        ],
        dtype=np.float64,
    )


class Similarity:
    """Cosine of the statement to the utterance in one `reading`, by the kit's embedder or the packaged one called
    `embedder`; what points away counts 0. The kit remembers the statements' vectors."""

    def __init__(self, name: str, kit: Kit, embedder: str = "", reading: Reading = "now") -> None:
        self.name = name
        self.remote = not embedder and kit.embedder is not None and kit.embedder.remote
        self._kit, self._embedder, self._reading = kit, embedder, reading

    async def scores(self, said: Utterance, statements: Sequence[str]) -> list[float]:
        text = read(said, self._reading)
        found = await asyncio.to_thread(self._kit.similar, text, statements, self._embedder)
        if not np.isfinite(found).all():
            raise ModelError(f"the embedder of ranker {self.name!r} gave a value that is no number; try another one")
        return [float(score) for score in np.clip(found, 0.0, 1.0)]
