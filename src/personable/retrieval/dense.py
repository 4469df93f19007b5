"""Meanings: inner products with unit vectors in half precision (faiss), in one file that readers map into memory."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from personable.embed import Vectors
from personable.errors import DataError
from personable.retrieval.sparse import Ranked, ranked

EXACT_UP_TO = 200_000
"""Vectors up to which every one is compared: about 20 ms at 384 dimensions, the bandwidth of memory."""

NPROBE = 16
_NARROW = 20_000
"""Up to so many allowed rows a filtered search of clusters visits all of them, which makes it exact."""


class DenseIndex:
    """Cosine similarity of unit vectors under row ids: exact up to `exact_up_to` vectors, beyond that in clusters
    (inverted file, Jégou et al. 2011, §IV) trained on the collection's own vectors.

    What is open is never changed: `update` writes a new file beside the old one, renames it and opens that, so searches
    in other threads and processes go on undisturbed. Raises DataError if the file is damaged.
    """

    def __init__(self, folder: Path, dim: int, exact_up_to: int = EXACT_UP_TO) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._path = folder / "vectors.faiss"
        self._dim = dim
        self._exact_up_to = exact_up_to
        self._index: Any = None
        self.reload()

    def __len__(self) -> int:
        return 0 if self._index is None else int(self._index.ntotal)

    def rows(self) -> NDArray[np.int64]:
        """All row ids, ascending."""
        return np.sort(_ids(self._index)) if self._index is not None else np.empty(0, dtype=np.int64)

    def vectors(self, rows: Sequence[int]) -> Vectors:
        """The vectors of `rows`, shape (len(rows), dim), as stored in half precision. Raises KeyError for others."""
        found, vectors = _all(self._index)
        place = dict(zip(found.tolist(), range(len(found)), strict=True))
        return vectors[[place[row] for row in rows]]

    def update(self, rows: NDArray[np.int64], vectors: Vectors, gone: NDArray[np.int64]) -> None:
        """Remove the rows `gone`, add `vectors` (shape (len(rows), dim)) under the new `rows`; durable on return."""
        if vectors.shape != (len(rows), self._dim):
            raise DataError(f"vectors of shape {vectors.shape} do not fit {len(rows)} rows of {self._dim} dimensions")
        index = self._read(memory_mapped=False) or self._exact()
        if len(gone):
            index.remove_ids(np.asarray(gone, dtype=np.int64))
        if len(rows):
            index = self._fitting(index, int(index.ntotal) + len(rows), vectors)
            index.add_with_ids(np.ascontiguousarray(vectors, dtype=np.float32), np.asarray(rows, dtype=np.int64))
        self._write(index)
        self.reload()

    def reload(self) -> None:
        """See the latest file, also of another process."""
        self._index = self._read(memory_mapped=True)

    def search(self, vector: NDArray[np.float32], k: int, rows: NDArray[np.int64] | None = None) -> Ranked:
        """The `k` most similar rows to one unit vector of shape (dim,), only among `rows` if given."""
        import faiss

        index: Any = self._index
        if index is None or not index.ntotal or k < 1 or (rows is not None and not len(rows)):
            return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.float32)
        chosen: dict[str, Any] = {}
        if rows is not None:
            chosen["sel"] = _selector(rows)
        clustered = isinstance(index, faiss.IndexIVF)
        if clustered:
            chosen["nprobe"] = _nprobe(index, rows)
        parameters = (faiss.SearchParametersIVF if clustered else faiss.SearchParameters)(**chosen)
        limit = min(k, int(index.ntotal))
        scores, found = index.search(np.ascontiguousarray(vector[None], dtype=np.float32), limit, params=parameters)
        real = found[0] >= 0
        return ranked(found[0][real], scores[0][real], k)

    def _exact(self) -> Any:
        import faiss

        kind = faiss.ScalarQuantizer.QT_fp16
        return faiss.IndexIDMap(faiss.IndexScalarQuantizer(self._dim, kind, faiss.METRIC_INNER_PRODUCT))

    def _fitting(self, index: Any, total: int, new: Vectors) -> Any:
        """The index itself, or its vectors in clusters once they are many, or four times as many as when clustered."""
        import faiss

        wanted = 2 ** round(math.log2(2 * math.sqrt(total)))
        clustered = isinstance(index, faiss.IndexIVF)
        if total <= self._exact_up_to or (clustered and wanted < 2 * index.nlist):
            return index
        rows, vectors = _all(index)
        kind = faiss.ScalarQuantizer.QT_fp16
        larger = faiss.IndexIVFScalarQuantizer(
            faiss.IndexFlatIP(self._dim), self._dim, wanted, kind, faiss.METRIC_INNER_PRODUCT
        )
        sample = np.concatenate([vectors, new])
        picked = np.random.default_rng(0).permutation(len(sample))[: 64 * wanted]
        larger.train(sample[picked])
        larger.add_with_ids(vectors, rows)
        return larger

    def _read(self, memory_mapped: bool) -> Any:
        if not self._path.exists():
            return None
        import faiss

        try:
            index = faiss.read_index(str(self._path), faiss.IO_FLAG_MMAP_IFC if memory_mapped else 0)
        except RuntimeError as error:
            raise DataError(f"{self._path} cannot be read ({error}); delete it and index again to mend it") from error
        if index.d != self._dim:
            raise DataError(f"{self._path} holds vectors of {index.d} dimensions, expected {self._dim}; index again")
        return index

    def _write(self, index: Any) -> None:
        import faiss

        new = self._path.with_suffix(".new")
        faiss.write_index(index, str(new))
        with new.open("rb") as written:
            os.fsync(written.fileno())
        new.replace(self._path)


def _selector(rows: NDArray[np.int64]) -> Any:
    import faiss

    allowed = np.zeros(int(rows.max()) + 1, dtype=bool)
    allowed[rows] = True
    make: Any = faiss.IDSelectorBitmap  # its stub has the C++ arguments
    return make(np.packbits(allowed, bitorder="little"))


def _nprobe(index: Any, rows: NDArray[np.int64] | None) -> int:
    """Clusters to visit: all for a narrow filter, more the more rows a broad one hides."""
    lists = int(index.nlist)
    if rows is None:
        return min(NPROBE, lists)
    if len(rows) <= _NARROW:
        return lists
    return min(lists, math.ceil(NPROBE * int(index.ntotal) / len(rows)))


def _ids(index: Any) -> NDArray[np.int64]:
    import faiss

    if not isinstance(index, faiss.IndexIVF):
        return faiss.vector_to_array(index.id_map).astype(np.int64)
    lists: Any = index.invlists
    held = [
        faiss.rev_swig_ptr(lists.get_ids(number), lists.list_size(number)).copy()
        for number in range(index.nlist)
        if lists.list_size(number)
    ]
    return np.concatenate(held).astype(np.int64) if held else np.empty(0, dtype=np.int64)


def _all(index: Any) -> tuple[NDArray[np.int64], Vectors]:
    """Every row id and its vector."""
    import faiss

    module: Any = faiss
    if not isinstance(index, faiss.IndexIVF):
        return _ids(index), faiss.downcast_index(index.index).reconstruct_n(0, int(index.ntotal))
    rows = _ids(index)
    index.set_direct_map_type(module.DirectMap.Hashtable)
    return rows, index.reconstruct_batch(rows)
