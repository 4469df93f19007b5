"""Latency of a search for 10 cards: ours, the bare libraries, and peers.

    python benchmarks/search.py --data ../shared/data [--work FOLDER] [--peers PYTHON]

One thread, one query at a time, the LiveQA messages as written and paraphrased. Dense rows get the same ready MiniLM
vectors of cards and queries; embedding a query has its own row. `--peers` is the interpreter of an environment of
haystack-ai, llama-index-core and llama-index-retrievers-bm25, whose in-memory stores `search_peers.py` then times.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from cards import built_store, read_cards, read_messages
from indexing import native_sparse
from personable.embed import Embedder, make_embedder
from personable.retrieval.base import Retriever
from personable.retrieval.hybrid import DenseRetriever, HybridRetriever, SparseRetriever
from personable.retrieval.store import PassageStore
from personable.types import Passage

ROUNDS = 5


class Ready:
    """The embedder of a store with the vectors of the benchmark's queries ready."""

    remote = False

    def __init__(self, embedder: Embedder, texts: list[str], vectors: NDArray[np.float32]) -> None:
        self.name, self.dim, self.digest = embedder.name, embedder.dim, embedder.digest
        self._known = dict(zip(texts, vectors, strict=True))

    def passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        raise NotImplementedError("nothing is indexed here")

    def queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.stack([self._known[text] for text in texts])


def line(name: str, seconds: list[float]) -> None:
    p50, p95 = np.percentile(np.array(seconds) * 1000, [50, 95])
    print(f"{name:44s}{p50:9.2f}{p95:9.2f}", flush=True)


def timed(name: str, search: Callable[[int], object], count: int) -> None:
    """Time `search(number of query)`, after one round to warm up."""
    for number in range(count):
        search(number)
    seconds = []
    for _ in range(ROUNDS):
        for number in range(count):
            started = time.perf_counter()
            search(number)
            seconds.append(time.perf_counter() - started)
    line(name, seconds)


def ours(name: str, retriever: Retriever, queries: list[str]) -> None:
    with asyncio.Runner() as runner:
        timed(name, lambda number: runner.run(retriever.search(queries[number], 10)), len(queries))


def bare_tantivy(folder: Path, cards: list[Passage], queries: list[str]) -> None:
    import tantivy

    native_sparse(folder, cards)
    index = tantivy.Index.open(str(folder))
    index.reload()

    def search(number: int) -> list[object]:
        words = "".join(char if char.isalnum() else " " for char in queries[number]).lower()
        asked = index.parse_query(words, ["title", "text"], field_boosts={"title": 2.0})
        searcher = index.searcher()
        return [searcher.doc(at)["stored"] for _, at in searcher.search(asked, 10, count=False).hits]

    timed("sparse: tantivy, en_stem, stored passages", search, len(queries))


def bare_faiss(vectors: NDArray[np.float32], queries: NDArray[np.float32]) -> None:
    import faiss

    index = faiss.IndexFlatIP(vectors.shape[1])
    index.add(vectors)
    timed("dense: faiss IndexFlatIP, row numbers only", lambda n: index.search(queries[n : n + 1], 10), len(queries))


def stored_vectors(store: PassageStore) -> NDArray[np.float32]:
    """The vectors of the store in the order of its rows."""
    from personable.retrieval import dense

    assert store.dense is not None
    return dense._all(store.dense._index)[1]


def peers(python: Path, folder: Path, cards: list[Passage], vectors: object, queries: list[str], asked: object) -> None:
    np.savez(folder / "vectors.npz", cards=np.asarray(vectors), queries=np.asarray(asked))
    given = {"cards": [[card.id, f"{card.title}\n{card.text}"] for card in cards], "queries": queries}
    (folder / "texts.json").write_text(json.dumps(given), encoding="utf-8")
    script = Path(__file__).with_name("search_peers.py")
    printed = subprocess.run([python, script, folder], check=True, capture_output=True, text=True).stdout
    for name, seconds in json.loads(printed.splitlines()[-1]).items():
        line(name, seconds)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--work", type=Path, help="keeps the collection")
    parser.add_argument(
        "--questions", action="store_true", help="only the cards' questions, which embed in a minute or two"
    )
    parser.add_argument("--limit", type=int, help="only the first cards, to try the script")
    parser.add_argument("--peers", type=Path)
    given = parser.parse_args()
    import faiss

    faiss.omp_set_num_threads(1)
    cards = read_cards(given.data, given.limit)
    if given.questions:
        cards = [Passage(id=card.id, text=card.title) for card in cards]
    queries = [text for message in read_messages(given.data) for text in (message.message, message.paraphrase)]
    embedder = make_embedder("minilm", threads=1)
    with tempfile.TemporaryDirectory() as temporary:
        folder = (given.work or Path(temporary)) / ("card-questions" if given.questions else "question-+-answer")
        with built_store(folder, cards, embedder) as store:
            asked = embedder.queries(queries)
            ready = Ready(embedder, queries, asked)
            vectors = stored_vectors(store)
            print(f"{len(store)} cards, {len(queries)} queries, k = 10{'':17s}p50 ms   p95 ms")
            timed("embedding a query, MiniLM", lambda number: embedder.queries([queries[number]]), len(queries))
            ours("sparse: ours, persistent", SparseRetriever(store), queries)
            bare_tantivy(Path(temporary) / "tantivy", cards, queries)
            ours("dense: ours, persistent", DenseRetriever(store, ready), queries)
            bare_faiss(vectors, asked)
            ours("hybrid: ours, persistent", HybridRetriever(store, ready), queries)
            if given.peers:
                peers(given.peers, Path(temporary), cards, vectors, queries, asked)


if __name__ == "__main__":
    main()
