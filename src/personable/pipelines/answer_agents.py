"""The agents of `answer`: the five user-centric agents of PersonaRAG (arXiv 2407.09394, section 3), draft and digest.

Each writes one typed note that the pipeline uses, and each has a stand-in that needs no model.
"""

from __future__ import annotations

from typing import Any

from personable.agent import Agent, Reading
from personable.llm.quote import Similar, quote
from personable.notes import (
    DigestNote,
    DraftNote,
    FeedbackNote,
    GateNote,
    OrderNote,
    PassagesNote,
    PortraitNote,
    ProfileNote,
    QueriesNote,
    QuestionNote,
    SessionNote,
)
from personable.pipelines.question_back import one_question
from personable.pipelines.self_statements import said_of_self
from personable.text import words
from personable.types import Passage

_FOLLOW_UP = frozenset("it its they them this that these those he she him her one ones more else also there".split())
_SEEN = (QuestionNote, PortraitNote, GateNote, PassagesNote)


def _asked(reading: Reading) -> str:
    return reading[QuestionNote].question.text


def _count(reading: Reading) -> dict[str, Any]:
    return {"count": len(reading[PassagesNote].found)}


async def _profile(reading: Reading) -> ProfileNote:
    statements = [used.text for used in reading[PortraitNote].statements]
    return ProfileNote(summary="; ".join(statements[:3]), proposed=said_of_self(_asked(reading)))


def _only_said(note: ProfileNote, reading: Reading) -> ProfileNote:
    """Of what the person states in their own question what the model chose, as they said it: a guess, a quotation and a
    supposition are dropped."""
    chosen = [f" {' '.join(words(text))} " for text in note.proposed if words(text)]
    stated = dict.fromkeys(said_of_self(_asked(reading)))
    kept = [said for said in stated if any(text in f" {' '.join(words(said))} " for text in chosen)]
    return note.model_copy(update={"proposed": kept[:3], "summary": note.summary[:500]})


async def _queries(reading: Reading) -> QueriesNote:
    need = reading[PortraitNote].need
    follows = need and (set(words(_asked(reading))) & _FOLLOW_UP or len(words(_asked(reading))) <= 3)
    return QueriesNote(queries=[f"{_asked(reading)} {need}"] if follows else [])


def _few_queries(note: QueriesNote, reading: Reading) -> QueriesNote:
    asked = _asked(reading).casefold().strip()
    kept = [query.strip()[:300] for query in note.queries if words(query) and query.casefold().strip() != asked]
    return QueriesNote(queries=kept[:2])


async def _session(reading: Reading) -> SessionNote:
    asked = " ".join(words(_asked(reading)))
    titles = dict.fromkeys(found.title.replace(" ?", "?") for found in reading[PassagesNote].found)
    nexts = [title for title in titles if title.endswith("?") and " ".join(words(title)) != asked]
    return SessionNote(need=reading[PortraitNote].need, next_questions=nexts)


def _few_questions(note: SessionNote, reading: Reading) -> SessionNote:
    nexts = dict.fromkeys(asked for question in note.next_questions if (asked := one_question(question)))
    return SessionNote(need=note.need[:300], next_questions=list(nexts)[:3])


async def _order(reading: Reading) -> OrderNote:
    return OrderNote(order=list(range(1, len(reading[PassagesNote].found) + 1)), reason="the order of retrieval")


def permutation(order: list[int], count: int) -> list[int]:
    """`order` as a full permutation of 1 … count: invented and repeated numbers leave, missing ones follow in order."""
    kept = list(dict.fromkeys(number for number in order if 1 <= number <= count))
    return kept + [number for number in range(1, count + 1) if number not in kept]


def _full_order(note: OrderNote, reading: Reading) -> OrderNote:
    count = len(reading[PassagesNote].found)
    return OrderNote(order=permutation(note.order, count), reason=note.reason[:300])


async def _feedback(reading: Reading) -> FeedbackNote:
    unknown = reading[GateNote].evidence.get("first person", 0) > 0 and not reading[PortraitNote].statements
    ask = "What should I know about you to answer this better?" if unknown else ""
    return FeedbackNote(ask=ask, record=["rating of the answer", "opened citation", "next question asked"])


def _short_feedback(note: FeedbackNote, reading: Reading) -> FeedbackNote:
    return FeedbackNote(ask=one_question(note.ask), record=[signal.strip()[:100] for signal in note.record[:3]])


def _short_draft(note: DraftNote, reading: Reading) -> DraftNote:
    return DraftNote(reasoning=note.reasoning[:1500], answer=note.answer[:800])


def _quoting(similar: Similar | None, max_words: int, language: str) -> Any:
    async def draft(reading: Reading) -> DraftNote:
        found = [Passage(id=f.passage_id, text=f.text, title=f.title) for f in reading[PassagesNote].found]
        quotation = quote(_asked(reading), found, similar=similar, max_words=max_words, language=language)
        picked = quotation.sentences if quotation.found else []
        return DraftNote(answer=" ".join(f"{q.text} [{q.passage + 1}]" for q in picked))

    return draft


def notes_text(reading: Reading) -> str:
    """The message pool as text: one line for each thing that an agent found."""
    lines: list[str] = []
    if (profile := reading.get(ProfileNote)) and profile.summary:
        lines.append(f"The person: {profile.summary}")
    if (session := reading.get(SessionNote)) and session.need:
        lines.append(f"Their need now: {session.need}")
    if (order := reading.get(OrderNote)) and len(order.order) > 1:
        lines.append(f"Most useful passages first: {', '.join(map(str, order.order))} ({order.reason})")
    if (draft := reading.get(DraftNote)) and draft.reasoning:
        lines.append(f"Reasoning of the draft: {draft.reasoning}")
    return "\n".join(lines)


async def _digest(reading: Reading) -> DigestNote:
    return DigestNote(text=notes_text(reading))


def _short_digest(note: DigestNote, reading: Reading) -> DigestNote:
    return DigestNote(text=note.text[:1200])


PROFILE = Agent("user profile", _SEEN, ProfileNote, _profile, "answer/profile", tidy=_only_said, max_tokens=160)
QUERIES = Agent(
    "contextual retrieval", _SEEN, QueriesNote, _queries, "answer/queries", tidy=_few_queries, max_tokens=120
)
SESSION = Agent("live session", _SEEN, SessionNote, _session, "answer/session", tidy=_few_questions, max_tokens=200)
ORDER = Agent("document ranking", _SEEN, OrderNote, _order, "answer/order", _count, _full_order, max_tokens=160)
FEEDBACK = Agent("feedback", _SEEN, FeedbackNote, _feedback, "answer/feedback", tidy=_short_feedback, max_tokens=160)
DIGEST = Agent(
    "digest",
    (ProfileNote, SessionNote, OrderNote, DraftNote),
    DigestNote,
    _digest,
    "answer/digest",
    lambda reading: {"notes": notes_text(reading)},
    _short_digest,
)


def draft_agent(similar: Similar | None, max_words: int, language: str) -> Agent[DraftNote]:
    """The chain-of-thought draft; its stand-in quotes, so it needs to compare texts."""
    numeric = _quoting(similar, max_words, language)
    return Agent("draft", _SEEN, DraftNote, numeric, "answer/draft", tidy=_short_draft, max_tokens=300)


def side_by_side(similar: Similar | None, max_words: int, language: str) -> list[Agent[Any]]:
    """The six agents that do not need each other, the most useful first: a model that takes one call at a time may
    not come to the last."""
    return [draft_agent(similar, max_words, language), QUERIES, ORDER, PROFILE, SESSION, FEEDBACK]
