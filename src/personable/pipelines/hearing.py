"""Listening: the turns before, the statements ranked for what is said now, and what is said of oneself."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

from personable.errors import NotFoundError
from personable.kit import Kit
from personable.notes import HistoryNote, ProfileNote
from personable.pipelines.answer_agents import said_of_self
from personable.pipelines.conversation import StatementRanker, Utterance
from personable.pipelines.rewriting import TURNS
from personable.text import sentences, words
from personable.types import Answer, Hit, PastTurn, Question

if TYPE_CHECKING:
    from personable.people.events import Turn
    from personable.people.portrait import Similar


async def earlier(kit: Kit, question: Question, turns: Sequence[PastTurn] | None) -> HistoryNote:
    """The last turns before `question`: those given, else those of the person's session.

    A model elsewhere is shown only stored turns that it answered itself: they have been there already. The others
    count as `withheld`, unless the person lets sensitive statements leave. Raises NotFoundError for an unknown person.
    """
    if turns is not None:
        return HistoryNote(turns=list(turns[-TURNS:]))
    if kit.people is None or question.person is None or question.session is None:
        return HistoryNote()
    stored = await kit.people.turns(question.person, question.session, TURNS)
    shut = kit.remote and not (await kit.people.get(question.person)).share_sensitive
    open_turns = [turn for turn in stored if not shut or await _was_there(kit, question.person, turn)]
    told = [PastTurn(utterance=turn.question, response=turn.answer) for turn in open_turns]
    return HistoryNote(turns=told, withheld=len(stored) - len(told))


async def _was_there(kit: Kit, person: str, turn: Turn) -> bool:
    if kit.model is None or kit.people is None or not turn.answer_id:
        return False
    try:
        kept = await kit.people.answer(turn.answer_id, person)
    except NotFoundError:
        return False
    return kit.model.remote and Answer.model_validate_json(kept.answer).model == kit.model.name


def ranked_by(ranker: StatementRanker, said: Utterance) -> Similar:
    """The ranker as the portrait asks it: from a worker thread, while this event loop goes on. `said` stands for the
    question."""
    loop = asyncio.get_running_loop()

    def similar(question: str, texts: Sequence[str]) -> list[float]:
        return asyncio.run_coroutine_threadsafe(ranker.scores(said, texts), loop).result()

    return similar


def asking_part(text: str) -> str:
    """`text` without the sentences that only state something about the speaker, unless nothing else is there."""
    stated = set(said_of_self(text))
    return " ".join(one.text for one in sentences(text) if one.text not in stated) or text


def heard(said: Utterance, hits: Sequence[Hit]) -> ProfileNote:
    """What the person stated about themselves in the utterance, word for word; nothing that repeats a response or a
    passage, which they may have copied."""
    told = [turn.response for turn in said.turns] + [hit.passage.text for hit in hits]
    known = [" ".join(words(text)) for text in told]
    said_now = [(text, " ".join(words(text))) for text in said_of_self(said.text)]
    return ProfileNote(proposed=[text for text, key in said_now if not any(key in text for text in known)])
