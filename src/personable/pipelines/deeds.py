"""What `recommend` knows of a person: history and session apart, what they turned against, and what they said."""

from __future__ import annotations

from dataclasses import dataclass

from personable.board import Board
from personable.kit import Kit
from personable.notes import Deed, DeedsNote
from personable.people.events import Event, EventKind, now
from personable.people.portrait import worth
from personable.people.statements import may_leave
from personable.pipelines.shop import Shop
from personable.retrieval.choice import RECENT
from personable.retrieval.shelf import HISTORY_FADE, SESSION_FADE, Context, Deeds
from personable.types import Used, Wish

EVENTS = 5000
"""Deeds looked at, the latest; of older ones only whether an item was had counts."""
WEIGHED = 200
"""Deeds of each context that are weighed, the latest: an older one would count less than 0.0001."""
WORDS: dict[EventKind, str] = {
    "click": "looked at",
    "dwell": "looked at",
    "purchase": "bought",
    "rating": "rated",
    "thumbs": "rated",
}


@dataclass(frozen=True)
class Known:
    """The note as it was posted (`post` is its id), everything that the person turned to, and whether the note may be
    told to the models of the kit."""

    note: DeedsNote
    post: int
    had: frozenset[str] = frozenset()
    open: bool = True


async def know(kit: Kit, shop: Shop, wish: Wish, board: Board) -> Known:
    """What matters of the wish's person, posted. Raises NotFoundError for an unknown one.

    The session is the named one, else the person's latest; deeds without sessions count as one of the last few. Of
    an item the last opinion counts. To a remote model nothing of it is told unless the person
    lets sensitive statements leave, since nobody classified deeds.
    """
    note, open_, had = DeedsNote(query=wish.query), True, frozenset[str]()
    if kit.people is not None and wish.person is not None:
        person = await kit.people.get(wish.person)
        open_ = not kit.remote or person.share_sensitive
        if "off" not in (person.dial, wish.dial):
            latest = await kit.people.deeds(wish.person, shop.name, EVENTS)
            deeds = [one for one in latest if one.item in shop.rows]
            had = frozenset(one.item or "" for one in deeds if worth(one) or one.kind == "rating")
            if len(latest) == EVENTS:
                had |= await kit.people.had(wish.person, shop.name) & shop.rows.keys()
            statements = [one for one in await kit.people.statements(wish.person) if one.holds(now())]
            shut = kit.remote and not person.share_sensitive
            note = note.model_copy(
                update={
                    **_split(deeds, wish.session, shop),
                    "said": [Used(statement=s.id, text=s.text) for s in statements if may_leave(s, shut)],
                    "withheld": [Used(statement=s.id, text=s.text) for s in statements if not may_leave(s, shut)],
                }
            )
    bare = not (note.history or note.session or note.disliked or note.said or note.withheld)
    return Known(note, board.post("person", note).id, had, open_ or bare)


def context(note: DeedsNote, shop: Shop) -> Context:
    """The two contexts as rows and weights."""

    def of(deeds: list[Deed], fade: float) -> Deeds:
        return Deeds.of([shop.rows[deed.item] for deed in deeds], fade, [deed.worth for deed in deeds])

    return Context(of(note.history, HISTORY_FADE), of(note.session, SESSION_FADE))


def _split(events: list[Event], session: str | None, shop: Shop) -> dict[str, list[Deed]]:
    valued = [(one, worth(one)) for one in events]
    last = {one.item: value for one, value in valued if value}
    against = [_deed(one, value, shop) for one, value in valued if value < 0 and last[one.item] < 0]
    liked = [(one, value) for one, value in valued if value > 0 and last[one.item] > 0]
    current = session or next((one.session for one, _ in reversed(liked)), None)
    if current is None:
        now_, before = liked[-RECENT:], liked[:-RECENT]
    else:
        now_ = [pair for pair in liked if pair[0].session == current]
        before = [pair for pair in liked if pair[0].session != current]
    return {
        "history": [_deed(*pair, shop) for pair in before[-WEIGHED:]],
        "session": [_deed(*pair, shop) for pair in now_[-WEIGHED:]],
        "disliked": against[-WEIGHED:],
    }


def _deed(event: Event, value: float, shop: Shop) -> Deed:
    item = shop.items[shop.rows[event.item or ""]]
    return Deed(event=event.id, what=WORDS.get(event.kind, event.kind), item=item.id, title=item.title, worth=value)
