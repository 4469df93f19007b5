"""The cascade's binary classifier: does this statement matter for this utterance at all?"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Sequence
from functools import cache
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

from personable.kit import Kit
from personable.llm.quote_model import Logistic
from personable.pipelines.conversation import Utterance
from personable.pipelines.statement_voters import bm25, read
from personable.retrieval.analysis import Analyser

EMBEDDER = "minilm"
"""Whose cosines the weights were fitted to."""
FILE = "statement_weights.json"
_ASKING = frozenset("recommend suggest best better should suit me my good idea ideas option options help".split())


@cache
def fitted() -> Logistic:
    """The shipped weights, fitted by `benchmarks/fit_statements.py` on the training topics of TREC iKAT 2023."""
    return Logistic.model_validate_json((files("personable.pipelines") / FILE).read_text(encoding="utf-8"))


class Classifier:
    """Logistic regression over embedding, lexical and context features; the score is the probability that the statement
    matters. Small and fitted on 42 turns: it sorts out rather than ranks."""

    name, remote = "classifier", False

    def __init__(self, kit: Kit, model: Logistic | None = None) -> None:
        self._kit, self._model, self._analyser = kit, model, Analyser("en")

    async def scores(self, said: Utterance, statements: Sequence[str]) -> list[float]:
        if not statements:
            return []
        model = self._model or fitted()
        logits = model.logits(await asyncio.to_thread(features, self._kit, self._analyser, said, statements))
        return [float(1 / (1 + math.exp(-min(max(logit, -30.0), 30.0)))) for logit in logits.tolist()]


def features(kit: Kit, analyser: Analyser, said: Utterance, statements: Sequence[str]) -> list[dict[str, float]]:
    """Named features of each statement. `*.among` are in standard deviations among these statements. It blocks."""
    now, reply = (kit.similar(read(said, reading), statements, EMBEDDER) for reading in ("now", "after reply"))
    words = bm25(analyser, read(said, "now"), statements)
    before = bm25(analyser, " ".join(f"{turn.utterance} {turn.response}" for turn in said.turns[-1:]), statements)
    asks = float(bool(_ASKING & set(read(said, "now").casefold().split())))
    columns = {
        "cosine": now.astype(np.float64),
        "cosine.among": _among(now),
        "cosine.reply.among": _among(reply),
        "words.among": _among(words),
        "words.before.among": _among(before),
        "length": np.log1p([len(text) for text in statements]),
        "asks": np.full(len(statements), asks),
        "first": np.full(len(statements), float(not said.turns)),
    }
    return [{name: float(values[row]) for name, values in columns.items()} for row in range(len(statements))]


def _among(values: NDArray[np.floating]) -> NDArray[np.float64]:
    spread = float(values.std())
    return (values - values.mean()) / spread if spread > 1e-9 else np.zeros(len(values))
