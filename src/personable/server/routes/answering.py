"""The four pipelines: answer, converse, recommend and certify."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request, Response

from personable.board import Board
from personable.pipelines.answer import answer
from personable.pipelines.converse import converse
from personable.pipelines.recommend import recommend
from personable.server.access import AnyCaller, Caller, TheEngine
from personable.server.engine import Engine
from personable.server.problems import ProblemError, documented
from personable.server.requests import AskBody, CertifyBody, ConverseBody, Conversed, RecommendBody
from personable.server.streaming import attended, streamed
from personable.types import Answer, CertifiedAnswer, Question, Recommendations

router = APIRouter(prefix="/v1", tags=["pipelines"])

_EVENT = {
    "type": "object",
    "description": "An event; `data` is JSON: a post, a text, or at the end a `result` or a `problem`.",
    "properties": {"event": {"enum": ["post", "text", "final"]}, "data": {"type": "string"}, "id": {"type": "string"}},
    "required": ["event", "data"],
}
_EVENTS: dict[str, Any] = {
    "description": "The result; with `stream`, server-sent events `post`, `text` and one `final`.",
    "content": {"text/event-stream": {"schema": _EVENT}},
}
RESPONSES = {200: _EVENTS, **documented(404, 409, 502, 504)}


@router.post("/answer", response_model=Answer, responses=RESPONSES)
async def post_answer(body: AskBody, who: AnyCaller, engine: TheEngine, request: Request) -> Answer | Response:
    """Answer a question for a person from a collection, with citations."""
    question, board = asked(body, who), Board()
    kit = await engine.kit(body.collection)
    work = answer(kit, question, board=board, keep=body.keep, strict=body.strict)
    return streamed(board, work) if body.stream else await attended(request, work)


@router.post("/converse", response_model=Conversed, responses=RESPONSES)
async def post_converse(
    body: ConverseBody, who: AnyCaller, engine: TheEngine, request: Request
) -> Conversed | Response:
    """Respond to an utterance, which is understood with the turns before it."""
    question, board = asked(body, who), Board()
    await engine.kit(body.collection)  # what is wrong with the collection is told before a stream begins
    work = conversed(engine, question, body, board)
    return streamed(board, work) if body.stream else await attended(request, work)


@router.post("/recommend", response_model=Recommendations, responses=RESPONSES)
async def post_recommend(
    body: RecommendBody, who: AnyCaller, engine: TheEngine, request: Request
) -> Recommendations | Response:
    """Recommend items of a catalogue, with reasons that name what the person did or said."""
    wish, board = body.wish(who.speaks_for(body.person)), Board()
    check_session(wish.person, wish.session)
    kit, shop = await engine.shop(body.collection)
    work = recommend(kit, shop, wish, wanted=body.wanted, board=board, keep=body.keep)
    return streamed(board, work) if body.stream else await attended(request, work)


@router.post("/certify", response_model=CertifiedAnswer, responses=RESPONSES)
async def post_certify(
    body: CertifyBody, who: AnyCaller, engine: TheEngine, request: Request
) -> CertifiedAnswer | Response:
    """Answer with certified text alone, each sentence with its source."""
    question, board = asked(body, who), Board()
    work = engine.certify(question, body.collection, body.method, board=board, keep=body.keep, strict=body.strict)
    return streamed(board, work) if body.stream else await attended(request, work)


async def conversed(engine: Engine, question: Question, body: ConverseBody, board: Board) -> Conversed:
    """Respond, in a new session of the person where they named none. Raises what `converse` raises."""
    try:
        kit = await engine.kit(body.collection)
        if question.person is not None:
            session = await engine.people.open_session(question.person, question.session)
            question = question.model_copy(update={"session": session})
    except BaseException:
        board.close()
        raise
    turns = None if question.person is not None else (body.turns or [])
    result = await converse(kit, question, turns=turns, board=board, keep=body.keep, strict=body.strict)
    return Conversed(answer=result, session=question.session)


def asked(body: AskBody, who: Caller) -> Question:
    """The question, for the person that the key allows. Raises ProblemError."""
    person = who.speaks_for(body.person)
    check_session(person, body.session)
    if not body.question.strip():
        raise ProblemError(400, "the question is empty")
    return body.asked(person)


def check_session(person: str | None, session: str | None) -> None:
    """Raises ProblemError for a session of nobody."""
    if session is not None and person is None:
        raise ProblemError(400, "a session belongs to a person: say whose it is")
