"""Embeddings from any server that speaks OpenAI's `POST /embeddings`."""

from __future__ import annotations

import random
import time
from collections.abc import Sequence
from email.utils import parsedate_to_datetime
from functools import cached_property
from typing import Any
from urllib.parse import urlsplit

import numpy as np

from personable.embed.base import Vectors
from personable.embed.packaged import encodable, unit
from personable.errors import ConfigurationError, ModelError, ModelOutputError, ModelRefusedError, ModelTimeoutError

BATCH = 64
_LOCAL = ("localhost", "127.0.0.1", "::1")
_AGAIN = (408, 409, 429, 500, 502, 503, 504)
_LONGEST_WAIT = 60.0


class EndpointEmbedder:
    """The model that the server at `url` (such as `http://localhost:8080/v1`) calls `model`.

    A busy or failing server is asked again up to `retries` times, after what its Retry-After says or a growing wait.
    Raises ModelTimeoutError, ModelRefusedError (wrong key, unknown model: not tried again), ModelOutputError (no
    vectors, too few, of changing length, not numbers), ModelError for the rest; ConfigurationError for a bad address.
    """

    def __init__(
        self,
        model: str,
        url: str,
        key: str | None = None,
        *,
        timeout: float = 60.0,
        retries: int = 5,
        trusted: bool = False,
    ) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ConfigurationError(f"embedder_url {url!r} is not an address such as http://localhost:8080/v1")
        self.name = f"endpoint:{model}"
        self.digest = f"{model} at {parts.hostname}"
        self.remote = not trusted and parts.hostname not in _LOCAL
        self._model = model
        self._url = url.rstrip("/") + "/embeddings"
        self._headers = {"Authorization": f"Bearer {key}"} if key else {}
        self._timeout = timeout
        self._retries = retries

    @cached_property
    def dim(self) -> int:
        """Asks the server, at its first use."""
        return int(self._ask(["dimension"]).shape[1])

    def passages(self, texts: Sequence[str]) -> Vectors:
        batches = [self._ask(list(texts[start : start + BATCH])) for start in range(0, len(texts), BATCH)]
        out = np.concatenate(batches) if batches else np.empty((0, self.dim), dtype=np.float32)
        if out.shape[1] != self.dim:
            raise ModelOutputError(
                f"{self._what()} changed the length of its vectors to {out.shape[1]} from {self.dim}"
            )
        return out

    def queries(self, texts: Sequence[str]) -> Vectors:
        return self.passages(texts)

    def _ask(self, texts: list[str]) -> Vectors:
        """One request, retried; shape (len(texts), whatever the server says)."""
        # Some servers refuse an empty input; a space means as little.
        body = {"model": self._model, "input": [encodable(text) or " " for text in texts], "encoding_format": "float"}
        for attempt in range(self._retries + 1):
            try:
                return self._vectors(self._post(body), len(texts))
            except _BusyError as busy:
                if attempt == self._retries:
                    raise busy.error from busy
                wait = busy.wait if busy.wait is not None else 0.5 * 2**attempt * random.uniform(0.75, 1.25)
                time.sleep(min(_LONGEST_WAIT, wait))
        raise AssertionError("the loop returns or raises")

    def _post(self, body: dict[str, Any]) -> Any:
        """The decoded answer. Raises _BusyError where asking again may help."""
        import httpx2

        try:
            answer = self._client.post(self._url, json=body, headers=self._headers)
        except httpx2.TimeoutException as error:
            raise _BusyError(
                ModelTimeoutError(
                    f"{self._what()} did not answer within {self._timeout:g} s: try later, or a longer time"
                )
            ) from error
        except httpx2.TransportError as error:
            raise _BusyError(
                ModelError(f"{self._what()} cannot be reached ({error}): is it running, is embedder_url right?")
            ) from error
        if answer.status_code in _AGAIN:
            failed = ModelError(f"{self._what()} is busy or failing (HTTP {answer.status_code}): {answer.text[:200]}")
            raise _BusyError(failed, _seconds(answer.headers.get("retry-after")))
        if answer.status_code >= 400:
            raise ModelRefusedError(
                f"{self._what()} refused (HTTP {answer.status_code}): {answer.text[:200]}; check the key and the model"
            )
        try:
            return answer.json()
        except ValueError as error:
            raise ModelOutputError(
                f"{self._what()} answered with something that is not JSON: {answer.text[:80]!r}"
            ) from error

    def _vectors(self, answer: Any, count: int) -> Vectors:
        try:
            rows = sorted(answer["data"], key=lambda row: row["index"])
            out = np.array([row["embedding"] for row in rows], dtype=np.float32)
            numbers = [row["index"] for row in rows]
        except (KeyError, TypeError, ValueError) as error:
            raise ModelOutputError(f"{self._what()} answered without usable embeddings ({error!r})") from error
        if numbers != list(range(count)) or out.ndim != 2 or not out.shape[1]:
            raise ModelOutputError(f"{self._what()} answered with {len(rows)} embeddings for {count} texts")
        if not np.isfinite(out).all() or not out.any(axis=1).all():
            raise ModelOutputError(f"{self._what()} answered with embeddings that are zero or not numbers")
        return unit(out)

    @cached_property
    def _client(self) -> Any:
        import httpx2

        return httpx2.Client(timeout=self._timeout)

    def _what(self) -> str:
        return f"the embedding server at {self._url} (model {self._model!r})"


class _BusyError(Exception):
    """A failure that may pass; `wait` is what the server asked for, in seconds."""

    def __init__(self, error: ModelError, wait: float | None = None) -> None:
        super().__init__(str(error))
        self.error = error
        self.wait = wait


def _seconds(retry_after: str | None) -> float | None:
    """Retry-After as seconds from now: it is a number or a date (RFC 9110, §10.2.3)."""
    if retry_after is None:
        return None
    try:
        return max(0.0, float(retry_after))
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(retry_after).timestamp() - time.time())
    except ValueError:
        return None
