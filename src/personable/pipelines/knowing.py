"""What a pipeline knows of a person before it answers, and what it remembers afterwards."""

from __future__ import annotations

from personable.board import Board
from personable.kit import Kit
from personable.notes import PortraitNote, ProfileNote
from personable.people.events import Event
from personable.people.portrait import Ranked, portrait
from personable.people.statements import may_leave
from personable.types import Answer, Question, Used


async def see_person(kit: Kit, question: Question, board: Board) -> PortraitNote:
    """The portrait of the question's person, posted. Statements that may not leave for a remote model stand apart."""
    note = PortraitNote(known=False)
    if kit.people is not None and question.person is not None:
        seen = await portrait(kit.people, question, kit.similar if kit.embedder else None)
        remote = any(model is not None and model.remote for model in (kit.model, kit.agents_model))
        used = [
            (one, Used(statement=one.statement.id, text=one.statement.text, score=one.score)) for one in seen.statements
        ]
        note = PortraitNote(
            known=seen.known,
            statements=[told for one, told in used if may_leave(one.statement, remote)],
            withheld=[told for one, told in used if not may_leave(one.statement, remote)],
            interests=[] if remote else [interest.text for interest in seen.interests],
            need=seen.need,
        )
    board.post("person", note)
    return note


def _used(one: Ranked) -> Used:
    return Used(statement=one.statement.id, text=one.statement.text, score=one.score)


async def remember(kit: Kit, question: Question, board: Board, answer: Answer) -> None:
    """Store the answer and its board and, for a person, the question, what was shown, and what they said of themselves.

    What they said becomes a proposed statement with the question as its cause: it counts only once they confirm it.
    """
    if kit.people is None:
        return
    person, session = question.person, question.session
    if person is not None:
        profile = board.latest(ProfileNote)
        for text in profile.proposed if profile else []:
            await kit.people.tell(
                person, text, source="inferred", cause=question.text, state="proposed", confidence=0.5
            )
        asked = Event(person=person, session=session, kind="query", text=question.text[:2000])
        shown = [
            Event(person=person, session=session, kind="impression", passage=c.passage_id, text=c.title, value=c.number)
            for c in answer.citations
        ]
        await kit.people.record_many([asked, *shown])
        if session is not None:
            await kit.people.add_turn(person, session, question.text, answer.text, answer.id)
    await kit.people.save_answer(answer.id, person, session, answer.model_dump_json(), board.to_json())
