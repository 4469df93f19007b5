"""Kept answers: what went out, the board it came from, why, what if, and ratings; for a person, and of strangers."""

from __future__ import annotations

import asyncio
from typing import Annotated

from fastapi import APIRouter, Path, Query
from pydantic import ConfigDict, Field, ValidationError

from personable.board import Board, Stored
from personable.evaluation.ratings import (
    Line,
    Rating,
    Scores,
    certified_board,
    keep_rating,
    rating_table,
    read_ratings,
)
from personable.notes import CertifiedNote
from personable.people.checks import ID_LENGTH, Instant
from personable.people.events import Kept, KeptText
from personable.pipelines import why as explaining
from personable.server.access import Builder, Person, TheEngine
from personable.server.engine import Engine
from personable.server.problems import documented
from personable.types import Answer, Certification, Recommendations, Value

router = APIRouter(prefix="/v1", tags=["answers"])
OF_PERSON, OF_STRANGERS = "/people/{person}/answers", "/answers"
ONE = "/{answer}"
NOT_THERE = documented(404, 409)
AnswerId = Annotated[str, Path(description="The answer's id.", max_length=ID_LENGTH)]
Limit = Annotated[int, Query(ge=1, le=100, description="How many, the latest.")]
Before = Annotated[str | None, Query(max_length=ID_LENGTH, description="Only older ones than this answer: `next`.")]
Without = Annotated[str, Query(max_length=64, description="The id of a statement that shaped the answer.")]


class KeptResult(Value):
    """What went out: an answer or recommendations; neither where another version stored what cannot be read now."""

    id: str
    session: str | None
    created: Instant
    answer: Answer | None = None
    recommendations: Recommendations | None = None


class KeptAnswer(KeptResult):
    """What went out, and what stood before it where it was certified."""

    certification: Certification | None = None


class Answers(Value):
    """Answers, newest first; `next` is the `before` of the next page, None on the last one."""

    answers: list[KeptResult]
    next: str | None


class Explained(Value):
    """What moved an answer, and the same in sentences."""

    why: explaining.Why
    sentences: list[str]


class Otherwise(Value):
    """What would be otherwise without a statement, and the same in a sentence."""

    what_if: explaining.WhatIf
    sentence: str = Field(examples=["Without “I am vegetarian” every passage would stand where it stands."])


