"""An answer as it is shown: its text in pieces with links to what it cites, what it looked at, and what to ask next."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import NamedTuple

from personable.board import Board
from personable.errors import DataError
from personable.notes import AnswerNote, PassagesNote, ProfileNote
from personable.people.statements import Statement
from personable.people.store import People
from personable.server.web import telling
from personable.server.web.frame import link
from personable.types import Answer, Citation

_MARK = re.compile(r"\[(\d+)\]")
EARLIER = 20
"""Turns of a conversation that are shown again."""
NEXT = 3


class Piece(NamedTuple):
    """A stretch of text, or (`url`) a link to what is cited there."""

    text: str
    url: str = ""
    citation: Citation | None = None


@dataclass(frozen=True)
class Exchange:
    """A question and its answer, None where only its text was kept. `plain` is the same without the person; `kept`
    says that the answer can be judged."""

    question: str
    text: str
    answer: Answer | None = None
    pieces: list[Piece] = field(default_factory=list)
    timeline: list[str] = field(default_factory=list)
    reasons: list[str] = field(default_factory=list)
    heard: list[Statement] = field(default_factory=list)
    nexts: list[str] = field(default_factory=list)
    kept: bool = False
    plain: Answer | None = None
    plain_pieces: list[Piece] = field(default_factory=list)


def exchange(
    answer: Answer, board: Board, collection: str, *, heard: list[Statement], plain: Answer | None = None
) -> Exchange:
    """What is shown of an answer from a collection; `heard` are statements that it heard and nobody confirmed yet."""
    kept = answer.person is not None
    return Exchange(
        question=answer.question,
        text=answer.text,
        answer=answer,
        pieces=pieces(answer, collection, kept=kept),
        timeline=telling.timeline(board),
        reasons=telling.reasons(board),
        heard=heard,
        nexts=_nexts(answer, board),
        kept=kept,
        plain=plain,
        plain_pieces=pieces(plain, collection, kept=False) if plain else [],
    )


async def earlier(people: People, person: str, session: str, collection: str) -> list[Exchange]:
    """The last turns of a conversation, oldest first."""
    shown = []
    for turn in await people.turns(person, session, EARLIER):
        try:
            board = Board.from_json((await people.answer(turn.answer_id, person)).board)
        except DataError:  # forgotten, or stored by another version
            board = Board()
        note = board.latest(AnswerNote)
        if note is None:
            shown.append(Exchange(turn.question, turn.answer))
        else:
            shown.append(exchange(note.answer, board, collection, heard=await heard_on(people, person, board)))
    return shown


async def heard_on(people: People, person: str, board: Board) -> list[Statement]:
    """The statements that were heard in a question and neither confirmed nor rejected since."""
    said = {text for note in board.notes(ProfileNote) for text in note.proposed}
    return [one for one in await people.statements(person, ("proposed",)) if one.text in said] if said else []


def pieces(answer: Answer, collection: str, *, kept: bool) -> list[Piece]:
    """The text, with a link for each `[n]`. Opening one of a `kept` answer counts as a click on it."""
    cited = {one.number: one for one in answer.citations}
    found, end = [], 0
    for mark in _MARK.finditer(answer.text):
        citation = cited.get(int(mark[1]))
        if citation is not None:
            found += [
                Piece(answer.text[end : mark.start()]),
                Piece(mark[0], _url(answer, citation, collection, kept), citation),
            ]
            end = mark.end()
    return [*found, Piece(answer.text[end:])]


def _url(answer: Answer, citation: Citation, collection: str, kept: bool) -> str:
    place = {"start": str(citation.start), "end": str(citation.end)}
    click = {"answer": answer.id, "number": str(citation.number)} if kept else {}
    return link("/passage", **{"in": collection, "id": citation.passage_id}, **place, **click)


def _nexts(answer: Answer, board: Board) -> list[str]:
    """Questions that may follow: the answer's own, else about what was found beside what it cites."""
    if answer.suggestions:
        return answer.suggestions[:NEXT]
    cited = {one.title for one in answer.citations}
    listed = [one for note in board.notes(PassagesNote)[-1:] for one in note.found]
    titles = dict.fromkeys(one.title.replace(" ?", "?").strip() for one in listed if one.title not in cited)
    return [title if title.endswith("?") else f"What about {title}?" for title in titles if title][:NEXT]
