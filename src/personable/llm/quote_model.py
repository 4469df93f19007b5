"""The weights of the evidence: logistic models, one for sentences and one for mentions, with and without embeddings."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

from personable.llm.quote_evidence import Features
from personable.types import Value


class Logistic(Value):
    """Probability = 1 / (1 + exp(-(bias + sum of weight × feature))); an unknown feature counts nothing."""

    bias: float
    weights: Mapping[str, float]

    def logits(self, features: Sequence[Features]) -> NDArray[np.float64]:
        """Log odds, shape (len(features),)."""
        weights = self.weights
        return np.array(
            [self.bias + sum(weights.get(name, 0.0) * value for name, value in one.items()) for one in features],
            dtype=np.float64,
        )


class Model(Value):
    """`mention` ranks answers, `sentence` says how likely a sentence answers; below `threshold` nothing was found."""

    mention: Logistic
    sentence: Logistic
    threshold: float


@cache
def fitted(dense: bool) -> Model:
    """The shipped model, fitted by `benchmarks/fit_quote.py`; `dense` with embeddings."""
    data = json.loads((files("personable.llm") / "quote_weights.json").read_text(encoding="utf-8"))
    return Model.model_validate(data["dense" if dense else "lexical"])
