from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from personable.errors import DataError
from personable.retrieval import dense
from personable.retrieval.dense import DenseIndex

DIM = 16
NONE = np.empty(0, dtype=np.int64)


def unit_vectors(count: int, seed: int = 0) -> NDArray[np.float32]:
    vectors = np.random.default_rng(seed).standard_normal((count, DIM)).astype(np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def rows(count: int, first: int = 1) -> NDArray[np.int64]:
    return np.arange(first, first + count, dtype=np.int64)


def clustered(folder: Path, count: int = 3000) -> DenseIndex:
    index = DenseIndex(folder, DIM, exact_up_to=1000)
    index.update(rows(count), unit_vectors(count), NONE)
    return index


def test_the_best_are_those_of_the_full_product(tmp_path: Path) -> None:
    index, vectors = DenseIndex(tmp_path, DIM), unit_vectors(300)
    index.update(rows(300), vectors, NONE)
    query = unit_vectors(1, seed=1)[0]
    exact = vectors @ query
    found, scores = index.search(query, 10)
    assert found.tolist() == (np.argsort(-exact)[:10] + 1).tolist()
    np.testing.assert_allclose(scores, np.sort(exact)[::-1][:10], atol=2e-3)  # half precision


def test_an_empty_index_finds_nothing(tmp_path: Path) -> None:
    index = DenseIndex(tmp_path, DIM)
    assert index.search(unit_vectors(1)[0], 5)[0].tolist() == []
    assert len(index) == 0
    assert index.rows().tolist() == []


def test_add_remove_and_reopen(tmp_path: Path) -> None:
    index, vectors = DenseIndex(tmp_path, DIM), unit_vectors(10)
    index.update(rows(5), vectors[:5], NONE)
    index.update(rows(5, first=6), vectors[5:], np.array([1, 3, 99]))
    again = DenseIndex(tmp_path, DIM)
    assert again.rows().tolist() == [2, 4, 5, 6, 7, 8, 9, 10]
    assert all(again.search(vectors[row - 1], 1)[0][0] == row for row in again.rows())


def test_a_filter_is_exact(tmp_path: Path) -> None:
    index, vectors = DenseIndex(tmp_path, DIM), unit_vectors(300)
    index.update(rows(300), vectors, NONE)
    query, allowed = unit_vectors(1, seed=1)[0], np.array([7, 50, 51, 299])
    found, _ = index.search(query, 3, allowed)
    assert found.tolist() == allowed[np.argsort(-(vectors[allowed - 1] @ query))][:3].tolist()
    assert index.search(query, 3, NONE)[0].tolist() == []
    assert index.search(query, 3, np.array([100_000]))[0].tolist() == []


def test_ties_are_in_the_order_of_rows(tmp_path: Path) -> None:
    index = DenseIndex(tmp_path, DIM)
    index.update(rows(6), np.repeat(unit_vectors(1), 6, axis=0), NONE)
    assert index.search(unit_vectors(1)[0], 4)[0].tolist() == [1, 2, 3, 4]


def test_an_open_index_keeps_its_view_until_it_is_reloaded(tmp_path: Path) -> None:
    writer, vectors = DenseIndex(tmp_path, DIM), unit_vectors(2)
    writer.update(rows(1), vectors[:1], NONE)
    reader = DenseIndex(tmp_path, DIM)
    writer.update(rows(1, first=2), vectors[1:], np.array([1]))
    assert reader.search(vectors[1], 5)[0].tolist() == [1]
    reader.reload()
    assert reader.search(vectors[1], 5)[0].tolist() == [2]


def test_many_vectors_go_into_clusters_and_are_still_found(tmp_path: Path) -> None:
    index, vectors = clustered(tmp_path), unit_vectors(3000)
    found = [index.search(vectors[n], 1)[0][0] for n in range(0, 3000, 100)]
    assert np.mean([row == n + 1 for row, n in zip(found, range(0, 3000, 100), strict=True)]) == 1.0
    assert index.rows().tolist() == list(range(1, 3001))
    truth = [set((np.argsort(-(vectors @ query))[:10] + 1).tolist()) for query in unit_vectors(50, seed=2)]
    ours = [set(index.search(query, 10)[0].tolist()) for query in unit_vectors(50, seed=2)]
    assert np.mean([len(a & b) / 10 for a, b in zip(truth, ours, strict=True)]) > 0.6  # random vectors, the worst case


def test_clusters_take_additions_and_deletions_and_grow(tmp_path: Path) -> None:
    index = clustered(tmp_path)
    index.update(rows(100, first=5000), unit_vectors(100, seed=3), rows(10))
    assert len(index) == 3090
    before = index._index.nlist
    index.update(rows(12_000, first=6000), unit_vectors(12_000, seed=4), NONE)
    assert index._index.nlist == 2 * before
    again = DenseIndex(tmp_path, DIM)
    assert len(again) == 15_090
    assert again.search(unit_vectors(100, seed=3)[7], 1)[0].tolist() == [5007]


def test_a_narrow_filter_on_clusters_is_exact_and_a_broad_one_looks_further(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index, vectors = clustered(tmp_path), unit_vectors(3000)
    allowed = rows(3000)[::7]
    for query in unit_vectors(20, seed=5):
        truth = allowed[np.argsort(-(vectors[allowed - 1] @ query), kind="stable")][:10]
        assert set(index.search(query, 10, allowed)[0].tolist()) == set(truth.tolist())
    monkeypatch.setattr(dense, "_NARROW", 0)
    monkeypatch.setattr(dense, "NPROBE", 4)
    assert dense._nprobe(index._index, allowed) == 28
    assert dense._nprobe(index._index, None) == 4


def test_wrong_shapes_and_dimensions_are_refused(tmp_path: Path) -> None:
    index = DenseIndex(tmp_path, DIM)
    with pytest.raises(DataError, match="do not fit 2 rows of 16 dimensions"):
        index.update(rows(2), unit_vectors(3), NONE)
    index.update(rows(1), unit_vectors(1), NONE)
    with pytest.raises(DataError, match="holds vectors of 16 dimensions, expected 8"):
        DenseIndex(tmp_path, 8)


def test_a_damaged_file_is_a_clear_error(tmp_path: Path) -> None:
    DenseIndex(tmp_path, DIM).update(rows(5), unit_vectors(5), NONE)
    (tmp_path / "vectors.faiss").write_bytes(b"IxMp broken")
    with pytest.raises(DataError, match="cannot be read"):
        DenseIndex(tmp_path, DIM)
