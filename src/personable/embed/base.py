"""The seam to embedding models: texts go in, unit vectors come out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]


class Embedder(Protocol):
    """Turns text into unit vectors. Cosine similarity is then the inner product.

    Called from worker threads; an implementation is safe to call from several at once. It loads its model at the
    first call, not when it is made. An empty list gives an array of shape (0, dim); an empty text gives a vector too.
    """

    @property
    def name(self) -> str:
        """The name in settings that makes this embedder, such as `minilm`."""

    @property
    def dim(self) -> int:
        """Length of a vector."""

    @property
    def digest(self) -> str:
        """sha256 of the weights (hex), or a stable name of the served model where weights cannot be seen."""

    @property
    def remote(self) -> bool:
        """True when text leaves this machine (not loopback) for an embedder that is not marked trusted."""

    def passages(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors of documents, shape (len(texts), dim)."""

    def queries(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors of queries, shape (len(texts), dim)."""
