"""For you: recommended items with their reasons, and what the person makes of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Form, Query, Request, Response

from personable.board import Board
from personable.errors import NotFoundError
from personable.people.events import Event
from personable.pipelines.recommend import recommend
from personable.server.access import TheEngine
from personable.server.requests import LONGEST
from personable.server.streaming import attended
from personable.server.web import telling
from personable.server.web.frame import PageRoute, after, is_fragment, link, page
from personable.server.web.shelves import chosen, shelves
from personable.server.web.visitor import Somebody, TheVisitor
from personable.types import Item, Recommended, Wish

router = APIRouter(prefix="/for-you", route_class=PageRoute, include_in_schema=False)
Name = Annotated[str, Form(alias="in", max_length=200)]
ITEMS = 6


@dataclass(frozen=True)
class Offer:
    """A recommended item, and all that the catalogue knows of it."""

    place: Recommended
    item: Item

    @property
    def about(self) -> str:
        """What is said of the item, without the brand and category that stand before it."""
        text = self.item.description
        for named in (self.item.brand, self.item.category):
            text = text.removeprefix(named).lstrip()
        return text


@router.get("")
async def for_you_page(
    request: Request,
    _: TheVisitor,
    engine: TheEngine,
    collection: Annotated[str, Query(alias="in")] = "",
    query: str = "",
) -> Response:
    """The catalogues, and a wish."""
    there = await shelves(engine, "items")
    return page(request, "for_you.html", shelves=there, collection=chosen(there, collection), query=query, offers=None)


@router.post("")
async def recommended(
    request: Request,
    visitor: TheVisitor,
    engine: TheEngine,
    collection: Name,
    query: Annotated[str, Form(max_length=LONGEST)] = "",
) -> Response:
    """Items for the person, best first."""
    kit, shop = await engine.shop(collection)
    board = Board()
    wish = Wish(person=visitor.person.id if visitor.person else None, query=query.strip(), k=ITEMS)
    found = await attended(request, recommend(kit, shop, wish, board=board))
    offers = [Offer(one, shop.items[shop.rows[one.item]]) for one in found.items]
    steps = [(post.id, telling.told(post)) for post in board.all()]
    known = any(reason.event or reason.statement for one in found.items for reason in one.reasons)
    shown: dict[str, Any] = {
        "offers": offers,
        "found": found,
        "cold": found.cold and not known,
        "steps": [step for step in steps if step[1]],
        "collection": collection,
    }
    if is_fragment(request):
        return page(request, "_offers.html", **shown)
    return page(request, "for_you.html", shelves=await shelves(engine, "items"), query=query, **shown)


@router.post("/items")
async def judged(
    request: Request,
    person: Somebody,
    engine: TheEngine,
    collection: Name,
    item: Annotated[str, Form(max_length=1000)],
    what: Annotated[Literal["looked", "dismissed"], Form()],
) -> Response:
    """Record that the person looked at an item, or that it is not for them: it is then not shown again."""
    _, shop = await engine.shop(collection)
    if item not in shop.rows:
        raise NotFoundError(f"the catalogue {collection!r} has no item {item!r}")
    title = shop.items[shop.rows[item]].title
    deed = {"kind": "click"} if what == "looked" else {"kind": "thumbs", "value": -1.0}
    about = {"person": person.id, "item": item, "collection": collection, "text": title}
    await engine.people.record(Event.model_validate({**about, **deed}))
    return after(
        request,
        link("/for-you", **{"in": collection}),
        lambda: page(request, "_judged.html", title=title, dismissed=what == "dismissed"),
    )
