"""A model that says what it was told to say: for tests, demonstrations and measuring everything but the model."""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from typing import Any, TypeVar

from pydantic import BaseModel

from personable.errors import ModelError, ModelTimeoutError
from personable.llm import sending
from personable.llm.base import Prompt, Reply
from personable.llm.places import Places
from personable.llm.settling import settle, trimmed, worded
from personable.text import tokens
from personable.types import Tokens

T = TypeVar("T", bound=BaseModel)

Line = str | BaseModel | Mapping[str, Any] | ModelError
"""One scripted answer: text as a model would write it, a value (sent as its JSON), or an error to raise."""

Script = Line | Sequence[Line] | Mapping[str, Line | Sequence[Line]] | Callable[[Prompt, type[BaseModel] | None], Line]


class ScriptedModel:
    """Answers from `script`, through the same repair as a real model; `prompts` holds every prompt it was given.

    `script` is one line for every call; or a list, one line a call; or a dict of these by the agent's name, by the
    name of the output type, or "" for the rest; or a function of prompt and output type. `delay` is in seconds.
    """

    def __init__(
        self,
        script: Script,
        *,
        name: str = "scripted",
        delay: float = 0.0,
        timeout: float = 60.0,
        concurrency: int = 8,
        remote: bool = False,
    ) -> None:
        self.name, self.remote, self.concurrency = name, remote, concurrency
        self.prompts: list[Prompt] = []
        self.closed = False
        self._script, self._delay, self._timeout = script, delay, timeout
        self._given: dict[str, int] = {}
        self._places = Places(concurrency)

    async def write(self, prompt: Prompt, output: type[T] | None = None, max_tokens: int | None = None) -> Reply[T]:
        """The next line, after `delay`. Raises ModelTimeoutError when the delay is longer than the time limit."""

        async def ask(one: Prompt) -> Reply[BaseModel]:
            return await self._answer(one, output, max_tokens)

        async with self._places.one():
            return await settle(ask, prompt, output)

    async def stream(self, prompt: Prompt, max_tokens: int | None = None) -> AsyncGenerator[str | Reply[BaseModel]]:
        """The next line word by word, then its reply."""
        async with self._places.one():
            reply = worded(trimmed(await self._answer(prompt, None, max_tokens)))
        for word in re.findall(r"\S+\s*|\s+", reply.text):
            yield word
        yield reply

    async def close(self) -> None:
        self.closed = True

    async def _answer(self, prompt: Prompt, output: type[BaseModel] | None, limit: int | None) -> Reply[BaseModel]:
        began = time.perf_counter()
        self.prompts.append(prompt)
        request = sending.note(self.name, self.remote)
        line = self._line(prompt, output)
        await asyncio.sleep(min(self._delay, self._timeout))
        if self._delay > self._timeout:
            raise ModelTimeoutError(f"model {self.name!r} did not answer within {self._timeout:g} s")
        if isinstance(line, ModelError):
            if not isinstance(line, ModelTimeoutError):
                request.answered()
            raise line
        text = _text(line)
        kept = text if limit is None else text[: 4 * limit]
        used = Tokens(prompt=tokens(prompt.system + prompt.shared + prompt.task), completion=tokens(kept))
        seconds = time.perf_counter() - began
        request.answered(used)
        cut = "length" if len(kept) < len(text) else ""
        return Reply[BaseModel](text=kept, model=self.name, tokens=used, seconds=seconds, cost=0.0, cut=cut)

    def _line(self, prompt: Prompt, output: type[BaseModel] | None) -> Line:
        script = self._script
        if callable(script):
            return script(prompt, output)
        key = ""
        if isinstance(script, Mapping):
            names = [prompt.agent, output.__name__ if output else "", ""]
            found = [name for name in names if name in script]
            if not found:
                known = ", ".join(map(repr, script)) or "nothing"
                raise ModelError(f"the script has no line for {prompt.agent or output!r}; it has {known}")
            key, script = found[0], script[found[0]]
        if isinstance(script, str | BaseModel | Mapping | ModelError):
            return script
        at = self._given[key] = self._given.get(key, -1) + 1
        if at >= len(script):
            raise ModelError(f"the script for {key or self.name!r} has {len(script)} lines, and all were said")
        return script[at]


def _text(line: str | BaseModel | Mapping[str, Any]) -> str:
    if isinstance(line, str):
        return line
    return line.model_dump_json() if isinstance(line, BaseModel) else json.dumps(line, ensure_ascii=False)
