"""fastembed's models (an extra): downloaded by fastembed at their first use."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from personable.embed.base import Vectors
from personable.embed.packaged import unit, usual_threads
from personable.errors import ConfigurationError, MissingExtraError


class FastEmbed:
    """The model that fastembed calls `model`, with the prefixes that fastembed knows for queries and passages.

    Raises MissingExtraError without fastembed, ConfigurationError for a model that it does not know.
    """

    remote = False

    def __init__(self, model: str, threads: int | None = None) -> None:
        self.name = f"fastembed:{model}"
        self.digest = self.name
        self._model_name = model
        self._threads = usual_threads(threads)

    @cached_property
    def dim(self) -> int:
        known = {entry["model"].casefold(): entry for entry in self._class.list_supported_models()}
        entry = known.get(self._model_name.casefold())
        if entry is None:
            raise ConfigurationError(f"fastembed has no model {self._model_name!r}; it has: {', '.join(sorted(known))}")
        return int(entry["dim"])

    def passages(self, texts: Sequence[str]) -> Vectors:
        return self._stack(self._model.passage_embed(list(texts)))

    def queries(self, texts: Sequence[str]) -> Vectors:
        return self._stack(self._model.query_embed(list(texts)))

    def _stack(self, vectors: Any) -> Vectors:
        rows = list(vectors)
        return unit(np.stack(rows).astype(np.float32)) if rows else np.empty((0, self.dim), dtype=np.float32)

    @cached_property
    def _class(self) -> Any:
        try:
            from fastembed import TextEmbedding
        except ImportError as error:
            raise MissingExtraError("fastembed's embeddings", "fastembed") from error
        return TextEmbedding

    @cached_property
    def _model(self) -> Any:
        assert self.dim  # refuses an unknown model before anything is downloaded
        return self._class(self._model_name, threads=self._threads)
