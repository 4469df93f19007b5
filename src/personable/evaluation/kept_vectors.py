"""An embedder that keeps its vectors in a file: strategies read the same passages again and again, runs too."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

import numpy as np

from personable.embed import Embedder, Vectors

STEP = 32
"""Texts that are embedded before their vectors are written down: what a stopped run loses."""
_ASKED = 500


class KeptVectors:
    """The embedder `inner`, asked once for each text; its vectors stay in the SQLite file `path`.

    The text itself is not kept: a vector is found by the sha256 of weights, role (query or passage) and text.
    """

    def __init__(self, inner: Embedder, path: Path) -> None:
        self._inner, self._path = inner, path
        self.name, self.dim, self.digest, self.remote = inner.name, inner.dim, inner.digest, inner.remote

    def passages(self, texts: Sequence[str]) -> Vectors:
        return self._vectors("passage", texts, self._inner.passages)

    def queries(self, texts: Sequence[str]) -> Vectors:
        return self._vectors("query", texts, self._inner.queries)

    def _vectors(self, role: str, texts: Sequence[str], embed: Callable[[Sequence[str]], Vectors]) -> Vectors:
        if not texts:
            return np.zeros((0, self.dim), dtype=np.float32)
        keys = [hashlib.sha256(f"{self.digest} {role} {text}".encode("utf-8", "replace")).digest() for text in texts]
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with closing(sqlite3.connect(self._path, timeout=60)) as file:
            file.execute("CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, vector BLOB NOT NULL)")
            known = _known(file, keys)
            new = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
            missing = list(new)
            for start in range(0, len(missing), STEP):
                some = missing[start : start + STEP]
                fresh = dict(zip(some, embed([new[key] for key in some]), strict=True))
                with file:
                    rows = [(key, vector.tobytes()) for key, vector in fresh.items()]
                    file.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?)", rows)
                known |= fresh
        return np.stack([known[key] for key in keys])


def _known(file: sqlite3.Connection, keys: Sequence[bytes]) -> dict[bytes, Vectors]:
    found: dict[bytes, Vectors] = {}
    for start in range(0, len(keys), _ASKED):
        some = keys[start : start + _ASKED]
        query = f"SELECT key, vector FROM vectors WHERE key IN ({','.join('?' * len(some))})"
        found |= {key: np.frombuffer(vector, dtype=np.float32) for key, vector in file.execute(query, some)}
    return found
