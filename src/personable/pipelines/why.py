"""Why an answer is what it is, and what if: recomputed from its stored board, without a model or the collection."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import Field

from personable.board import Board
from personable.errors import NotFoundError
from personable.notes import (
    AnswerNote,
    CertifiedNote,
    Found,
    GateNote,
    HistoryNote,
    OrderNote,
    PassagesNote,
    PortraitNote,
    RecommendationsNote,
    WeightsNote,
)
from personable.people.weights import Weights, in_words
from personable.pipelines.ranking import reordered
from personable.types import Answer, Value

SHOWN = 10
"""Places from the top within which a move is told, beside the moves of what was cited."""


class Moved(Value):
    """A passage that stands elsewhere without something: its place as answered and its place then, both from 1.

    `then` None: it would not have been found. `cited` is its number in the answer; None where it was not cited.
    """

    passage_id: str
    title: str
    cited: int | None = None
    place: int
    then: int | None = None


class WhatIf(Value):
    """What would be otherwise without something: `moved`, best place first; empty if nothing would.

    `without` says what in words. For a statement, `statement` is its id and `weight` how much it mattered (0 to 1).
    """

    without: str
    statement: str = ""
    weight: float = 0.0
    moved: list[Moved] = Field(default_factory=list)


class Why(Value):
    """What moved an answer.

    `gate` and `strength` say how much the person counted and `evidence` on what grounds. `statements` holds a what-if
    for each statement that was searched with, `weights` one for all that feedback taught and `person_as_a_whole` one
    for everything about the person; None where there was none. `learnt` tells the weights in words and `cause` is the
    change that set them. `session` is what the session was about, `interests` what the person comes back to: agents
    read both. `model_order` is the model that put the passages in another order afterwards, which cannot be recomputed.
    A certified answer has no gate: `used` holds the statements that moved its ranking, framed it or were in a prompt.
    """

    answer: str
    question: str
    person: str | None
    gate: str = ""
    strength: float = 0.0
    evidence: dict[str, float] = Field(default_factory=dict)
    statements: list[WhatIf] = Field(default_factory=list)
    weights: WhatIf | None = None
    person_as_a_whole: WhatIf | None = None
    learnt: list[str] = Field(default_factory=list)
    cause: str = ""
    session: str = ""
    interests: list[str] = Field(default_factory=list)
    used: list[str] = Field(default_factory=list)
    model_order: str = ""


def why(board: Board) -> Why:
    """What moved the answer on `board`. Raises NotFoundError where the board holds no answer."""
    answer = _answer(board)
    gate, portrait, weights = board.latest(GateNote), board.latest(PortraitNote), board.latest(WeightsNote)
    moved_by = [one for one in answer.used if _searched_with(board, one.statement)]
    learnt = Weights.read(weights.values) if weights else Weights()
    whole = None
    if answer.person is not None and answer.strength > 0:
        whole = _what_if(board, reordered(board, weights=Weights(), strength=0.0), "the person")
    taught = _what_if(board, reordered(board, weights=Weights()), "what feedback taught") if learnt.proof else None
    return Why(
        answer=answer.id,
        question=answer.question,
        person=answer.person,
        gate=gate.verdict if gate else "",
        strength=gate.strength if gate else 0.0,
        evidence=gate.evidence if gate else {},
        statements=[what_if(board, one.statement) for one in moved_by],
        weights=taught,
        person_as_a_whole=whole,
        learnt=in_words(learnt) if weights and weights.values else [],
        cause=weights.version if weights else "",
        session=portrait.need if portrait else "",
        interests=portrait.interests if portrait and not board.notes(HistoryNote) else [],  # no prompt of `converse`
        model_order=_model_order(board),
        used=[one.text for one in answer.used] if board.notes(CertifiedNote) else [],
    )


def what_if(board: Board, without: str) -> WhatIf:
    """How passages would stand without the statement of this id: its list is left out and the gate asked again.

    Raises NotFoundError where the board holds no answer, or where the statement did not shape it.
    """
    answer = _answer(board)
    used = next((one for one in answer.used if one.statement == without), None)
    if used is None or not _searched_with(board, without):
        shaped = ", ".join(one.statement for one in answer.used) or "none did"
        raise NotFoundError(f"statement {without!r} did not shape answer {answer.id}; those that did: {shaped}")
    found = _what_if(board, reordered(board, without=without), f"“{used.text}”")
    return found.model_copy(update={"statement": without, "weight": used.score})


def in_sentences(why: Why) -> list[str]:
    """The same for people to read, one thing a sentence."""
    if why.person is None:
        return ["It was asked by nobody in particular: no person shaped the answer."]
    if why.used:
        quoted = "; ".join(f"“{one}”" for one in why.used)
        return [f"{why.person} said {quoted}: that moved the ranking, framed the answer or was in a prompt."]
    if not why.gate:
        return [f"Nothing that {why.person} said was used: none of it was close to the question."]
    if why.strength == 0:
        return [f"{why.person} was left out: the gate found that the question needs no person ({why.gate})."]
    grounds = ", ".join(name for name, value in why.evidence.items() if value) or "the dial is on"
    said = [f"{why.person} counted with strength {why.strength:.2f} ({why.gate}): {grounds}."]
    for effect in [*why.statements, *([why.weights] if why.weights else [])]:
        said.append(told(effect))
    if why.person_as_a_whole is not None:
        said.append(told(why.person_as_a_whole))
    said += why.learnt
    if why.session:
        said.append(f"The session was about: {why.session}.")
    if why.interests:
        said.append(f"Agents were told of interests: {', '.join(why.interests)}.")
    if why.model_order:
        said.append(f"{why.model_order} then put the passages in an order of its own, which cannot be recomputed.")
    return said


def told(effect: WhatIf) -> str:
    """A what-if in one sentence."""
    weight = f" (weight {effect.weight:.2f})" if effect.statement else ""
    if not effect.moved:
        return f"Without {effect.without}{weight} every passage would stand where it stands."
    moves = [
        f"{f'[{one.cited}] ' if one.cited else ''}{one.title or one.passage_id} would be "
        f"{'nowhere' if one.then is None else _nth(one.then)} instead of {_nth(one.place)}"
        for one in effect.moved
    ]
    return f"Without {effect.without}{weight}: {'; '.join(moves)}."


def _nth(place: int) -> str:
    ending = "th" if place % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(place % 10, "th")
    return f"{place}{ending}"


def _what_if(board: Board, then: Sequence[Found], without: str) -> WhatIf:
    places = {one.passage_id: place for place, one in enumerate(then, 1)}
    cited = {citation.passage_id: citation.number for citation in _answer(board).citations[::-1]}
    moved = [
        Moved(passage_id=one.passage_id, title=one.title, cited=cited.get(one.passage_id), place=place, then=after)
        for place, one in enumerate(reordered(board), 1)
        if (after := places.get(one.passage_id)) != place and (place <= SHOWN or one.passage_id in cited)
    ]
    return WhatIf(without=without, moved=moved)


def _searched_with(board: Board, statement: str) -> bool:
    return any(note.statement == statement for note in board.notes(PassagesNote))


def _model_order(board: Board) -> str:
    posts = board.all(OrderNote)
    return posts[-1].cost.model if posts else ""


def _answer(board: Board) -> Answer:
    note = board.latest(AnswerNote)
    if note is None and board.latest(RecommendationsNote) is not None:
        raise NotFoundError(f"{board.id} is a recommendation: each item's reasons stand with it; why tells of answers")
    if note is None:
        raise NotFoundError(f"board {board.id} holds no answer: the question failed before one was made")
    return note.answer
