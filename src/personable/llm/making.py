"""From a model's name in the settings to the model."""

from __future__ import annotations

import os
from collections.abc import Callable
from ipaddress import ip_address
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from personable.errors import ConfigurationError, UsageError
from personable.llm.base import LanguageModel
from personable.llm.provider import Limits, Provider, ProviderModel

if TYPE_CHECKING:
    from pydantic_ai.models import Model

OPENAI = "https://api.openai.com/v1"
ANTHROPIC = "https://api.anthropic.com"
OLLAMA = "http://127.0.0.1:11434/v1"
KEY_SETTING = "PERSONABLE_MODEL_KEY"


def make_model(
    name: str,
    *,
    url: str | None = None,
    key: str | None = None,
    timeout: float = 60.0,
    retries: int = 2,
    concurrency: int = 8,
    context: int = 8192,
    max_tokens: int = 512,
    trusted: bool = False,
) -> LanguageModel:
    """The model that `name` means; nothing is loaded or connected before it is asked.

    `openai:NAME`, `anthropic:NAME`, `ollama:NAME`, `server:NAME` (any OpenAI-compatible server, at `url`),
    `llamacpp:PATH.gguf`, and every other `provider:NAME` that pydantic-ai knows. `key` beats the provider's own
    environment variable. The limits are those of Limits. `trusted` marks a remote model that may see sensitive
    statements. Raises ConfigurationError (an unknown name, no key, a missing library, no such file).
    """
    kind, _, rest = name.partition(":")
    if not rest.strip():
        raise UsageError(f"{name!r} is no model name: write provider:NAME, such as openai:gpt-5-mini, or llamacpp:PATH")
    limits = Limits(timeout=timeout, retries=retries, context=context, max_tokens=max_tokens)
    if kind == "llamacpp":
        from personable.llm.llamacpp import LlamaCppModel

        return LlamaCppModel(rest, limits)
    make = _MAKERS.get(kind, _any)
    provider = make(name, rest, url, key)
    remote = not trusted and (not is_loopback(provider.where) or rest.endswith(("-cloud", ":cloud")))
    return ProviderModel(name, provider, limits, concurrency=concurrency, remote=remote)


def is_loopback(address: str) -> bool:
    """True when a URL leads to this machine."""
    host = urlsplit(address).hostname or ""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _openai(name: str, model: str, url: str | None, key: str | None) -> Provider:
    if url is not None:  # OPENAI_API_KEY belongs to OpenAI and is not sent elsewhere
        return _server(name, model, url, key)
    base = os.environ.get("OPENAI_BASE_URL") or OPENAI
    found = _needed(key, "OPENAI_API_KEY", name)

    def connect() -> Model:
        from pydantic_ai.models.openai import OpenAIChatModel
        from pydantic_ai.providers.openai import OpenAIProvider

        return OpenAIChatModel(model, provider=OpenAIProvider(base_url=base, api_key=found))

    return Provider(
        connect, base, key=found, key_from=_from("OPENAI_API_KEY"), shows_schema=True, priced=base == OPENAI
    )


def _server(name: str, model: str, url: str | None, key: str | None) -> Provider:
    if url is None:
        raise ConfigurationError(f"model {name!r} needs the address of its server: set PERSONABLE_MODEL_URL")
    base = _checked(url)

    def connect() -> Model:
        from pydantic_ai.models.openai import OpenAIChatModel
        from pydantic_ai.profiles.openai import OpenAIModelProfile
        from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

        profile = OpenAIModelProfile(openai_chat_supports_max_completion_tokens=False)
        provider = OpenAICompatibleProvider("server", base_url=base, api_key=key, profile=profile)
        return OpenAIChatModel(model, provider=provider)

    return Provider(connect, base, key=key, temperature=0.0)


def _ollama(name: str, model: str, url: str | None, key: str | None) -> Provider:
    base = _checked(url or os.environ.get("OLLAMA_BASE_URL") or OLLAMA)
    found = key or os.environ.get("OLLAMA_API_KEY")

    def connect() -> Model:
        from pydantic_ai.models.ollama import OllamaModel
        from pydantic_ai.providers.ollama import OllamaProvider

        return OllamaModel(model, provider=OllamaProvider(base_url=base, api_key=found))

    return Provider(connect, base, key=found, key_from=_from("OLLAMA_API_KEY"), temperature=0.0)


def _anthropic(name: str, model: str, url: str | None, key: str | None) -> Provider:
    base = _checked(url or os.environ.get("ANTHROPIC_BASE_URL") or ANTHROPIC)
    found = _needed(key, "ANTHROPIC_API_KEY", name)
    _import(name, "anthropic", "pydantic_ai.models.anthropic")

    def connect() -> Model:
        from pydantic_ai.models.anthropic import AnthropicModel
        from pydantic_ai.providers.anthropic import AnthropicProvider

        return AnthropicModel(model, provider=AnthropicProvider(base_url=base, api_key=found))

    return Provider(
        connect,
        base,
        key=found,
        key_from=_from("ANTHROPIC_API_KEY"),
        shows_schema=True,
        marks_cache=True,
        priced=base == ANTHROPIC,
    )


def _any(name: str, model: str, url: str | None, key: str | None) -> Provider:
    """A provider that only pydantic-ai knows: its key comes from its own variable, its address is its own."""
    from pydantic_ai.exceptions import UserError
    from pydantic_ai.models import infer_model

    if url or key:
        raise ConfigurationError(
            f"model {name!r} takes no model_url or model_key; use server:{model} for a server of yours"
        )
    try:
        infer_model(name)
    except ImportError as error:
        raise ConfigurationError(f"model {name!r} needs a library: {error}") from error
    except (UserError, ValueError) as error:
        raise ConfigurationError(f"model {name!r}: {error}") from error
    return Provider(
        lambda: infer_model(name), name.partition(":")[0], key_from="the provider's own variable", priced=True
    )


_MAKERS: dict[str, Callable[[str, str, str | None, str | None], Provider]] = {
    "openai": _openai,
    "server": _server,
    "ollama": _ollama,
    "anthropic": _anthropic,
}


def _needed(key: str | None, variable: str, name: str) -> str:
    found = key or os.environ.get(variable)
    if not found:
        raise ConfigurationError(f"model {name!r} needs a key: set {variable} or {KEY_SETTING}")
    return found


def _from(variable: str) -> str:
    return f"{variable} or {KEY_SETTING}"


def _checked(url: str) -> str:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ConfigurationError(f"{url!r} is no address of a model server; write it as http://127.0.0.1:8000/v1")
    return url.rstrip("/")


def _import(name: str, library: str, module: str) -> None:
    from importlib import import_module

    try:
        import_module(module)
    except ImportError as error:
        raise ConfigurationError(
            f"model {name!r} needs a library that is not installed: pip install {library}"
        ) from error
