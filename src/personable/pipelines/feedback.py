"""Feedback on an answer: what the person did with it is stored, and their ranking weights learn from it, in one go."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Literal

from personable.board import Board
from personable.errors import ConfigurationError, DataError, UsageError
from personable.kit import Kit
from personable.notes import AnswerNote, PortraitNote, RecommendationsNote
from personable.people.events import Event, EventKind, Kept, now
from personable.people.learning import LONGEST_ODDS, Pair, clicked, judged, learnt
from personable.people.memory import WeightsChange
from personable.people.portrait import worth
from personable.people.weights import Weights
from personable.pipelines.ranking import candidates, head
from personable.types import Answer, Citation, Value

Kind = Literal["click", "thumbs", "rating", "comment", "not interested"]
_EVENTS: Mapping[Kind, EventKind] = {
    "click": "click",
    "thumbs": "thumbs",
    "rating": "rating",
    "comment": "comment",
    "not interested": "thumbs",
}


class Outcome(Value):
    """The event that was stored, the change of weights that it made (None: they stay), and why in words."""

    event: Event
    change: WeightsChange | None
    why: str


async def feedback(
    kit: Kit,
    answer_id: str,
    person: str,
    kind: Kind,
    *,
    passage: int | None = None,
    value: float | None = None,
    text: str = "",
) -> Outcome:
    """Store what `person` did with an answer that was given to them, and learn from it.

    `passage` is the number of a citation: needed for a click and "not interested"; a thumb, a rating or a comment
    without it is about the whole answer. `value` is -1 or 1 for thumbs and 1 to 5 for a rating, `text` the comment. A
    click prefers its passage to the others cited, corrected for its place; a judgement, which weighs as much as the
    weightiest click, compares what it is about with the other passages that the answer was made from. A comment, a
    rating of 3, and what was said before teach nothing; nor does anything where the person lets nothing be learnt or
    the dial is off. Raises UsageError for what makes no sense, NotFoundError for an answer that was not given to
    `person`, DataError for one that cannot be read, ConfigurationError without a store of people.
    """
    if kit.people is None:
        raise ConfigurationError("feedback needs the store of people, which this kit was opened without")
    kept = await kit.people.answer(answer_id, person)
    answer, board = _read(kept)
    _check(kind, passage, value, text)
    cited = None if passage is None else _citation(answer, passage)
    event = Event(
        person=person,
        session=kept.session,
        kind=_EVENTS[kind],
        passage=cited.passage_id if cited else None,
        value=-1.0 if kind == "not interested" else value,
        text=text or ("not interested" if kind == "not interested" else cited.title if cited else ""),
        answer=answer_id,
        position=passage,
    )
    known, portrait = await kit.people.get(person), board.latest(PortraitNote)
    if "off" in (known.dial, known.learned, portrait.dial if portrait else "off"):
        await kit.people.record(event)
        return Outcome(event=event, change=None, why="stored; nothing is learnt from it, as the person wants it")
    lesson = _Lesson(answer, board, event, _named(kind, value, cited))
    change = await kit.people.learn(event, lesson)
    return Outcome(event=event, change=change, why=lesson.reason)


def _read(kept: Kept) -> tuple[Answer, Board]:
    board = Board.from_json(kept.board, f"answer {kept.id}")
    if board.latest(RecommendationsNote) is not None:
        raise UsageError(f"{kept.id} is a recommendation: record what was done with its items instead")
    note = board.latest(AnswerNote)
    if note is None:
        raise DataError(f"board {kept.id} holds no answer: the question failed before one was made")
    return note.answer, board


class _Lesson:
    """What an event teaches; the store calls it while nobody else changes the weights. `reason` is what came of it."""

    def __init__(self, answer: Answer, board: Board, event: Event, reason: str) -> None:
        self._event, self.reason = event, reason
        found = candidates(board)
        self._rows = [one.features for one in found]
        places = {one.passage_id: row for row, one in enumerate(found)}
        self._cited = [places[id] for id in dict.fromkeys(c.passage_id for c in answer.citations) if id in places]
        self._head = [places[one.passage_id] for one in head(board) if one.passage_id in places]
        self._places = places

    def __call__(self, latest: WeightsChange | None, earlier: Sequence[Event]) -> tuple[dict[str, float], str] | None:
        pairs = self._clicked(earlier) if self._event.kind == "click" else self._judged(earlier)
        if not pairs:
            self.reason += ": stored; there is nothing new to learn from it"
            return None
        days = (now() - latest.created) / timedelta(days=1) if latest else 0.0
        weights = Weights.read(latest.values, days) if latest else Weights()
        return learnt(weights, self._rows, pairs).stored(), self.reason

    def _clicked(self, earlier: Sequence[Event]) -> list[Pair]:
        taken = {self._places.get(one.passage or "") for one in earlier if one.kind == "click"}
        row = self._places.get(self._event.passage or "")
        if row is None or row in taken:
            return []
        shown = self._cited
        pairs = clicked(shown.index(row), len(shown), [n for n, one in enumerate(shown) if one in taken])
        return [(shown[better], shown[worse], weight) for better, worse, weight in pairs]

    def _judged(self, earlier: Sequence[Event]) -> list[Pair]:
        before = [e for e in earlier if (e.kind, e.passage) == (self._event.kind, self._event.passage)]
        said = worth(self._event)
        if before and worth(before[-1]) * said > 0:
            return []
        about = self._cited if self._event.passage is None else [self._places.get(self._event.passage, -1)]
        about = [row for row in about if row >= 0]
        others = [row for row in self._head if row not in about]
        return [pair for row in about for pair in judged(row, others, LONGEST_ODDS * said / len(about))]


def _check(kind: Kind, passage: int | None, value: float | None, text: str) -> None:
    if kind not in _EVENTS:
        raise UsageError(f"{kind!r} is no feedback; it is one of: {', '.join(_EVENTS)}")
    if kind in ("click", "not interested") and passage is None:
        raise UsageError(f"{kind}: say which passage, by its number in the answer")
    if kind == "thumbs" and value not in (-1, 1):
        raise UsageError("thumbs are up (1) or down (-1)")
    if kind == "rating" and (value is None or not 1 <= value <= 5):
        raise UsageError("a rating is a number from 1 to 5")
    if kind == "comment" and not text.strip():
        raise UsageError("the comment is empty; say what was good or bad about the answer")


def _citation(answer: Answer, number: int) -> Citation:
    found = next((one for one in answer.citations if one.number == number), None)
    if found is None:
        known = f"its passages are 1 to {len(answer.citations)}" if answer.citations else "it cites none"
        raise UsageError(f"answer {answer.id} has no passage {number}; {known}")
    return found


def _named(kind: Kind, value: float | None, cited: Citation | None) -> str:
    what = f"“{cited.title or cited.passage_id}” [{cited.number}]" if cited else "the whole answer"
    match kind:
        case "thumbs":
            return f"thumbs {'up' if value == 1 else 'down'} for {what}"
        case "rating":
            return f"{value:g} of 5 for {what}"
        case "comment":
            return f"comment on {what}"
        case "click":
            return f"click on {what}"
        case "not interested":
            return f"not interested in {what}"
