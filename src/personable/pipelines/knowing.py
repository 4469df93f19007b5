"""What a pipeline knows of a person before it answers, and what it remembers afterwards."""

from __future__ import annotations

import unicodedata
from datetime import timedelta

from personable.board import Board
from personable.kit import Kit
from personable.notes import PortraitNote, ProfileNote, WeightsNote
from personable.people.events import Event, Kept, now
from personable.people.memory import WeightsChange
from personable.people.portrait import Ranked, Ranker, portrait
from personable.people.redaction import Words
from personable.people.statements import Told
from personable.people.weights import Weights
from personable.types import Answer, Question, Used

LONGEST_QUESTION = 20_000
"""Characters. A board repeats its question, and has to fit into what the store takes of it."""
LONGEST_STATEMENT = 2000
"""Characters that the store takes for a statement or an event's text."""


async def see_person(
    kit: Kit, question: Question, board: Board, ranker: Ranker | None = None, *, ranker_remote: bool = False
) -> PortraitNote:
    """The portrait of the question's person, posted, and their ranking weights as they are now where any were set.

    Statements are ranked by `ranker` (with `ranker_remote` it asks elsewhere), where None by the kit's embedder. Those
    that may not leave this machine stand apart.
    """
    note = PortraitNote(known=False)
    if kit.people is not None and question.person is not None:
        seen = await portrait(
            kit.people,
            question,
            kit.similar if kit.embedder else None,
            ranker=ranker,
            remote=kit.remote,
            similar_remote=ranker_remote or (kit.embedder is not None and kit.embedder.remote),
        )
        note = PortraitNote(
            known=seen.known,
            dial=seen.dial,
            statements=[_used(one) for one in seen.statements],
            withheld=[_used(one) for one in seen.withheld],
            interests=[interest.text for interest in seen.interests],
            need=seen.need,
        )
        if seen.weights is not None:
            board.post("person", weights_note(seen.weights))
    board.post("person", note)
    return note


def weights_note(change: WeightsChange) -> WeightsNote:
    """Weights from the store as they act now: faded by the time since."""
    weights = Weights.read(change.values, days=(now() - change.created) / timedelta(days=1))
    return WeightsNote(values=weights.stored(), version=change.id, evidence={"proof": weights.proof})


def _used(one: Ranked) -> Used:
    return Used(statement=one.statement.id, text=one.statement.text, score=one.score)


async def held_words(kit: Kit, person: str | None) -> Words:
    """What the person's statements say before anything about them is read for an answer: what of it is forgotten until
    the answer is stored is not stored with it, wherever it stands on the board."""
    return {} if kit.people is None or person is None else await kit.people.wordings(person)


async def remember(kit: Kit, question: Question, board: Board, answer: Answer, held: Words) -> None:
    """Store the answer and its board and, for a person, the question, what was shown, and what they said of themselves.

    What they said becomes a proposed statement with the question as its cause: it counts only as the person lets what
    was learnt count. With the dial off nothing is learnt: the answer and its turn are kept, so that it can be explained
    and erased. `held` are the `held_words` of before.
    """
    if kit.people is None:
        return
    person, session, text = question.person, question.session, _storable(question.text)
    kept = Kept(
        id=answer.id,
        person=person,
        session=session,
        answer=answer.model_dump_json(),
        board=board.to_json(),
        created=now(),
    )
    known = None if person is None else await kit.people.get(person)
    heard = known is not None and "off" not in (known.dial, question.dial)
    events = _happened(person, question, answer) if person is not None and heard else []
    said = _said(board, text) if heard else []
    await kit.people.keep_exchange(kept, text, _storable(answer.text), events, said, held)


def _said(board: Board, cause: str) -> list[Told]:
    """What the person said of themselves, to be proposed."""
    profile = board.latest(ProfileNote)
    texts = [_storable(text).strip() for text in (profile.proposed if profile else [])]
    return [
        Told(text, source="inferred", cause=cause[:LONGEST_STATEMENT], confidence=0.5)
        for text in texts
        if 0 < len(text) <= LONGEST_STATEMENT
    ]


def _happened(person: str, question: Question, answer: Answer) -> list[Event]:
    """The question, and each passage that was shown at its place."""
    session, text = question.session, _storable(question.text)[:LONGEST_STATEMENT]
    asked = Event(person=person, session=session, kind="query", text=text, answer=answer.id)
    shown = [
        Event(
            person=person,
            session=session,
            kind="impression",
            passage=cited.passage_id,
            text=cited.title,
            answer=answer.id,
            position=cited.number,
        )
        for cited in answer.citations
    ]
    return [asked, *shown]


def _storable(text: str) -> str:
    """`text` without control characters, which the store refuses; white space stays."""
    return "".join(" " if unicodedata.category(char) == "Cc" and char not in "\n\t" else char for char in text)
