"""The OpenAI chat interface: each pipeline over each collection that it fits is a model, `answer/notes`.

Existing chat clients work unchanged: the address with `/v1` as their base URL, a key as theirs. The person is the
key's; a builder's key names one as `user`. The last message of the user is what is asked; `converse` understands it
with the messages before, which the client sends and no stored session adds to. Messages of the system are never
followed.
"""

from __future__ import annotations

import json
import time
from collections.abc import AsyncGenerator, Awaitable, Coroutine
from contextlib import aclosing
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.sse import KEEPALIVE_COMMENT, EventSourceResponse, format_sse_event

from personable.board import Board, Text
from personable.errors import ConfigurationError, DataError
from personable.pipelines.answer import answer
from personable.pipelines.converse import converse
from personable.pipelines.knowing import LONGEST_QUESTION
from personable.pipelines.recommend import LONGEST_QUERY, recommend
from personable.retrieval.corpus import Kind
from personable.server.access import AnyCaller, TheEngine
from personable.server.engine import Engine
from personable.server.openai_forms import (
    ChatBody,
    Choice,
    Completion,
    ModelCard,
    ModelList,
    OpenAIError,
    Said,
    Usage,
)
from personable.server.problems import TITLES, ProblemError, openai_error_of
from personable.server.requests import LONGEST
from personable.server.streaming import HEADERS, Ended, attended, followed
from personable.types import Answer, CertifiedAnswer, Question, Recommendations, Recommended, Tokens, Value, Wish

PIPELINES: dict[Kind, tuple[str, ...]] = {
    "documents": ("answer", "converse"),
    "items": ("recommend",),
    "certified": ("certify",),
}
NOTHING_FITS = "Nothing in the catalogue fits."
_STREAM: dict[str, Any] = {
    "description": "The reply; with `stream`, its chunks as server-sent events and `[DONE]`.",
    "content": {"text/event-stream": {"schema": {"type": "object", "properties": {"data": {"type": "string"}}}}},
}


def _documented(*statuses: int) -> dict[int | str, dict[str, Any]]:
    usual = (400, 401, 403, 404, 413, 429, 503)
    return {one: {"description": TITLES[one], "model": OpenAIError} for one in sorted({*usual, *statuses})}


router = APIRouter(prefix="/v1", tags=["OpenAI-compatible"])


class Reply(Value):
    """What a pipeline gave: all of its text, what it cost, and what else there is to know of it."""

    text: str
    tokens: Tokens
    about: dict[str, Any]


@router.get("/models", responses=_documented())
async def list_models(_: AnyCaller, engine: TheEngine) -> ModelList:
    """Every pipeline over every collection that it fits. A collection that cannot be opened has none."""
    found: list[ModelCard] = []
    for collection in engine.collections():
        try:
            kind = await engine.kind(collection)
        except (DataError, ConfigurationError):
            continue
        found += [ModelCard(id=f"{pipeline}/{collection}") for pipeline in PIPELINES[kind]]
    return ModelList(data=found)


@router.get("/models/{model:path}", responses=_documented(409))
async def get_model(model: str, _: AnyCaller, engine: TheEngine) -> ModelCard:
    """One of the models."""
    await _chosen(engine, model)
    return ModelCard(id=model)


@router.post("/chat/completions", response_model=Completion, responses={200: _STREAM, **_documented(409, 502, 504)})
async def post_chat(body: ChatBody, who: AnyCaller, engine: TheEngine, request: Request) -> Completion | Response:
    """Reply to the last message of the user."""
    if (unmet := body.unmet()) is not None:
        raise ProblemError(400, unmet[1], where=f"body.{unmet[0]}")
    board = Board()
    work = await _work(engine, body, who.speaks_for(body.user or None), board)
    if body.stream:
        return EventSourceResponse(_chunks(body, board, work), headers=HEADERS)
    reply = await attended(request, work)
    said = Said(content=reply.text, personable=reply.about)
    return Completion(**_head(body, board), choices=[Choice(message=said)], usage=Usage.of(reply.tokens))


async def _chosen(engine: Engine, model: str) -> tuple[str, str]:
    """The pipeline and the collection of a model. Raises ProblemError."""
    pipeline, _, collection = model.partition("/")
    if collection not in engine.collections() or pipeline not in PIPELINES[await engine.kind(collection)]:
        raise ProblemError(404, f"no model {model[:100]!r}; GET /v1/models lists them", where="body.model")
    return pipeline, collection


