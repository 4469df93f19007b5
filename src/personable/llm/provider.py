"""Any model that pydantic-ai speaks to, as a LanguageModel: time limit, retries, typed output, streaming, cost."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import aclosing, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn, TypeVar

from pydantic import BaseModel

from personable.errors import ModelError, ModelTimeoutError
from personable.llm import exchange, sending
from personable.llm.base import Prompt, Reply
from personable.llm.failures import connected, explained, hidden, refuses_schema, too_long
from personable.llm.places import Places
from personable.llm.repetition import repetition
from personable.llm.retrying import retried
from personable.llm.settling import Raw, settle, trimmed, worded

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelResponse
    from pydantic_ai.models import Model
    from pydantic_ai.settings import ModelSettings

T = TypeVar("T", bound=BaseModel)

BYTES_A_TOKEN = 8
"""No text of words has more: a prompt longer than the context by this count cannot fit."""


@dataclass(frozen=True)
class Limits:
    """Bounds of one call: `timeout` in seconds with all retries, `context` and `max_tokens` in tokens."""

    timeout: float = 60.0
    retries: int = 2
    context: int = 8192
    max_tokens: int = 512


@dataclass(frozen=True)
class Provider:
    """What is known of a provider.

    `connect` makes pydantic-ai's model, once for each event loop; `where` is the address for error messages; `key` is
    kept only to keep it out of them, `key_from` says where it is set. `temperature` None leaves that to the provider.
    `shows_schema`: it puts a JSON schema before the prompt, where another schema spoils the prefix cache.
    `marks_cache`: it wants to be told what to cache. `priced`: list prices apply. `free`: it costs nothing.
    """

    connect: Callable[[], Model]
    where: str
    key: str | None = None
    key_from: str = "PERSONABLE_MODEL_KEY"
    temperature: float | None = None
    shows_schema: bool = False
    marks_cache: bool = False
    priced: bool = False
    free: bool = False


class ProviderModel:
    """A LanguageModel over a Provider. The model object may be used from one event loop after another."""

    def __init__(self, name: str, provider: Provider, limits: Limits, *, concurrency: int, remote: bool) -> None:
        self.name, self.remote, self.concurrency = name, remote, concurrency
        self._provider, self._limits = provider, limits
        self._places = Places(concurrency)
        self._model: Model | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._takes_schema = True

    async def write(self, prompt: Prompt, output: type[T] | None = None, max_tokens: int | None = None) -> Reply[T]:
        """Ask once; see LanguageModel. Retries, repair and waiting between them count towards the time limit."""
        await self._open()
        async with self._places.one():
            deadline = asyncio.get_running_loop().time() + self._limits.timeout

            async def ask(one: Prompt) -> Raw:
                return await self._ask(one, output, max_tokens, deadline)

            return await settle(ask, prompt, output)

    async def stream(self, prompt: Prompt, max_tokens: int | None = None) -> AsyncGenerator[str | Raw]:
        """Pieces, then the reply; see LanguageModel. Asks again only as long as no piece was given out."""
        await self._open()
        async with self._places.one():
            began, made = time.perf_counter(), 0
            deadline = asyncio.get_running_loop().time() + self._limits.timeout
            self._check_room(prompt, max_tokens)

            async def start() -> tuple[AsyncGenerator[str | Raw], str | Raw]:
                nonlocal made
                made += 1
                pieces = self._pieces(prompt, max_tokens)
                async with asyncio.timeout_at(deadline):
                    return pieces, await anext(pieces)

            try:
                pieces, piece = await retried(start, self._limits.retries, deadline)
                async with aclosing(pieces):
                    while isinstance(piece, str):
                        yield piece
                        async with asyncio.timeout_at(deadline):
                            piece = await anext(pieces)
            except failures() as error:
                self._fail(error, made)
            yield worded(piece.model_copy(update={"calls": made, "seconds": time.perf_counter() - began}))

    async def close(self) -> None:
        """Close the connections; a model that is asked again opens new ones."""
        model, self._model = self._model, None
        if model is not None and self._loop is asyncio.get_running_loop():
            await model.__aexit__(None, None, None)

    async def _ask(
        self, prompt: Prompt, output: type[BaseModel] | None, max_tokens: int | None, deadline: float
    ) -> Raw:
        began = time.perf_counter()
        self._check_room(prompt, max_tokens)

        async def once() -> ModelResponse:
            return await self._request(prompt, output, max_tokens)

        with sending.watched() as sent:
            try:
                async with asyncio.timeout_at(deadline):
                    response = await retried(once, self._limits.retries, deadline)
            except failures() as error:
                self._fail(error, sent.calls)
        raw = exchange.reply(response, self.name, self._price(response))
        return raw.model_copy(update={"calls": sent.calls, "seconds": time.perf_counter() - began})

    async def _request(self, prompt: Prompt, output: type[BaseModel] | None, max_tokens: int | None) -> ModelResponse:
        """One request. A server that does not know JSON schemas is asked again without one, then and always."""
        from pydantic_ai.direct import model_request
        from pydantic_ai.exceptions import ModelRequestRejectedError

        model = await self._open()
        ask_for = self._form(model, prompt)
        shown = None if ask_for == "schema" and self._provider.shows_schema else output
        sent = exchange.messages(prompt, shown, cached=self._provider.marks_cache)
        try:
            with self._noted() as request:
                response = await model_request(
                    model,
                    sent,
                    model_settings=self._settings(max_tokens),
                    model_request_parameters=exchange.parameters(output, ask_for),
                )
                request.answered(exchange.used(response))
                return response
        except ModelRequestRejectedError as error:
            if output is None or ask_for == "text" or not refuses_schema(error):
                raise
            self._takes_schema = False
        return await self._request(prompt, output, max_tokens)

    def _form(self, model: Model, prompt: Prompt) -> exchange.Form:
        """By schema where that is possible and does not keep calls with one `shared` from sharing their cache."""
        if not self._takes_schema:
            return "text"
        spoils = self._provider.shows_schema and bool(prompt.shared)
        return "schema" if model.profile.get("supports_json_schema_output", False) and not spoils else "object"

    async def _pieces(self, prompt: Prompt, max_tokens: int | None) -> AsyncGenerator[str | Raw]:
        """Text as it comes, then the reply. Stops the request when the model goes round in circles."""
        from pydantic_ai.direct import model_request_stream

        model = await self._open()
        sent = exchange.messages(prompt, None, cached=self._provider.marks_cache)
        text = ""
        with self._noted() as request:
            async with model_request_stream(model, sent, model_settings=self._settings(max_tokens)) as stream:
                async for event in stream:
                    request.answered()
                    piece = exchange.piece(event)
                    if not piece:
                        continue
                    text += piece
                    yield piece
                    if repetition(text) is not None:
                        yield trimmed(exchange.estimated(text, prompt, self.name))
                        return
                response = exchange.ended(stream.get())
                request.answered(exchange.used(response))
                yield trimmed(exchange.reply(response, self.name, self._price(response)))

    @contextmanager
    def _noted(self) -> Iterator[sending.Request]:
        from pydantic_ai.exceptions import ModelHTTPError

        request = sending.note(self.name, self.remote)
        try:
            yield request
        except failures() as error:
            if not connected(error):
                request.unconnected()
            elif isinstance(error, ModelHTTPError):
                request.answered()
            raise

    async def _open(self) -> Model:
        loop = asyncio.get_running_loop()
        if self._model is None or self._loop is not loop:
            self._model, self._loop = self._provider.connect(), loop
            await self._model.__aenter__()
        return self._model

    def _settings(self, max_tokens: int | None) -> ModelSettings:
        from pydantic_ai.settings import ModelSettings

        settings = ModelSettings(
            max_tokens=max_tokens or self._limits.max_tokens, timeout=self._limits.timeout, max_retries=0
        )
        if self._provider.temperature is not None:
            settings["temperature"] = self._provider.temperature
        return settings

    def _price(self, response: ModelResponse) -> float | None:
        return exchange.cost(response) if self._provider.priced else 0.0 if self._provider.free else None

    def _check_room(self, prompt: Prompt, max_tokens: int | None) -> None:
        size = len((prompt.system + prompt.shared + prompt.task).encode("utf-8", "replace"))
        least = size // BYTES_A_TOKEN + (max_tokens or self._limits.max_tokens)
        if least > self._limits.context:
            said = f"with its answer it takes at least {least} tokens, model_context is {self._limits.context}"
            raise too_long(self.name, said)

    def _fail(self, error: Exception, made: int) -> NoReturn:
        where, limit = self._provider.where, self._limits.timeout
        if isinstance(error, TimeoutError):
            raised: ModelError = ModelTimeoutError(
                f"model {self.name!r} at {where} did not answer within {limit:g} s; raise model_timeout or ask for less"
            )
        else:
            raised = explained(error, self.name, where, self._provider.key_from)
        raised.calls = made
        raise hidden(raised, self._provider.key) from error


def failures() -> tuple[type[Exception], ...]:
    """What a request may raise."""
    from httpx2 import HTTPError
    from pydantic_ai.exceptions import AgentRunError

    return (AgentRunError, HTTPError, TimeoutError)
