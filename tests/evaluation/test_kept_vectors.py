from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from pathlib import Path

import pytest

from personable.embed import Embedder, Vectors, make_embedder
from personable.evaluation.kept_vectors import STEP, KeptVectors
from tests.contracts.embedder import EmbedderContract


class Counting:
    """A hashing embedder that says how many texts it was given, and fails after `most`."""

    def __init__(self, most: int = 10**6) -> None:
        self._inner = make_embedder("hash:32")
        self.name, self.dim, self.digest, self.remote = "counting", 32, self._inner.digest, False
        self.given, self._most = 0, most

    def passages(self, texts: Sequence[str]) -> Vectors:
        self.given += len(texts)
        if self.given > self._most:
            raise OSError("stopped")
        return self._inner.passages(texts)

    queries = passages


class TestKept(EmbedderContract):
    @pytest.fixture
    def embedder(self, tmp_path: Path) -> Embedder:
        return KeptVectors(make_embedder("hash:1024"), tmp_path / "vectors.db")


def test_a_text_is_embedded_once_for_each_role(tmp_path: Path) -> None:
    path = tmp_path / "below" / "vectors.db"
    first, again = Counting(), Counting()
    vectors = KeptVectors(first, path).passages(["a cat", "a dog", "a cat"])
    kept = KeptVectors(again, path)
    assert (kept.passages(["a dog", "a cat"]) == vectors[[1, 0]]).all()
    assert (first.given, again.given) == (2, 0)
    kept.queries(["a cat"])
    assert again.given == 1


def test_a_stopped_run_keeps_what_it_had(tmp_path: Path) -> None:
    texts = [f"text {n}" for n in range(3 * STEP)]
    with pytest.raises(OSError, match="stopped"):
        KeptVectors(Counting(most=2 * STEP), tmp_path / "v.db").passages(texts)
    later = Counting()
    assert KeptVectors(later, tmp_path / "v.db").passages(texts).shape == (3 * STEP, 32)
    assert later.given == STEP


def test_the_file_holds_no_text(tmp_path: Path) -> None:
    KeptVectors(Counting(), tmp_path / "v.db").passages(["a very private sentence"])
    assert b"private" not in (tmp_path / "v.db").read_bytes()
    rows = sqlite3.connect(tmp_path / "v.db").execute("SELECT key FROM vectors").fetchall()
    assert [len(key) for (key,) in rows] == [32]
