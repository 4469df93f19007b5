"""Listening: the turns before, the statements ranked for what is said now, and what is said of oneself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from personable.board import Board
from personable.errors import DataError
from personable.kit import Kit
from personable.llm.fallback import elsewhere
from personable.notes import HistoryNote, ProfileNote
from personable.people.statements import without_marks
from personable.pipelines.conversation import StatementRanker, Utterance
from personable.pipelines.rewriting import TURNS
from personable.pipelines.self_statements import said_of_self
from personable.text import sentences, words
from personable.types import Hit, PastTurn, Question

if TYPE_CHECKING:
    from personable.people.events import Turn
    from personable.people.portrait import Ranker


COPIED = 6
"""Words from which on a sentence that stands in a passage counts as copied from there."""
SESSION = 200
"""Turns of a session whose responses are held against what the person says."""


async def earlier(kit: Kit, question: Question, turns: Sequence[PastTurn] | None) -> HistoryNote:
    """The last turns before `question`: those given, else those of the person's session.

    A model elsewhere is shown only stored turns that it was asked about and answered: they have been there already.
    Where several may read the prompt (a fallback), each must have. The others count as `withheld`, unless the person
    lets sensitive statements leave. Raises NotFoundError for an unknown person.
    """
    if turns is not None:
        return HistoryNote(turns=list(turns[-TURNS:]))
    if kit.people is None or question.person is None or question.session is None:
        return HistoryNote()
    stored = await kit.people.turns(question.person, question.session, TURNS)
    shut = kit.remote and not (await kit.people.get(question.person)).share_sensitive
    open_turns = [turn for turn in stored if not shut or await _was_there(kit, question.person, turn)]
    told = [
        PastTurn(utterance=without_marks(turn.question), response=without_marks(turn.answer)) for turn in open_turns
    ]
    return HistoryNote(turns=told, withheld=len(stored) - len(told))


async def _was_there(kit: Kit, person: str, turn: Turn) -> bool:
    readers = elsewhere(kit.model) if kit.model else frozenset()
    if not readers or kit.asks_elsewhere or kit.people is None or not turn.answer_id:
        return False
    try:
        board = Board.from_json((await kit.people.answer(turn.answer_id, person)).board)
    except DataError:  # forgotten, or stored by another version
        return False
    return readers <= {name for post in board.all() for name in post.cost.answered}


def ranked_by(ranker: StatementRanker, said: Utterance) -> Ranker:
    """The ranker as the portrait asks it; `said` stands for the question."""

    async def scores(question: str, texts: Sequence[str]) -> list[float]:
        return await ranker.scores(said, texts)

    return scores


def asking_part(text: str) -> str:
    """`text` without the sentences that only state something about the speaker, unless nothing else is there."""
    stated = set(said_of_self(text))
    return " ".join(one.text for one in sentences(text) if one.text not in stated) or text


async def responses(kit: Kit, question: Question) -> list[str]:
    """What was replied in the question's session so far."""
    if kit.people is None or question.person is None or question.session is None:
        return []
    return [turn.answer for turn in await kit.people.turns(question.person, question.session, SESSION)]


def heard(said: Utterance, hits: Sequence[Hit], responses: Sequence[str] = ()) -> ProfileNote:
    """What the person stated about themselves in the utterance, word for word; nothing that repeats one of `responses`,
    and no longer sentence of a passage: they may have copied it."""
    replied = [" ".join(words(text)) for text in [*responses, *(turn.response for turn in said.turns)]]
    found = [" ".join(words(hit.passage.text)) for hit in hits]
    proposed = []
    for text in said_of_self(said.text):
        own = words(text)
        known = replied + (found if len(own) >= COPIED else [])
        if not any(" ".join(own) in told for told in known):
            proposed.append(text)
    return ProfileNote(proposed=proposed)
