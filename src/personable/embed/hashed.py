"""An embedder without a model, for tests: words hashed to signed positions."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from itertools import pairwise

import numpy as np

from personable.embed.base import Vectors
from personable.text import words


class HashEmbedder:
    """Feature hashing (Weinberger et al. 2009, §2) of words and word pairs: equal text gives equal vectors, shared
    words give a positive cosine, on every machine. Meant for tests and trials, not for real searches."""

    remote = False

    def __init__(self, dim: int) -> None:
        self.name = f"hash:{dim}"
        self.dim = dim
        self.digest = f"hash-1-{dim}"

    def passages(self, texts: Sequence[str]) -> Vectors:
        out = np.zeros((len(texts), self.dim), dtype=np.float32)
        for row, text in enumerate(texts):
            found = words(text)
            for term in [*found, *map(" ".join, pairwise(found))] or [""]:
                code = int.from_bytes(blake2b(term.encode("utf-8", "replace"), digest_size=8).digest(), "big")
                out[row, (code >> 1) % self.dim] += 1 if code & 1 else -1
            if not out[row].any():  # opposite signs met in one position
                out[row, 0] = 1
            out[row] /= np.linalg.norm(out[row])
        return out

    def queries(self, texts: Sequence[str]) -> Vectors:
        return self.passages(texts)