class NewRating(Scores):
    """The seven published ratings of a certified answer."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"q1": 1, "q2": 2, "q3": 4, "q4": 4, "q5": 4, "q6": 5, "q7": 5}]}
    )


@router.get(OF_PERSON, responses=documented(404))
async def list_answers(person: Person, engine: TheEngine, limit: Limit = 20, before: Before = None) -> Answers:
    """List what a person was answered, newest first."""
    return await _listed(engine, person, limit, before)


@router.get(OF_PERSON + ONE, responses=NOT_THERE)
async def get_answer(person: Person, answer: AnswerId, engine: TheEngine) -> KeptAnswer:
    """Show an answer of a person."""
    return _shown(await engine.people.answer(answer, person))


@router.get(OF_PERSON + ONE + "/board", responses=NOT_THERE)
async def get_board(person: Person, answer: AnswerId, engine: TheEngine) -> Stored:
    """Show the board that an answer came from: what was looked at, post by post."""
    return _stored(await engine.people.answer(answer, person))


@router.get(OF_PERSON + ONE + "/why", responses=NOT_THERE)
async def explain_answer(person: Person, answer: AnswerId, engine: TheEngine) -> Explained:
    """Say what moved an answer: statements, feedback and session."""
    return _explained(await engine.people.answer(answer, person))


@router.get(OF_PERSON + ONE + "/what-if", responses=NOT_THERE)
async def ask_what_if(person: Person, answer: AnswerId, without: Without, engine: TheEngine) -> Otherwise:
    """Say where passages would stand if a statement were not known."""
    effect = explaining.what_if(_board(await engine.people.answer(answer, person)), without)
    return Otherwise(what_if=effect, sentence=explaining.told(effect))


@router.post(OF_PERSON + ONE + "/rating", status_code=201, responses=NOT_THERE)
async def rate_answer(person: Person, answer: AnswerId, body: NewRating, engine: TheEngine) -> Rating:
    """Rate a certified answer of a person by the seven published questions."""
    return await _rated(engine, await engine.people.answer(answer, person), body)


@router.get(OF_STRANGERS, responses=NOT_THERE)
async def list_answers_of_strangers(_: Builder, engine: TheEngine, limit: Limit = 20, before: Before = None) -> Answers:
    """List what nobody in particular was answered, newest first."""
    return await _listed(engine, None, limit, before)


@router.get(OF_STRANGERS + ONE, responses=NOT_THERE)
async def get_answer_of_stranger(_: Builder, answer: AnswerId, engine: TheEngine) -> KeptAnswer:
    """Show an answer to nobody in particular."""
    return _shown(await engine.people.answer(answer))


@router.get(OF_STRANGERS + ONE + "/board", responses=NOT_THERE)
async def get_board_of_stranger(_: Builder, answer: AnswerId, engine: TheEngine) -> Stored:
    """Show the board of an answer to nobody in particular."""
    return _stored(await engine.people.answer(answer))


@router.get(OF_STRANGERS + ONE + "/why", responses=NOT_THERE)
async def explain_answer_of_stranger(_: Builder, answer: AnswerId, engine: TheEngine) -> Explained:
    """Say what moved an answer to nobody in particular."""
    return _explained(await engine.people.answer(answer))


@router.post(OF_STRANGERS + ONE + "/rating", status_code=201, responses=NOT_THERE)
async def rate_answer_of_stranger(_: Builder, answer: AnswerId, body: NewRating, engine: TheEngine) -> Rating:
    """Rate a certified answer to nobody in particular."""
    return await _rated(engine, await engine.people.answer(answer), body)


@router.get("/ratings", responses=documented(409))
async def list_ratings(_: Builder, engine: TheEngine) -> list[Line]:
    """Show the ratings of certified answers: average, most, least and variance of each question by kind of rater."""
    return rating_table(await asyncio.to_thread(read_ratings, engine.settings.home))


async def _listed(engine: Engine, person: str | None, limit: int, before: str | None) -> Answers:
    found = await engine.people.answers(person, limit=limit + 1, before=before)
    page = [_result(one) for one in found[:limit]]
    return Answers(answers=page, next=page[-1].id if len(found) > limit else None)


def _shown(kept: Kept) -> KeptAnswer:
    note = _board(kept).latest(CertifiedNote)
    return KeptAnswer(**dict(_result(kept)), certification=note.certification if note else None)


def _result(kept: Kept | KeptText) -> KeptResult:
    told = KeptResult(id=kept.id, session=kept.session, created=kept.created)
    for kind, name in ((Answer, "answer"), (Recommendations, "recommendations")):
        try:
            return told.model_copy(update={name: kind.model_validate_json(kept.answer)})
        except ValidationError:
            continue
    return told


def _stored(kept: Kept) -> Stored:
    board = _board(kept)
    return Stored(id=board.id, posts=board.all())


def _board(kept: Kept) -> Board:
    return Board.from_json(kept.board, f"answer {kept.id}")


def _explained(kept: Kept) -> Explained:
    found = explaining.why(_board(kept))
    return Explained(why=found, sentences=explaining.in_sentences(found))


async def _rated(engine: Engine, kept: Kept, scores: Scores) -> Rating:
    _board(kept)
    note = certified_board(kept.board, kept.id)
    made = Rating(answer=kept.id, method=note.certification.method, rater="person", scores=Scores(**dict(scores)))
    await asyncio.to_thread(keep_rating, engine.settings.home, made)
    return made
