"""Certified: answers backed by certified text alone, with their sources in full, and the seven ratings."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import APIRouter, Form, Query, Request, Response

from personable.board import Board
from personable.evaluation.ratings import QUESTIONS, Rating, Scores, certified_board, keep_rating
from personable.server.access import CSRF_FIELD, TheEngine
from personable.server.engine import Engine
from personable.server.requests import LONGEST, CertifyBody
from personable.server.routes.answering import asked
from personable.server.streaming import attended
from personable.server.web import telling
from personable.server.web.exchanges import Piece, pieces
from personable.server.web.frame import SHOWN_FOR, PageRoute, after, is_fragment, page
from personable.server.web.passages import Opened, opened
from personable.server.web.shelves import chosen, shelves
from personable.server.web.visitor import AnyVisitor, TheVisitor, is_meant
from personable.types import Answer, Certificate, CertifiedAnswer

router = APIRouter(prefix="/certified", route_class=PageRoute, include_in_schema=False)


class Rated(Scores):
    """The rating form: the scores, the login's token, and for whom it was shown."""

    csrf: str = ""
    shown_for: str = ""


@dataclass(frozen=True)
class Source:
    """A certified text that stands behind an answer, and who stands behind the text."""

    certificate: Certificate
    shown: Opened


@dataclass(frozen=True)
class Reply:
    """A certified answer as it is shown: `pieces` is its text without the emergency text and the framing."""

    result: CertifiedAnswer
    pieces: list[Piece]
    sources: list[Source]
    timeline: list[str]
    kept: bool


@router.get("")
async def certified_page(
    request: Request, _: TheVisitor, engine: TheEngine, collection: Annotated[str, Query(alias="in")] = ""
) -> Response:
    """The certified collections, and a question."""
    there = await shelves(engine, "certified")
    return page(
        request, "certified.html", shelves=there, collection=chosen(there, collection), reply=None, asks=QUESTIONS
    )


@router.post("")
async def certify(
    request: Request,
    visitor: AnyVisitor,
    engine: TheEngine,
    collection: Annotated[str, Form(alias="in", max_length=200)],
    question: Annotated[str, Form(max_length=LONGEST)] = "",
) -> Response:
    """Answer out of certified text: for nobody where the form was shown for somebody else; it may be an emergency."""
    person = visitor.person.id if visitor.person and await is_meant(request, visitor) else None
    body = CertifyBody(question=question or " ", person=person, collection=collection)
    board = Board()
    work = engine.certify(
        asked(body, visitor.who), collection, body.method, board=board, keep=body.keep, strict=body.strict
    )
    result = await attended(request, work)
    reply = Reply(
        result,
        pieces(_bare(result), collection, kept=False),
        await _sources(engine, collection, result),
        telling.timeline(board),
        kept=bool(result.certification.sources),
    )
    shown: dict[str, Any] = {"collection": collection, "reply": reply, "asks": QUESTIONS}
    if is_fragment(request):
        return page(request, "_certified.html", **shown)
    return page(request, "certified.html", shelves=await shelves(engine, "certified"), **shown)


@router.post("/answers/{answer}/rating")
async def rate(
    request: Request,
    visitor: TheVisitor,
    engine: TheEngine,
    answer: str,
    rated: Annotated[Rated, Form()],
) -> Response:
    """Keep a person's seven ratings of a certified answer that they were given."""
    scores = Scores.model_validate(rated.model_dump(exclude={CSRF_FIELD, SHOWN_FOR}))
    kept = await engine.people.answer(answer, visitor.person.id if visitor.person else None)
    method = certified_board(kept.board, answer).certification.method
    await asyncio.to_thread(
        keep_rating, engine.settings.home, Rating(answer=answer, method=method, rater="person", scores=scores)
    )
    return after(request, "/certified", lambda: page(request, "_thanks.html", learnt=""))


def _bare(result: CertifiedAnswer) -> Answer:
    text = result.answer.text
    for before in (result.certification.emergency, result.certification.framing):
        text = text.removeprefix(before).lstrip()
    return result.answer.model_copy(update={"text": text})


async def _sources(engine: Engine, collection: str, result: CertifiedAnswer) -> list[Source]:
    if not result.certification.sources:
        return []
    kit, cards = await engine.cards(collection)
    cited = {one.number: one for one in result.answer.citations}

    def look() -> list[Source]:
        found = []
        for one in result.certification.sources:
            citation = cited.get(one.number)
            whole = cards.store.passage(one.document)
            part = cards.parts(whole, result.answer.question, 1)[0].id if citation is None else citation.passage_id
            found.append(Source(one, opened(kit, part, *((citation.start, citation.end) if citation else (0, 0)))))
        return found

    return await asyncio.to_thread(look)
