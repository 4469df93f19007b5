"""Prompts are data: one Markdown file each, rendered strictly, known by the hash of its text.

A prompt's parts share one budget of tokens: `fit` shortens passages, never the question or the instruction.
"""

from __future__ import annotations

import hashlib
import re
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from personable.errors import ConfigurationError
from personable.text import sentences, tokens

if TYPE_CHECKING:
    from collections.abc import Iterator
    from importlib.resources.abc import Traversable

    from jinja2 import Template
    from jinja2.sandbox import SandboxedEnvironment


@cache
def _environment() -> SandboxedEnvironment:
    from jinja2 import StrictUndefined
    from jinja2.sandbox import SandboxedEnvironment

    environment = SandboxedEnvironment(undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.filters["data"] = data
    return environment


@cache
def source(name: str) -> str:
    """The text of prompt file `name`, such as `answer/draft`. Raises ConfigurationError where there is none."""
    file = files("personable.prompts").joinpath(f"{name}.md")
    if not file.is_file():
        raise ConfigurationError(f"no prompt file {name}.md in personable/prompts")
    return file.read_text(encoding="utf-8")


@cache
def _template(name: str) -> Template:
    return _environment().from_string(source(name))


def prompt_hash(name: str) -> str:
    """The version of a prompt file: the first 12 hex digits of its sha256."""
    return hashlib.sha256(source(name).encode()).hexdigest()[:12]


def render(name: str, **variables: Any) -> str:
    """Prompt `name` with its variables filled in.

    Raises ConfigurationError that names a variable which the file uses and the caller did not give.
    """
    from jinja2 import UndefinedError

    try:
        return _template(name).render(**variables).strip()
    except UndefinedError as error:
        raise ConfigurationError(f"prompt {name}.md: {error.message}") from error


def data(text: str) -> str:
    """`text` made safe to stand between a prompt's tags: it cannot close them or open others."""
    return _tag().sub("‹", text)


@cache
def _tag() -> re.Pattern[str]:
    """The beginning of a tag of any prompt file."""
    names = {name for prompt in _texts(files("personable.prompts")) for name in re.findall(r"</?([a-z]+)", prompt)}
    return re.compile(rf"<(?=\s*/?\s*(?:{'|'.join(sorted(names))})\b)", re.IGNORECASE)


def _texts(folder: Traversable) -> Iterator[str]:
    for part in folder.iterdir():
        if part.is_dir():
            yield from _texts(part)
        elif part.name.endswith(".md"):
            yield part.read_text(encoding="utf-8")


def fit(texts: list[str], limit: int) -> list[str]:
    """`texts` shortened to `limit` tokens in all: the longest first, at sentence ends; each keeps its beginning.

    Where even the first sentences are too long they are cut at word borders.
    """
    sizes = [tokens(text) for text in texts]
    cap = _water_level(sizes, limit)
    return [text if size <= cap else _cut(text, cap) for text, size in zip(texts, sizes, strict=True)]


def _water_level(sizes: list[int], limit: int) -> int:
    """The largest cap for which `sum(min(size, cap)) <= limit`."""
    left = max(limit, 0)
    for count, size in zip(range(len(sizes), 0, -1), sorted(sizes), strict=True):
        if size * count > left:
            return left // count
        left -= size
    return max(sizes, default=0)


def _cut(text: str, cap: int) -> str:
    end = 0
    for sentence in sentences(text):
        if tokens(text[: sentence.end]) > cap:
            break
        end = sentence.end
    if end:
        return text[:end]
    while text and tokens(text) > cap:
        shorter = text[: max(len(text) * cap // max(tokens(text), 1), 0)]
        text = shorter.rsplit(None, 1)[0] if len(shorter.split()) > 1 else shorter[:-1] if shorter == text else shorter
    return text
