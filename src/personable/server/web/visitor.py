"""Who looks at the page: whose login it is, and for whom they look."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated
from urllib.parse import unquote

from fastapi import Depends, Request

from personable.errors import NotFoundError
from personable.people.person import Person
from personable.server.access import SAFE, AnyCaller, Caller, TheEngine
from personable.server.problems import ProblemError
from personable.server.web.frame import SHOWN_FOR, is_fragment

FOR_COOKIE = "personable_for"
CHOICES = 200
"""People who are offered by name; others can be typed."""


@dataclass(frozen=True)
class Visitor:
    """A caller on the page. `person` is whom they look for; `chooses` where their key leaves that to them."""

    who: Caller
    person: Person | None
    others: tuple[Person, ...] = ()

    @property
    def chooses(self) -> bool:
        return self.who.key.person is None

    @property
    def builds(self) -> bool:
        """Whether the key may change collections."""
        return self.who.key.scope in ("builder", "admin")

    @property
    def name(self) -> str:
        """What the person is called on the page."""
        return self.person.name or self.person.id if self.person else "nobody in particular"


async def _visitor(request: Request, who: AnyCaller, engine: TheEngine) -> Visitor:
    chosen = unquote(request.cookies.get(FOR_COOKIE, "")) or None
    id = who.key.person or who.speaks_for(chosen)
    try:
        person = await engine.people.get(id) if id else None
    except NotFoundError:
        person = None  # erased since it was chosen
    chooses = who.key.person is None and not is_fragment(request)
    others = tuple((await engine.people.list())[:CHOICES]) if chooses else ()
    found = Visitor(who, person, others)
    request.state.visitor = found
    return found


async def is_meant(request: Request, visitor: Visitor) -> bool:
    """Whether a form was shown for the person it would be about: with one login, another tab may look for another."""
    typed = request.headers.get("content-type", "").startswith("application/x-www-form-urlencoded")
    if not visitor.chooses or request.method in SAFE or not typed:
        return True
    meant = (await request.form()).get(SHOWN_FOR)
    return meant is None or meant == (visitor.person.id if visitor.person else "")


async def _meant_visitor(request: Request, visitor: Annotated[Visitor, Depends(_visitor)]) -> Visitor:
    if not await is_meant(request, visitor):
        raise ProblemError(
            409,
            f"nothing was done: you now look for {visitor.name}, and this page was shown for somebody else; "
            "load it again, and see at the top for whom you look",
        )
    return visitor


def _somebody(visitor: Annotated[Visitor, Depends(_meant_visitor)]) -> Person:
    if visitor.person is None:
        raise ProblemError(409, "choose first for whom you look, at the top of the page")
    return visitor.person


AnyVisitor = Annotated[Visitor, Depends(_visitor)]
"""The visitor, also with a form that was shown for somebody else: see `is_meant`."""
TheVisitor = Annotated[Visitor, Depends(_meant_visitor)]
Somebody = Annotated[Person, Depends(_somebody)]
"""The person whom the visitor looks for; ProblemError (409) where that is nobody."""
