"""Times the in-memory stores of Haystack and LlamaIndex; started by `search.py` in an environment that has them.

Reads `texts.json` and `vectors.npz` in the folder given, prints one line of JSON: name → seconds of each search.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np


def timed(search: Callable[[int], Any], count: int) -> list[float]:
    search(0)
    seconds = []
    for number in range(count):
        started = time.perf_counter()
        search(number)
        seconds.append(time.perf_counter() - started)
    return seconds


def haystack(cards: list[list[str]], vectors: Any, queries: list[str], asked: Any) -> dict[str, list[float]]:
    from haystack import Document
    from haystack.document_stores.in_memory import InMemoryDocumentStore

    store = InMemoryDocumentStore(embedding_similarity_function="dot_product")
    rows = zip(cards, vectors, strict=True)
    store.write_documents([Document(id=id, content=text, embedding=vector.tolist()) for (id, text), vector in rows])
    some = min(20, len(queries))  # seconds a query: a few are enough
    return {
        "sparse: Haystack, in memory": timed(lambda n: store.bm25_retrieval(queries[n], top_k=10), some),
        "dense: Haystack, in memory": timed(lambda n: store.embedding_retrieval(asked[n].tolist(), top_k=10), some),
    }


def llama_index(cards: list[list[str]], vectors: Any, queries: list[str], asked: Any) -> dict[str, list[float]]:
    from llama_index.core.schema import TextNode
    from llama_index.core.vector_stores import SimpleVectorStore, VectorStoreQuery
    from llama_index.retrievers.bm25 import BM25Retriever

    rows = zip(cards, vectors, strict=True)
    nodes = [TextNode(id_=id, text=text, embedding=vector.tolist()) for (id, text), vector in rows]
    words = BM25Retriever.from_defaults(nodes=nodes, similarity_top_k=10)
    store = SimpleVectorStore()
    store.add(nodes)
    some = min(20, len(queries))
    return {
        "sparse: LlamaIndex (bm25s), in memory": timed(lambda n: words.retrieve(queries[n]), some),
        "dense: LlamaIndex, in memory": timed(
            lambda n: store.query(VectorStoreQuery(query_embedding=asked[n].tolist(), similarity_top_k=10)), some
        ),
    }


def main() -> None:
    folder = Path(sys.argv[1])
    texts = json.loads((folder / "texts.json").read_text(encoding="utf-8"))
    vectors = np.load(folder / "vectors.npz")
    given = (texts["cards"], vectors["cards"], texts["queries"], vectors["queries"])
    print(json.dumps({**haystack(*given), **llama_index(*given)}))


if __name__ == "__main__":
    main()
