"""Models that record what another one answers, and that answer from such a recording without any model."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from pathlib import Path
from typing import TypeVar, cast

from pydantic import BaseModel, ValidationError

from personable.errors import ModelError, ModelOutputError
from personable.llm.base import LanguageModel, Prompt, Reply
from personable.llm.settling import Raw
from personable.llm.tape import Parameters, Record, Request, Tape, request
from personable.types import Tokens

T = TypeVar("T", bound=BaseModel)


class RecordingModel:
    """Answers from the recording at `path` where it can, else asks `model` and records the answer.

    So an evaluation that was stopped goes on without asking twice. `parameters` are whatever else the answers depend
    on (a temperature, a seed). Output errors are recorded too, passing failures are not. One process writes a file.
    """

    def __init__(self, model: LanguageModel, path: Path, parameters: Parameters | None = None) -> None:
        self.name, self.remote, self.concurrency = model.name, model.remote, model.concurrency
        self._model, self._tape, self._parameters = model, Tape(path, writable=True), parameters or {}

    async def write(self, prompt: Prompt, output: type[T] | None = None, max_tokens: int | None = None) -> Reply[T]:
        """See LanguageModel."""
        wanted = request(self.name, prompt, output, max_tokens, self._parameters)
        record = self._tape.records.get(wanted.key())
        if record is None:
            try:
                reply = await self._model.write(prompt, output, max_tokens)
            except ModelOutputError as error:
                record = _failure(wanted, error)
            else:
                record = _success(wanted, reply, None)
            record = self._tape.add(record)
        return _replayed(record, output)

    async def stream(self, prompt: Prompt, max_tokens: int | None = None) -> AsyncGenerator[str | Raw]:
        """See LanguageModel. An answer that is not heard to its end is not recorded."""
        wanted = request(self.name, prompt, None, max_tokens, self._parameters)
        record = self._tape.records.get(wanted.key())
        if record is not None:
            for piece in _pieces(record):
                yield piece
            return
        pieces: list[str] = []
        try:
            async with aclosing(self._model.stream(prompt, max_tokens)) as answer:
                async for piece in answer:
                    if isinstance(piece, str):
                        pieces.append(piece)
                    else:
                        self._tape.add(_success(wanted, piece, pieces))
                    yield piece
        except ModelOutputError as error:
            self._tape.add(_failure(wanted, error))
            raise

    async def close(self) -> None:
        await self._model.close()


class RecordedModel:
    """Answers from the recording at `path`, bit for bit, without any model. `name` is that of the recorded model.

    Raises DataError when there is no recording there; a request that was not recorded is a ModelError.
    """

    remote = False

    def __init__(self, path: Path, name: str, parameters: Parameters | None = None, *, concurrency: int = 8) -> None:
        self.name, self.concurrency = name, concurrency
        self._tape, self._parameters = Tape(path, writable=False), parameters or {}

    async def write(self, prompt: Prompt, output: type[T] | None = None, max_tokens: int | None = None) -> Reply[T]:
        """See LanguageModel."""
        return _replayed(self._tape.find(request(self.name, prompt, output, max_tokens, self._parameters)), output)

    async def stream(self, prompt: Prompt, max_tokens: int | None = None) -> AsyncGenerator[str | Raw]:
        """See LanguageModel. The pieces are those of the recorded stream, one piece where it was not streamed."""
        for piece in _pieces(self._tape.find(request(self.name, prompt, None, max_tokens, self._parameters))):
            yield piece

    async def close(self) -> None:
        """Nothing to let go of."""


def _success(wanted: Request, reply: Reply[T], pieces: list[str] | None) -> Record:
    value = None if reply.value is None else reply.value.model_dump(mode="json")
    plain = cast(Raw, reply.model_copy(update={"value": None}))
    return Record(key=wanted.key(), request=wanted, reply=plain, value=value, pieces=pieces)


def _failure(wanted: Request, error: ModelOutputError) -> Record:
    return Record(
        key=wanted.key(),
        request=wanted,
        error=str(error),
        calls=error.calls,
        tokens=error.tokens or Tokens(),
        cost=error.cost,
    )


def _reply(record: Record) -> Raw:
    if record.reply is not None:
        return record.reply
    error = ModelOutputError(record.error or "recorded without an answer")
    error.calls, error.tokens, error.cost = record.calls, record.tokens, record.cost
    raise error


def _replayed(record: Record, output: type[T] | None) -> Reply[T]:
    reply = _reply(record)
    try:
        value = None if output is None else output.model_validate(record.value)
    except ValidationError as error:
        raise ModelError(f"recorded answer {record.key[:16]}… is no {record.request.output[:60]}: {error}") from error
    return cast(Reply[T], reply.model_copy(update={"value": value}))


def _pieces(record: Record) -> list[str | Raw]:
    reply = _reply(record)
    return [*([reply.text] if record.pieces is None else record.pieces), reply]
