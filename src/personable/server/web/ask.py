"""Ask: a conversation with its citations, what each answer looked at, and what it heard."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Coroutine
from contextlib import aclosing, suppress
from typing import Annotated, Any

from fastapi import APIRouter, Form, Query, Request, Response
from fastapi.sse import KEEPALIVE_COMMENT, EventSourceResponse, format_sse_event

from personable.board import Board, Text
from personable.errors import NotFoundError
from personable.pipelines.converse import converse
from personable.pipelines.feedback import Kind, feedback
from personable.pipelines.knowing import LONGEST_QUESTION
from personable.server.access import TheEngine
from personable.server.engine import Engine
from personable.server.requests import ConverseBody
from personable.server.routes.answering import asked, conversed
from personable.server.streaming import HEADERS, Ended, attended, followed
from personable.server.web import telling
from personable.server.web.exchanges import Exchange, earlier, exchange, heard_on
from personable.server.web.frame import PageRoute, after, is_fragment, link, page, render
from personable.server.web.passages import opened
from personable.server.web.shelves import chosen, shelves
from personable.server.web.visitor import Somebody, TheVisitor, Visitor
from personable.types import Answer, PastTurn

router = APIRouter(route_class=PageRoute, include_in_schema=False)
In = Annotated[str, Query(alias="in", max_length=200)]
Name = Annotated[str, Form(max_length=200)]
Work = Coroutine[Any, Any, tuple[Exchange, str]]
GONE = "this passage is not there any more: its document was deleted or changed since"


@router.get("/ask")
async def ask_page(
    request: Request, visitor: TheVisitor, engine: TheEngine, collection: In = "", session: str = "", question: str = ""
) -> Response:
    """A conversation, from its last turns on."""
    return await _page(request, visitor, engine, collection, session, question=question)


@router.post("/ask")
async def ask(
    request: Request,
    visitor: TheVisitor,
    engine: TheEngine,
    question: Annotated[str, Form(max_length=LONGEST_QUESTION)] = "",
    next: Annotated[str, Form(max_length=LONGEST_QUESTION)] = "",
    collection: Annotated[str, Form(alias="in", max_length=200)] = "",
    session: Name = "",
    compare: bool = Form(False),
) -> Response:
    """Answer: as a stream for the page's script, else as a whole page."""
    person = visitor.person.id if visitor.person else None
    body = ConverseBody(
        question=next or question or " ",
        person=person,
        session=session or None if person else None,
        collection=collection or None,
    )
    asked(body, visitor.who)
    await engine.kit(body.collection)  # what is wrong with the collection is told before a stream begins
    board = Board()
    work = _answered(engine, visitor, body, board, compare)
    if "text/event-stream" in request.headers.get("accept", ""):
        return EventSourceResponse(_story(visitor, board, work), headers=HEADERS)
    shown, session = await attended(request, work)
    before = await earlier(engine.people, person, session, collection) if person else []
    return await _page(request, visitor, engine, collection, session, turns=[*before[:-1], shown])


@router.api_route("/passage", methods=["GET", "POST"])
async def passage(
    request: Request,
    visitor: TheVisitor,
    engine: TheEngine,
    id: str,
    collection: In,
    start: int = 0,
    end: int = 0,
    answer: str = "",
    number: int = 0,
) -> Response:
    """A passage with the quoted words marked. Posted, it counts as a click on the answer's citation."""
    kit = await engine.kit(collection)
    try:
        shown = await asyncio.to_thread(opened, kit, id, start, end)
    except NotFoundError as error:
        raise NotFoundError(GONE) from error
    if request.method == "POST" and answer and visitor.person is not None:
        with suppress(NotFoundError):  # the answer was forgotten since; its sources may still be read
            await feedback(engine.base, answer, visitor.person.id, "click", passage=number)
    name = "_passage.html" if is_fragment(request) else "passage.html"
    return page(request, name, shown=shown, collection=collection)


@router.post("/ask/answers/{answer}/feedback")
async def judge(
    request: Request,
    person: Somebody,
    engine: TheEngine,
    answer: str,
    kind: Annotated[Kind, Form()],
    value: Annotated[float | None, Form()] = None,
) -> Response:
    """Take a thumb or a rating of an answer."""
    outcome = await feedback(engine.base, answer, person.id, kind, value=value)
    return after(
        request, "/ask", lambda: page(request, "_thanks.html", why=outcome.why, learnt=outcome.change is not None)
    )


async def _answered(
    engine: Engine, visitor: Visitor, body: ConverseBody, board: Board, compare: bool
) -> tuple[Exchange, str]:
    plain = asyncio.create_task(_plain(engine, visitor, body)) if compare else None
    try:
        done = await conversed(engine, asked(body, visitor.who), body, board)
        other = await plain if plain else None
    finally:
        if plain is not None:
            plain.cancel()
    person = visitor.person
    heard = await heard_on(engine.people, person.id, board) if person else []
    return exchange(done.answer, board, body.collection or "", heard=heard, plain=other), done.session or ""


async def _plain(engine: Engine, visitor: Visitor, body: ConverseBody) -> Answer:
    question = asked(body, visitor.who).model_copy(update={"dial": "off"})
    turns: list[PastTurn] | None = None if question.person else []
    return await converse(await engine.kit(body.collection), question, turns=turns, keep=False)


async def _story(visitor: Visitor, board: Board, work: Work) -> AsyncGenerator[bytes]:
    """The stream: steps in words, sentences, and at last the answer as it stays on the page."""
    async with aclosing(followed(board, work)) as story:
        async for event in story:
            if event is None:
                yield KEEPALIVE_COMMENT
            elif isinstance(event, Ended):
                yield _event("final", _final(visitor, event))
            elif isinstance(event, Text):
                yield _event("text", event.text)
            elif sentence := telling.told(event):
                yield _event("step", sentence)


def _final(visitor: Visitor, ended: Ended) -> dict[str, str]:
    if ended.problem is not None:
        return {"html": render("_error.html", problem=ended.problem), "session": ""}
    shown, session = ended.result
    return {"html": render("_exchange.html", turn=shown, visitor=visitor, csrf=visitor.who.csrf), "session": session}


def _event(name: str, value: str | dict[str, str]) -> bytes:
    return format_sse_event(event=name, data_str=json.dumps(value))


async def _page(
    request: Request,
    visitor: Visitor,
    engine: Engine,
    collection: str,
    session: str,
    *,
    turns: list[Exchange] | None = None,
    question: str = "",
) -> Response:
    there = await shelves(engine, "documents", "certified")
    collection = chosen(there, collection)
    person = visitor.person
    if turns is None:
        turns = await earlier(engine.people, person.id, session, collection) if person and session else []
    last = await _last_session(engine, person.id) if person and not session else None
    again = link("/ask", **{"in": collection, "session": last[0]}) if last else ""
    return page(
        request,
        "ask.html",
        shelves=there,
        collection=collection,
        session=session,
        turns=turns,
        question=question,
        again=again,
        again_about=last[1] if last else "",
    )


async def _last_session(engine: Engine, person: str) -> tuple[str, str] | None:
    """The session of what the person asked last, and the question."""
    asked = [one for one in await engine.people.events(person) if one.kind == "query" and one.session]
    return (asked[-1].session or "", asked[-1].text) if asked else None
