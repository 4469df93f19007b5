"""Statements: what a person said about themselves or what was inferred; telling, changing and forgetting them."""

from __future__ import annotations

from typing import Annotated, get_args

from fastapi import APIRouter, Path, Query
from pydantic import ConfigDict, Field

from personable.people.checks import STATEMENT_LENGTH, Instant
from personable.people.statements import Bound, Change, Kind, Source, State, Statement, Told
from personable.server.access import Person, TheEngine
from personable.server.problems import documented
from personable.types import Value

router = APIRouter(prefix="/v1/people/{person}", tags=["statements"])
MOST = 200
StatementId = Annotated[str, Path(description="The statement's id.", max_length=64)]


class NewStatement(Value):
    """One thing about the person, as they say it.

    What is told counts at once; what was `inferred` (with the utterance behind it as `cause`) is only proposed. Left
    out, `kind` and `sensitive` are taken from the words.
    """

    model_config = ConfigDict(json_schema_extra={"examples": [{"text": "I am vegetarian", "kind": "constraint"}]})
    text: str = Field(min_length=1, max_length=STATEMENT_LENGTH)
    kind: Kind | None = None
    source: Source = "told"
    cause: str = Field("", max_length=STATEMENT_LENGTH)
    sensitive: bool | None = None
    valid_from: Instant | None = None
    valid_to: Instant | None = None


class NewStatements(Value):
    """Several statements, taken in all or none."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"statements": [{"text": "I am vegetarian"}, {"text": "I live in Padua"}]}]}
    )
    statements: list[NewStatement] = Field(min_length=1, max_length=MOST)


class StatementChange(Value):
    """What is to be changed; what is left out stays as it is. New words confirm the statement, and null in `valid_from`
    or `valid_to` takes that bound away."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"text": "I am vegan", "sensitive": False}]})
    text: str | None = Field(None, min_length=1, max_length=STATEMENT_LENGTH)
    kind: Kind | None = None
    sensitive: bool | None = None
    valid_from: Instant | None = None
    valid_to: Instant | None = None


class Undone(Value):
    """The statement as it is now; None once undoing its first change forgot it."""

    statement: Statement | None


@router.get("/statements", responses=documented(404))
async def list_statements(
    person: Person,
    engine: TheEngine,
    state: Annotated[list[State] | None, Query(description="Only these; else confirmed and proposed.")] = None,
    ended: Annotated[bool, Query(description="Also those that no longer hold.")] = False,
) -> list[Statement]:
    """List a person's statements, oldest first."""
    return await engine.people.statements(person, state or ("confirmed", "proposed"), ended=ended)


@router.post("/statements", status_code=201, responses=documented(404, 409))
async def tell_statement(person: Person, body: NewStatement, engine: TheEngine) -> Statement:
    """Tell something about a person; what it contradicts ends."""
    return (await engine.people.tell_many(person, [_told(body)]))[0]


@router.post("/statements/many", status_code=201, responses=documented(404, 409))
async def tell_statements(person: Person, body: NewStatements, engine: TheEngine) -> list[Statement]:
    """Tell several things about a person, all or none."""
    return await engine.people.tell_many(person, [_told(one) for one in body.statements])


@router.patch("/statements/{statement}", responses=documented(404, 409))
async def edit_statement(person: Person, statement: StatementId, body: StatementChange, engine: TheEngine) -> Statement:
    """Change a statement."""
    given = body.model_dump(exclude_unset=True)
    unbounded: list[Bound] = [name for name in get_args(Bound) if name in given and given[name] is None]
    return await engine.people.edit(person, statement, **given, unbounded=unbounded)


@router.post("/statements/{statement}/confirm", responses=documented(404, 409))
async def confirm_statement(person: Person, statement: StatementId, engine: TheEngine) -> Statement:
    """Confirm a proposed statement: from now on it counts."""
    return await engine.people.confirm(person, statement)


@router.post("/statements/{statement}/reject", responses=documented(404, 409))
async def reject_statement(person: Person, statement: StatementId, engine: TheEngine) -> Statement:
    """Reject a statement: it counts no more, and is not proposed again."""
    return await engine.people.reject(person, statement)


@router.post("/statements/{statement}/undo", responses=documented(404, 409))
async def undo_statement(person: Person, statement: StatementId, engine: TheEngine) -> Undone:
    """Undo the last change of a statement; undoing the first one forgets it."""
    left = await engine.people.undo(person, statement)
    if left is None:
        engine.forget_texts()
    return Undone(statement=left)


@router.delete("/statements/{statement}", responses=documented(404))
async def forget_statement(person: Person, statement: StatementId, engine: TheEngine) -> Statement:
    """Forget a statement, and return it for the last time; stored answers and boards say "[forgotten]" in its place."""
    gone = await engine.people.forget(person, statement)
    engine.forget_texts()
    return gone


@router.get("/statements/{statement}/changes", responses=documented(404))
async def list_changes_of_statement(person: Person, statement: StatementId, engine: TheEngine) -> list[Change]:
    """List what became of one statement, oldest first."""
    return await engine.people.changes(person, statement)


@router.get("/changes", responses=documented(404))
async def list_changes(person: Person, engine: TheEngine) -> list[Change]:
    """List every change of a person's statements, oldest first."""
    return await engine.people.changes(person)


def _told(body: NewStatement) -> Told:
    return Told(**body.model_dump())
