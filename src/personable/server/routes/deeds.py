"""What a person did: events, sessions and their turns, feedback on answers, and the weights learnt from it."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from fastapi import APIRouter, Path, Query
from pydantic import ConfigDict, Field, model_validator

from personable.people.checks import ID_LENGTH
from personable.people.events import Event, Session, Turn, misvalued
from personable.people.memory import WeightsChange
from personable.people.weights import Weights, in_words
from personable.pipelines.feedback import Kind, Outcome, feedback
from personable.pipelines.knowing import weights_note
from personable.server.access import Person, TheEngine
from personable.server.problems import documented
from personable.types import Value

router = APIRouter(prefix="/v1/people/{person}", tags=["history"])
MOST = 1_000
Limit = Annotated[int, Query(ge=1, le=MOST, description="How many, the latest.")]
AnswerId = Annotated[str, Path(description="The answer's id.", max_length=ID_LENGTH)]
ItemId = Annotated[str, Field(min_length=1, max_length=ID_LENGTH)]


class NewDeeds(Value):
    """What a person did with items of a catalogue, in the order in which it happened.

    `value` is seconds of a dwell, 1 to 5 of a rating, -1 or 1 of thumbs. `collection` names the catalogue, since two
    may have items of one id; without it the deed counts in each that holds the item.
    """

    model_config = ConfigDict(json_schema_extra={"examples": [{"kind": "purchase", "items": ["3", "4"]}]})
    kind: Literal["click", "dwell", "rating", "thumbs", "purchase"]
    items: list[ItemId] = Field(min_length=1, max_length=MOST)
    collection: str | None = Field(None, min_length=1, max_length=ID_LENGTH)
    session: str | None = Field(None, min_length=1, max_length=ID_LENGTH)
    value: float | None = None

    @model_validator(mode="after")
    def _valued(self) -> Self:
        if wrong := misvalued(self.kind, self.value):
            raise ValueError(wrong)
        return self


class Judged(Value):
    """What the person did with an answer, or with one of its passages by its number.

    `value` is -1 or 1 for thumbs and 1 to 5 for a rating, `text` the comment.
    """

    model_config = ConfigDict(json_schema_extra={"examples": [{"kind": "thumbs", "value": 1, "passage": 1}]})
    kind: Kind
    passage: int | None = Field(None, ge=1, le=1_000)
    value: float | None = None
    text: str = Field("", max_length=20_000)


class Learnt(Value):
    """What was learnt from feedback: weights by name as they act now, the change that set them, and all of it in words.

    `proof` (0 to 1) says how far it acts.
    """

    values: dict[str, float]
    version: str
    proof: float
    words: list[str]


class RollBack(Value):
    """`to` is the id of a change of the history, or "start" for the time before any."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"to": "start"}]})
    to: str = Field(min_length=1, max_length=ID_LENGTH)


class NewSession(Value):
    """A session; without `id` it gets a new one."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"id": "trip-to-rome"}]})
    id: str | None = Field(None, min_length=1, max_length=ID_LENGTH)


class Opened(Value):
    """The id of an open session."""

    id: str


@router.get("/events", responses=documented(404))
async def list_events(
    person: Person,
    engine: TheEngine,
    session: Annotated[str | None, Query(max_length=ID_LENGTH, description="Only of this session.")] = None,
    limit: Limit = 50,
) -> list[Event]:
    """List what a person did, oldest first."""
    return await engine.people.events(person, session, limit)


@router.post("/events", status_code=201, responses=documented(404))
async def record_deeds(person: Person, body: NewDeeds, engine: TheEngine) -> list[Event]:
    """Record what a person did with items; recommendations follow it."""
    common = {"person": person, **body.model_dump(exclude={"items"})}
    events = [Event(item=item, **common) for item in body.items]
    await engine.people.record_many(events)
    return events


@router.get("/sessions", responses=documented(404))
async def list_sessions(person: Person, engine: TheEngine, limit: Limit = 50) -> list[Session]:
    """List a person's sessions, newest first."""
    return await engine.people.sessions(person, limit)


@router.post("/sessions", status_code=201, responses=documented(404))
async def open_session(person: Person, body: NewSession, engine: TheEngine) -> Opened:
    """Open a session, or go on with one."""
    return Opened(id=await engine.people.open_session(person, body.id))


@router.get("/turns", responses=documented(404))
async def list_turns(
    person: Person,
    engine: TheEngine,
    session: Annotated[str, Query(max_length=ID_LENGTH, description="The session's id.")],
    limit: Limit = 50,
) -> list[Turn]:
    """List the turns of a session, oldest first."""
    return await engine.people.turns(person, session, limit)


@router.post("/answers/{answer}/feedback", status_code=201, responses=documented(404, 409))
async def judge_answer(person: Person, answer: AnswerId, body: Judged, engine: TheEngine) -> Outcome:
    """Say what an answer was worth; what can be learnt from it is learnt."""
    return await feedback(engine.base, answer, person, **body.model_dump())


@router.get("/weights", responses=documented(404))
async def show_weights(person: Person, engine: TheEngine) -> Learnt:
    """Show what was learnt from a person's feedback, in numbers and in words."""
    latest = await engine.people.weights(person)
    if latest is None:
        return Learnt(values={}, version="", proof=0.0, words=in_words(Weights()))
    note = weights_note(latest)
    weights = Weights.read(note.values)
    return Learnt(values=note.values, version=note.version, proof=weights.proof, words=in_words(weights))


@router.get("/weights/history", responses=documented(404))
async def list_weights(person: Person, engine: TheEngine) -> list[WeightsChange]:
    """List every change of a person's weights, oldest first."""
    return await engine.people.weight_history(person)


@router.post("/weights/undo", responses=documented(404))
async def undo_weights(person: Person, engine: TheEngine) -> WeightsChange:
    """Take the last change of the weights back."""
    return await engine.people.undo_weights(person)


@router.post("/weights/roll-back", responses=documented(404))
async def roll_back_weights(person: Person, body: RollBack, engine: TheEngine) -> WeightsChange:
    """Set the weights as they were after a change of the history."""
    return await engine.people.roll_back_weights(person, body.to)
