"""What an answer looked at, told in plain words: a sentence for each post on its board."""

from __future__ import annotations

from typing import Any

from personable.board import Board, Post
from personable.errors import NotFoundError
from personable.notes import CandidatesNote, DeedsNote, GateNote, GuardNote, HistoryNote, PassagesNote, PortraitNote
from personable.pipelines.why import in_sentences, why

_ALWAYS = {
    "question": "Read your question.",
    "wish": "Read what you wish for.",
    "session": "Thought about what you are after right now.",
    "order": "Put the passages in the order of their use to you.",
    "feedback": "Thought about what to ask you back.",
    "draft": "Made a first draft from the passages alone.",
    "agents": "Thought about you, the passages and the draft at once.",
    "digest": "Summed up what the answer should use.",
    "reply": "Wrote a reply.",
    "taste": "Thought about what you like.",
    "judgements": "Judged each item against what you are after.",
    "summary": "Summed up what fits you.",
    "ranking": "Ranked the items.",
    "recommendations": "Chose what to recommend.",
    "answer": "Finished the answer.",
    "pragmatics": "Read between the lines of your question.",
    "hydoc": "Imagined what a leaflet might say, to search with it.",
    "certified": "Checked the certified texts against their digests.",
}
_GATES = {
    "not needed": "Found that this question needs nothing about you.",
    "helps": "Found that what is known about you helps.",
    "essential": "Found that what is known about you is essential here.",
}
_LISTS = {
    "plain": "Searched for “{query}”: {found}.",
    "personal": "Searched again with what you said: {found}.",
    "second": "Searched once more for “{query}”: {found}.",
    "ranked": "Ranked {found}.",
    "fused": "Kept the best: {found}.",
}


def told(post: Post) -> str:
    """What a post says, in a sentence; "" where it is of no interest to who asked."""
    note: Any = post.content
    match note:
        case PortraitNote():
            return _portrait(note)
        case HistoryNote():
            return f"Read the last {_many(len(note.turns), 'turn')} of this conversation." if note.turns else ""
        case GateNote():
            return _GATES[note.verdict]
        case PassagesNote():
            titles = list(dict.fromkeys(one.title or one.passage_id for one in note.found))
            found = ", ".join(f"“{title}”" for title in titles[:3]) + (" and others" if len(titles) > 3 else "")
            return _LISTS.get(note.name, "").format(query=note.query, found=found or "nothing was found")
        case GuardNote():
            kept = sum(one.action != "removed" for one in note.verdicts)
            return f"Checked {_many(len(note.verdicts), 'sentence')} against the passages; {kept} may leave."
        case DeedsNote():
            did, said = len(note.history) + len(note.session), len(note.said) + len(note.withheld)
            return f"Looked at {_many(did, 'thing')} that you did with items, and {_many(said, 'thing')} that you said."
        case CandidatesNote():
            return f"Compared {_many(len(note.found), 'item')} with you."
    return _more(note)


def timeline(board: Board) -> list[str]:
    """The whole board, told."""
    return [sentence for sentence in map(told, board.all()) if sentence]


def reasons(board: Board) -> list[str]:
    """Why the answer on the board is what it is, in sentences."""
    try:
        return in_sentences(why(board))
    except NotFoundError:
        return []  # it holds no answer: the question failed before one was made


def _portrait(note: PortraitNote) -> str:
    count = len(note.statements) + len(note.withheld)
    if not note.known:
        return "Nobody in particular asks, so nobody was looked up."
    if note.dial == "off":
        return "Left you out, as the dial says."
    away = f" {len(note.withheld)} of them stay on this machine." if note.withheld else ""
    return f"Looked at what is known about you: {_many(count, 'statement')} may matter.{away}"


def _more(note: Any) -> str:
    match note.kind:
        case "rewrite":
            return f"Understood it as: “{note.text}”"
        case "queries":
            return f"Thought of other searches: {'; '.join(note.queries)}." if note.queries else ""
        case "profile":
            return f"Heard about you: {'; '.join(note.proposed)}." if note.proposed else ""
        case "decision" if (note.about, note.choice) == ("agents", "numeric"):
            return f"Worked with numbers alone: {note.why}."
        case "decision":
            return f"Decided about {note.about}: {note.choice}, since {note.why}."
        case "weights":
            return "Looked at what your feedback taught." if note.values else ""
    return _ALWAYS.get(note.kind, "")


def _many(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"
