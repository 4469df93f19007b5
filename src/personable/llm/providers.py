"""What is known of each provider: how to connect, where its key comes from, what it can do."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from personable.errors import ConfigurationError
from personable.llm.provider import Provider

if TYPE_CHECKING:
    from pydantic_ai.models import Model

OPENAI = "https://api.openai.com/v1"
ANTHROPIC = "https://api.anthropic.com"
OLLAMA = "http://127.0.0.1:11434/v1"
KEY_SETTING = "PERSONABLE_MODEL_KEY"


def openai(name: str, model: str, url: str | None, key: str | None) -> Provider:
    if url is not None:  # OPENAI_API_KEY belongs to OpenAI and is not sent elsewhere
        return server(name, model, url, key)
    base = os.environ.get("OPENAI_BASE_URL") or OPENAI
    found = _needed(key, "OPENAI_API_KEY", name)

    def connect() -> Model:
        from pydantic_ai.models.openai import OpenAIChatModel
        from pydantic_ai.providers.openai import OpenAIProvider

        return OpenAIChatModel(model, provider=OpenAIProvider(base_url=base, api_key=found))

    return Provider(
        connect, base, key=found, key_from=_from("OPENAI_API_KEY"), shows_schema=True, priced=base == OPENAI
    )


def server(name: str, model: str, url: str | None, key: str | None) -> Provider:
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


def ollama(name: str, model: str, url: str | None, key: str | None) -> Provider:
    base = _checked(url or os.environ.get("OLLAMA_BASE_URL") or OLLAMA)
    found = key or os.environ.get("OLLAMA_API_KEY")

    def connect() -> Model:
        from pydantic_ai.models.ollama import OllamaModel
        from pydantic_ai.providers.ollama import OllamaProvider

        return OllamaModel(model, provider=OllamaProvider(base_url=base, api_key=found))

    return Provider(connect, base, key=found, key_from=_from("OLLAMA_API_KEY"), temperature=0.0)


def anthropic(name: str, model: str, url: str | None, key: str | None) -> Provider:
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


def other(name: str, model: str, url: str | None, key: str | None) -> Provider:
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
