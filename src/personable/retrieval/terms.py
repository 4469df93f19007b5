"""Words of a catalogue held in memory: how near every item is to some items, or to a text, by TF-IDF."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from personable.retrieval.analysis import Analyser

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]


class Terms:
    """Unit TF-IDF vectors of texts, (1 + ln tf) · (1 + ln((1 + n) / (1 + df))) (Salton & Buckley 1988, table 1)."""

    def __init__(self, texts: Sequence[str], language: str) -> None:
        self._analyser = Analyser(language)
        self._column: dict[str, int] = {}
        self.count = len(texts)
        row: list[int] = []
        column: list[int] = []
        value: list[float] = []
        for number, text in enumerate(texts):
            for term, times in Counter(self._analyser.content(text)).items():
                row.append(number)
                column.append(self._column.setdefault(term, len(self._column)))
                value.append(times)
        rows, self._at = np.array(row, dtype=np.int64), np.array(column, dtype=np.int64)
        document_frequency = np.bincount(self._at, minlength=len(self._column))
        self._idf = np.log((1 + self.count) / (1 + document_frequency)) + 1
        weight = (1 + np.log(np.array(value, dtype=np.float64))) * self._idf[self._at]
        length = np.sqrt(np.bincount(rows, weights=weight**2, minlength=self.count))
        self._weight = weight / length[rows]
        self._start = np.searchsorted(rows, np.arange(self.count + 1))
        self._worded = np.unique(rows)

    def near(self, rows: Rows, weights: Floats) -> Floats:
        """For every item the inner product with the weighted sum of `rows`, shape (items,)."""
        asked = np.zeros(len(self._column))
        for row, weight in zip(rows.tolist(), weights.tolist(), strict=True):
            mine = slice(self._start[row], self._start[row + 1])
            asked[self._at[mine]] += weight * self._weight[mine]
        return self._scores(asked)

    def pairs(self, row: int, others: Rows) -> Floats:
        """The cosine of the item in `row` with each of `others`, shape (len(others),)."""
        mine = slice(self._start[row], self._start[row + 1])
        asked = np.zeros(len(self._column))
        asked[self._at[mine]] = self._weight[mine]
        parts = [slice(self._start[other], self._start[other + 1]) for other in others.tolist()]
        return np.array([float(asked[self._at[part]] @ self._weight[part]) for part in parts])

    def near_text(self, text: str) -> Floats:
        """For every item the cosine with `text`, shape (items,); all 0 where no word is known."""
        asked = np.zeros(len(self._column))
        for term, times in Counter(self._analyser.content(text)).items():
            if (column := self._column.get(term)) is not None:
                asked[column] = (1 + np.log(times)) * self._idf[column]
        return self._scores(asked / (np.linalg.norm(asked) or 1.0))

    def holding(self, text: str) -> Floats:
        """1 for every item with all words of `text`, else 0, shape (items,); all 0 for a text without words."""
        words = set(self._analyser.content(text))
        if not words:
            return np.zeros(self.count)
        return np.asarray(np.min([self.near_text(word) > 0 for word in words], axis=0), dtype=np.float64)

    def _scores(self, asked: Floats) -> Floats:
        scores = np.zeros(self.count)
        if len(self._at):
            scores[self._worded] = np.add.reduceat(self._weight * asked[self._at], self._start[self._worded])
        return scores