async def _work(engine: Engine, body: ChatBody, person: str | None, board: Board) -> Coroutine[Any, Any, Reply]:
    """What will give the reply. What is wrong with the request is raised here, before a stream begins."""
    pipeline, collection = await _chosen(engine, body.model)
    if person is not None:
        await engine.people.get(person)
    text, turns = body.said()
    if not text.strip():
        raise ProblemError(400, "there is no message of the user, or it is empty", where="body.messages")
    longest = {"certify": LONGEST, "recommend": LONGEST_QUERY}.get(pipeline, LONGEST_QUESTION)
    if len(text) > longest:
        raise ProblemError(400, f"a message may have {longest:,} characters", where="body.messages")
    keep = body.store is not False
    if pipeline == "recommend":
        kit, shop = await engine.shop(collection)
        return _listed(recommend(kit, shop, Wish(person=person, query=text), board=board, keep=keep))
    question = Question(text=text, person=person)
    if pipeline == "certify":
        return _certified(engine.certify(question, collection, "default", board=board, keep=keep, strict=False))
    kit = await engine.kit(collection)
    if pipeline == "converse":
        return _answered(converse(kit, question, turns=turns, board=board, keep=keep))
    return _answered(answer(kit, question, board=board, keep=keep))


async def _answered(work: Awaitable[Answer]) -> Reply:
    found = await work
    return Reply(text=found.text, tokens=found.tokens, about=_about(found))


async def _certified(work: Awaitable[CertifiedAnswer]) -> Reply:
    found = await work
    about = {**_about(found.answer), "certification": found.certification.model_dump(mode="json")}
    return Reply(text=found.answer.text, tokens=found.answer.tokens, about=about)


def _about(found: Answer) -> dict[str, Any]:
    fields = {"id", "found", "citations", "used", "ask", "suggestions", "degraded"}
    return found.model_dump(mode="json", include=fields)


async def _listed(work: Awaitable[Recommendations]) -> Reply:
    found = await work
    about = found.model_dump(mode="json", include={"id", "items", "cold", "degraded"})
    return Reply(text="\n".join(map(_line, found.items)) or NOTHING_FITS, tokens=found.tokens, about=about)


def _line(item: Recommended) -> str:
    price = "" if item.price is None else f" ({item.price:.2f})"
    reasons = "; ".join(reason.text for reason in item.reasons)
    return f"{item.place}. {item.title}{price}{f': {reasons}' if reasons else ''}"


def _head(body: ChatBody, board: Board) -> dict[str, Any]:
    return {"id": f"chatcmpl-{board.id}", "created": int(time.time()), "model": body.model}


async def _chunks(body: ChatBody, board: Board, work: Coroutine[Any, Any, Reply]) -> AsyncGenerator[bytes]:
    """The reply as it comes. Text comes before the chunk with the finish reason, which many clients read no text of."""
    usage = body.stream_options is not None and body.stream_options.include_usage
    head = _head(body, board) | {"object": "chat.completion.chunk"} | ({"usage": None} if usage else {})
    yield _chunk(head, {"role": "assistant", "content": ""})
    said = False
    async with aclosing(followed(board, work)) as story:
        async for event in story:
            match event:
                case None:
                    yield KEEPALIVE_COMMENT
                case Text(text=text):
                    said = True
                    yield _chunk(head, {"content": text})
                case Ended(reply, None):
                    if not said:  # a list of items is not said piece by piece
                        yield _chunk(head, {"content": reply.text})
                    yield _chunk(head | {"personable": reply.about}, {}, "stop")
                    if usage:
                        yield _data(head | {"choices": [], "usage": Usage.of(reply.tokens).model_dump()})
                case Ended(_, problem) if problem is not None:
                    yield _data(openai_error_of(problem)[1])
    yield format_sse_event(data_str="[DONE]")


def _chunk(head: dict[str, Any], delta: dict[str, str], finish: str | None = None) -> bytes:
    return _data(head | {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})


def _data(value: dict[str, Any]) -> bytes:
    return format_sse_event(data_str=json.dumps(value))
