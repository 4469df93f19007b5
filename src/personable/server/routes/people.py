"""People: making and changing them, getting to know them, taking their data out and in, erasing them."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import JSONResponse, PlainTextResponse
from pydantic import ConfigDict, Field

from personable.people.checks import ID_LENGTH
from personable.people.exchange import from_description, read_import, to_markdown, to_ptkb
from personable.people.person import Learned, start_questions
from personable.people.person import Person as Known
from personable.people.receipt import Receipt
from personable.people.statements import Statement
from personable.server.access import Builder, Person, TheEngine
from personable.server.forms import FileForm, file_form, only_file
from personable.server.problems import ProblemError, documented
from personable.types import Dial, Value

router = APIRouter(prefix="/v1/people", tags=["people"])
ONE = "/{person}"
LONGEST = 100_000
LARGEST_IMPORT = 50_000_000
"""Bytes: a file to take in is held in memory."""


class NewPerson(Value):
    """Somebody new. The id is exact, and stands in addresses: it holds no `/`."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"id": "ana", "name": "Ana", "dial": "auto"}]})
    id: str = Field(min_length=1, max_length=ID_LENGTH, pattern=r"^[^/]+$")
    name: str = Field("", max_length=ID_LENGTH)
    dial: Dial = "auto"


class PersonChange(Value):
    """What is to be changed; what is left out stays as it is."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"dial": "on", "learned": "use"}]})
    name: str | None = Field(None, max_length=ID_LENGTH)
    dial: Dial | None = None
    learned: Learned | None = None
    share_sensitive: bool | None = None


class Description(Value):
    """A self-description, or the answers to the questions; each sentence becomes a statement."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"texts": ["I am vegetarian. I train for a marathon."]}]})
    texts: list[Annotated[str, Field(max_length=LONGEST)]] = Field(min_length=1, max_length=10)


class Imported(Value):
    """The person as they are now, and the statements that were taken in; none where a whole export was restored."""

    person: Known
    statements: list[Statement]


@router.post("", status_code=201, responses=documented(409))
async def make_person(body: NewPerson, _: Builder, engine: TheEngine) -> Known:
    """Make a person."""
    if body.id in (".", ".."):
        raise ProblemError(400, "this id would be lost in an address; choose another")
    return await engine.people.add(body.id, body.name, body.dial)


@router.get("", responses=documented())
async def list_people(_: Builder, engine: TheEngine) -> list[Known]:
    """List everybody, in the order of their ids."""
    return await engine.people.list()


@router.get(ONE, responses=documented(404))
async def get_person(person: Person, engine: TheEngine) -> Known:
    """Show a person's name and settings."""
    return await engine.people.get(person)


@router.patch(ONE, responses=documented(404))
async def change_person(person: Person, body: PersonChange, engine: TheEngine) -> Known:
    """Change how to call a person, and what may be done with what is known of them."""
    return await engine.set_person(person, **body.model_dump(exclude_none=True))


@router.delete(ONE, responses=documented(404))
async def erase_person(person: Person, engine: TheEngine) -> Receipt:
    """Erase a person and everything held about them, their keys too; the receipt says what was searched and found."""
    return await engine.erase(person)


@router.get(ONE + "/start", responses=documented(404))
async def show_start_questions(person: Person, engine: TheEngine) -> list[str]:
    """Show three questions to ask somebody new."""
    await engine.people.get(person)
    return list(start_questions())


@router.post(ONE + "/start", status_code=201, responses=documented(404, 409))
async def describe_person(person: Person, body: Description, engine: TheEngine) -> list[Statement]:
    """Take in a self-description: each sentence becomes a confirmed statement."""
    told = from_description(body.texts, engine.settings.language)
    return await engine.people.tell_many(person, told)


_EXPORTS: dict[str, Any] = {
    "description": "All that is held (`json`), or the statements as a Markdown list or as TREC iKAT's `ptkb`.",
    "content": {"application/json": {"schema": {"type": "object"}}, "text/markdown": {"schema": {"type": "string"}}},
}


@router.get(ONE + "/export", response_class=Response, responses={200: _EXPORTS, **documented(404)})
async def export_person(
    person: Person, engine: TheEngine, format: Annotated[Literal["json", "markdown", "ptkb"], Query()] = "json"
) -> Response:
    """Take a person's data out."""
    people = engine.people
    if format == "json":
        return JSONResponse(await people.export(person))
    if format == "ptkb":
        return JSONResponse(to_ptkb(await people.statements(person)))
    every = await people.statements(person, ("confirmed", "proposed", "rejected"), ended=True)
    return PlainTextResponse(to_markdown(await people.get(person), every), media_type="text/markdown")


@router.post(
    ONE + "/import",
    status_code=201,
    responses=documented(404, 409, 415),
    openapi_extra=file_form("What `export` gave: JSON (the person must not be there), Markdown or `ptkb`."),
)
async def import_person(person: Person, engine: TheEngine, request: Request) -> Imported:
    """Take a person's data in: restore an export of somebody who is not there, or add statements to somebody."""
    async with FileForm(request) as form:
        file = only_file(form)
        if (file.size or 0) > LARGEST_IMPORT:
            raise ProblemError(413, f"a file to take in may have {LARGEST_IMPORT:,} bytes")
        raw = await file.read()
    try:
        held = await asyncio.to_thread(read_import, raw.decode("utf-8-sig"), person, "the file")
    except UnicodeDecodeError as error:
        raise ProblemError(422, "the file is not UTF-8 text; save it as UTF-8") from error
    if isinstance(held, dict):
        return Imported(person=await engine.people.restore(held), statements=[])
    kept = await engine.people.tell_many(person, held)
    return Imported(person=await engine.people.get(person), statements=kept)
