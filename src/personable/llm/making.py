"""From a model's name in the settings to the model."""

from __future__ import annotations

from collections.abc import Callable
from ipaddress import ip_address
from urllib.parse import urlsplit

from personable.errors import UsageError
from personable.llm import providers
from personable.llm.base import LanguageModel
from personable.llm.provider import Limits, Provider, ProviderModel


def make_model(
    name: str,
    *,
    url: str | None = None,
    key: str | None = None,
    timeout: float = 60.0,
    retries: int = 2,
    concurrency: int | None = None,
    context: int = 8192,
    max_tokens: int = 512,
    trusted: bool = False,
) -> LanguageModel:
    """The model that `name` means; nothing is loaded or connected before it is asked.

    `openai:NAME`, `anthropic:NAME`, `ollama:NAME`, `server:NAME` (any OpenAI-compatible server, at `url`),
    `llamacpp:PATH.gguf`, and every other `provider:NAME` that pydantic-ai knows. `key` beats the provider's own
    environment variable. The limits are those of Limits; `concurrency` bounds the calls under way at once (None: 8, and
    1 for a file). `trusted` marks a remote model that may see sensitive statements. Raises ConfigurationError (an
    unknown name, no key, a missing library, no such file).
    """
    kind, _, rest = name.partition(":")
    if not kind.strip() or not rest.strip():
        raise UsageError(f"{name!r} is no model name: write provider:NAME, such as openai:gpt-5-mini, or llamacpp:PATH")
    limits = Limits(timeout=timeout, retries=retries, context=context, max_tokens=max_tokens)
    if kind == "llamacpp":
        from personable.llm.llamacpp import LlamaCppModel

        return LlamaCppModel(rest, limits, parallel=concurrency or 1)
    make = _MAKERS.get(kind, providers.other)
    provider = make(name, rest, url, key)
    remote = not trusted and (not is_loopback(provider.where) or rest.endswith(("-cloud", ":cloud")))
    return ProviderModel(name, provider, limits, concurrency=concurrency or 8, remote=remote)


def is_loopback(address: str) -> bool:
    """True when a URL leads to this machine."""
    host = urlsplit(address).hostname or ""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


_MAKERS: dict[str, Callable[[str, str, str | None, str | None], Provider]] = {
    "openai": providers.openai,
    "server": providers.server,
    "ollama": providers.ollama,
    "anthropic": providers.anthropic,
}
