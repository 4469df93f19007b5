"""You: what is known about the person, where it came from, and what they make of it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Annotated, Literal, get_args

from fastapi import APIRouter, Form, Request, Response
from fastapi.responses import RedirectResponse

from personable.errors import UsageError
from personable.people.events import Event, now
from personable.people.person import Learned, Person
from personable.people.statements import Change, State, Statement
from personable.people.weights import Weights, in_words
from personable.server.access import TheEngine
from personable.server.engine import Engine
from personable.server.web.frame import PageRoute, after, is_fragment, page
from personable.server.web.signing import forget_login
from personable.server.web.visitor import FOR_COOKIE, Somebody, TheVisitor
from personable.types import Dial

router = APIRouter(prefix="/you", route_class=PageRoute, include_in_schema=False)
EVENTS = 30
STATES = get_args(State)
Deed = Literal["confirm", "reject", "undo", "forget"]
WORDS = {
    "query": "asked",
    "impression": "were shown",
    "click": "opened",
    "dwell": "read",
    "rating": "rated",
    "thumbs": "judged",
    "comment": "commented on",
    "edit": "changed",
    "purchase": "bought",
}
Text = Annotated[str, Form(max_length=4_000)]


@dataclass(frozen=True)
class Known:
    """What is known about a person: statements by what becomes of them, weights in words, and the latest events.

    `changed` are statements with a change that can be undone, beside the one that brought them.
    """

    proposed: list[Statement]
    held: list[Statement]
    past: list[Statement]
    changed: set[str]
    weights: list[str]
    undoable: bool
    events: list[str]


@router.get("")
async def you_page(request: Request, person: Somebody, engine: TheEngine) -> Response:
    """Everything that is known about the person."""
    return await _page(request, person, engine)


@router.post("/statements")
async def tell(
    request: Request, person: Somebody, engine: TheEngine, text: Text, sensitive: Annotated[str, Form()] = ""
) -> Response:
    """Take something that the person tells about themselves."""
    await engine.people.tell(person.id, text, sensitive=True if sensitive else None)
    return await _after(request, person, engine)


@router.post("/statements/{statement}/edit")
async def edit(
    request: Request,
    person: Somebody,
    engine: TheEngine,
    statement: str,
    text: Text,
    sensitive: Annotated[str, Form()] = "",
) -> Response:
    """Word a statement anew. The box stands as the old words have it: only one that was ticked and no longer is says
    that the new ones are not sensitive."""
    old = [one for one in await engine.people.statements(person.id, STATES, ended=True) if one.id == statement]
    unticked = any(one.sensitive is not False for one in old)
    await engine.people.edit(person.id, statement, text, sensitive=True if sensitive else False if unticked else None)
    return await _after(request, person, engine)


@router.post("/statements/{statement}/{deed}")
async def change(
    request: Request,
    person: Somebody,
    engine: TheEngine,
    statement: str,
    deed: Deed,
    part: Annotated[str, Form()] = "",
    back: Annotated[Literal["/ask", "/you"], Form()] = "/you",
) -> Response:
    """Confirm, reject, undo or forget. `part` "heard" answers with that statement alone, as Ask shows it."""
    people = engine.people
    deeds = {"confirm": people.confirm, "reject": people.reject, "undo": people.undo, "forget": people.forget}
    left = await deeds[deed](person.id, statement)
    if deed == "forget" or left is None:
        engine.forget_texts()
    if part != "heard":
        return await _after(request, person, engine, back)
    if left is None:
        return after(request, back, lambda: page(request, "_gone.html"))
    return after(request, back, lambda: page(request, "_heard.html", statement=left))


@router.post("/settings")
async def settings(
    request: Request,
    person: Somebody,
    engine: TheEngine,
    dial: Annotated[Dial, Form()],
    learned: Annotated[Learned, Form()],
    share_sensitive: Annotated[bool, Form()] = False,
) -> Response:
    """Set how much the person counts, what becomes of what was learnt, and whether sensitive statements may leave."""
    await engine.set_person(person.id, dial=dial, learned=learned, share_sensitive=share_sensitive)
    return after(request, "/you", lambda: page(request, "_saved.html"))


@router.post("/weights/undo")
async def undo_weights(request: Request, person: Somebody, engine: TheEngine) -> Response:
    """Take back what feedback taught last."""
    await engine.people.undo_weights(person.id)
    return await _after(request, person, engine)


@router.get("/export")
async def export(person: Somebody, engine: TheEngine) -> Response:
    """Everything that is held about the person, as a file."""
    held = json.dumps(await engine.people.export(person.id), ensure_ascii=False, indent=2)
    saved = {"Content-Disposition": 'attachment; filename="personable-export.json"'}
    return Response(held, media_type="application/json", headers=saved)


@router.post("/erase")
async def erase(
    request: Request, visitor: TheVisitor, person: Somebody, engine: TheEngine, typed: Annotated[str, Form()] = ""
) -> Response:
    """Erase the person and show the receipt. Who erased themselves is signed out."""
    if typed.strip() != person.id:
        raise UsageError(f"nothing was erased: type {person.id} to confirm")
    receipt = await engine.erase(person.id)
    own = visitor.who.key.person is not None
    request.state.visitor = None if own else replace(visitor, person=None)
    response = page(request, "receipt.html", receipt=receipt, own=own)
    response.delete_cookie(FOR_COOKIE)
    return forget_login(response) if own else response


async def _after(request: Request, person: Person, engine: Engine, back: str = "/you") -> Response:
    if is_fragment(request):
        return await _page(request, person, engine, "_you.html")
    return RedirectResponse(back, 303)


async def _page(request: Request, person: Person, engine: Engine, name: str = "you.html") -> Response:
    return page(request, name, person=person, known=await _known(engine, person.id))


async def _known(engine: Engine, person: str) -> Known:
    people, moment = engine.people, now()
    every = await people.statements(person, STATES, ended=True)
    holding = [one for one in every if one.holds(moment)]
    latest = await people.weights(person)
    learnt = Weights.read(latest.values, (moment - latest.created) / timedelta(days=1)) if latest else Weights()
    return Known(
        proposed=[one for one in holding if one.state == "proposed"],
        held=[one for one in holding if one.state == "confirmed"],
        past=[one for one in every if one not in holding or one.state == "rejected"],
        changed=_changed(await people.changes(person)),
        weights=in_words(learnt),
        undoable=bool(latest and latest.values),
        events=[_told(one) for one in reversed(await people.events(person, limit=EVENTS))],
    )


def _changed(changes: Sequence[Change]) -> set[str]:
    undone = {one.cause for one in changes if one.what == "undone"}
    return {
        one.statement for one in changes if one.before is not None and one.what != "undone" and one.id not in undone
    }


def _told(event: Event) -> str:
    what = event.text or event.item or event.passage or "an answer"
    value = "" if event.value is None else f" ({event.value:g})"
    return f"{event.time:%d %b %Y, %H:%M}: you {WORDS[event.kind]} {what}{value}"
