"""An embedder that remembers the latest queries: one question is compared and searched several times."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from personable.embed.base import Embedder, Vectors

REMEMBERED = 512


class Remembering:
    """The embedder `inner`, asked once for each of the latest queries. Passages are not remembered."""

    def __init__(self, inner: Embedder) -> None:
        self._inner = inner
        self._queries: dict[str, Vectors] = {}

    @property
    def name(self) -> str:
        return self._inner.name

    @property
    def dim(self) -> int:
        return self._inner.dim

    @property
    def digest(self) -> str:
        return self._inner.digest

    @property
    def remote(self) -> bool:
        return self._inner.remote

    def forget(self) -> None:
        """Remember nothing of what was asked so far or is at this moment."""
        self._queries = {}

    def passages(self, texts: Sequence[str]) -> Vectors:
        return self._inner.passages(texts)

    def queries(self, texts: Sequence[str]) -> Vectors:
        cache = self._queries  # if it is forgotten before this ends, nothing of this is remembered
        known = dict(cache)
        new = [text for text in dict.fromkeys(texts) if text not in known]
        if new:
            known |= dict(zip(new, self._inner.queries(new), strict=True))
            cache.update((text, known[text]) for text in new)
            for oldest in list(cache)[:-REMEMBERED]:
                cache.pop(oldest, None)
        return np.stack([known[text] for text in texts]) if texts else self._inner.queries([])
