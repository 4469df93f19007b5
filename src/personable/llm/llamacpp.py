"""A model file on this machine, run by llama.cpp inside this process (the extra `llamacpp`)."""

from __future__ import annotations

import asyncio
import os
import secrets
import threading
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel

from personable.errors import ConfigurationError, MissingExtraError, ModelRefusedError
from personable.llm.base import Prompt, Reply
from personable.llm.provider import Limits, ProviderModel
from personable.llm.providers import server
from personable.llm.settling import Raw

if TYPE_CHECKING:
    from pydantic_ai.models import Model

T = TypeVar("T", bound=BaseModel)


class LlamaCppModel:
    """Loads the GGUF file at the first call and answers `parallel` calls at a time, each place with a prefix cache.

    llama.cpp's own server listens on a free loopback port, behind a key made for this object. `limits.context` is what
    one call may take in tokens; loading does not count towards the time limit. Raises ConfigurationError when `path` is
    no GGUF file, MissingExtraError without xllamacpp.
    """

    remote = False

    def __init__(self, path: str, limits: Limits, *, threads: int | None = None, parallel: int = 1) -> None:
        self.name = f"llamacpp:{path}"
        self._path, self._limits, self._threads = checked(path), limits, threads or _allowed_cores()
        self.concurrency = parallel
        self._key = secrets.token_urlsafe(24)
        self._server: Any = None
        self._loading = threading.Lock()
        known = server(self.name, self._path.name, "http://127.0.0.1", self._key)
        provider = replace(known, connect=self._connect, where=str(self._path), free=True)
        self._inner = ProviderModel(self.name, provider, limits, concurrency=parallel, remote=False)

    async def write(self, prompt: Prompt, output: type[T] | None = None, max_tokens: int | None = None) -> Reply[T]:
        """See LanguageModel. The grammar of `output` holds while it writes."""
        await asyncio.to_thread(self._load)
        return await self._inner.write(prompt, output, max_tokens)

    async def stream(self, prompt: Prompt, max_tokens: int | None = None) -> AsyncGenerator[str | Raw]:
        """See LanguageModel."""
        await asyncio.to_thread(self._load)
        async with aclosing(self._inner.stream(prompt, max_tokens)) as pieces:
            async for piece in pieces:
                yield piece

    async def close(self) -> None:
        """Stop the server and let go of the memory; a model that is asked again loads again."""
        await self._inner.close()
        await asyncio.to_thread(self._unload)

    def _connect(self) -> Model:
        return server(self.name, self._path.name, f"{self._server.listening_address}/v1", self._key).connect()

    def _load(self) -> None:
        with self._loading:
            if self._server is not None:
                return
            # Threads that spin while they wait starve each other as soon as one other process is busy.
            os.environ.setdefault("OMP_WAIT_POLICY", "passive")
            import xllamacpp

            try:
                self._server = xllamacpp.Server(self._parameters(xllamacpp))
            except RuntimeError as error:
                raise ModelRefusedError(
                    f"llama.cpp cannot load {self._path}: the file is damaged, of an unknown kind, or too large for "
                    f"memory with a context of {self._limits.context} tokens"
                ) from error

    def _unload(self) -> None:
        with self._loading:
            self._server = None

    def _parameters(self, xllamacpp: Any) -> Any:
        wanted = xllamacpp.CommonParams()
        wanted.model.path = str(self._path)
        wanted.n_ctx = self._limits.context * self.concurrency
        wanted.n_parallel = self.concurrency
        wanted.port = 0
        wanted.api_keys = [self._key]
        wanted.cors_origins = ""
        wanted.ui = wanted.endpoint_slots = wanted.warmup = False
        wanted.verbosity = -1
        wanted.cpuparams.n_threads = wanted.cpuparams_batch.n_threads = self._threads
        return wanted


def _allowed_cores() -> int:
    """The cores that this process may use: `taskset` and containers lend fewer than the machine has."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def checked(path: str) -> Path:
    """The file, made absolute. Raises ConfigurationError unless it begins as a GGUF file does."""
    if find_spec("xllamacpp") is None:
        raise MissingExtraError("Models in GGUF files", "llamacpp")
    file = Path(path).expanduser().absolute()
    try:
        with file.open("rb") as opened:
            magic = opened.read(4)
    except OSError as error:
        raise ConfigurationError(f"cannot read the model file {file}: {error.strerror or error}") from error
    if magic != b"GGUF":
        raise ConfigurationError(f"{file} is no GGUF model file (it begins with {magic!r}); llama.cpp reads only GGUF")
    return file
