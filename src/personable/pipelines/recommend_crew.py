"""Who ranks for `recommend`, and what they read: as much of person and candidates as context and budget hold."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from personable.agent import Desk
from personable.board import Board
from personable.kit import Kit
from personable.llm.base import LanguageModel
from personable.notes import CandidatesNote, DeedsNote
from personable.people.aversions import hear
from personable.pipelines.budget import NOTE_TOKENS, TASK_TOKENS, Budget
from personable.pipelines.crew import Crew
from personable.pipelines.deeds import Known
from personable.pipelines.recommend_agents import BATCH, JUDGEMENT_TOKENS, NOTES_TOKENS, RANKER, deed_line
from personable.prompts import fit, render
from personable.settings import Settings
from personable.text import tokens

DEEDS_SHARE = 0.25
"""Part of a prompt that what the person did and said may take, the latest first."""
FRAME_TOKENS = 12
"""Tokens around a candidate, and around each part of the prompt."""
LEAST_TOKENS = 20
"""Tokens of each candidate that are read in any case."""
AGENTS = ("understanding", "nli", "summary", "ranker")


class Shown(NamedTuple):
    """What all agents read: `system` and `shared` prompt with the first `read` candidates, and how many of the
    person's statements had no room in it (`untold`). `calls` are those of all agents."""

    system: str
    shared: str
    read: int
    untold: int
    calls: int


def muster(
    kit: Kit,
    known: Known,
    candidates: CandidatesNote,
    board: Board,
    budget: Budget,
    without: Collection[str],
) -> tuple[Crew, CandidatesNote]:
    """Who works, and how: decided by what models there are, what may be told to them, their context and the budget; and
    the candidates that they rank, posted again where these are not all."""
    crew = Crew(board, None, "numeric", budget.deadline(), without)
    model = kit.agents_model or kit.model
    if model is None:
        crew.decide("agents", "numeric", "no language model is set")
    elif not candidates.found:
        crew.decide("agents", "numeric", "there is no candidate to rank")
    elif not known.open:
        why = "what this person did may not leave for a remote model; they may allow it with --share-sensitive"
        crew.decide("agents", "numeric", why)
        crew.degrade("agents", why)
    elif (shown := _shown(known.note, candidates, kit.settings, budget, without)) is None:
        why = f"a context of {kit.settings.model_context} tokens holds no candidates: raise PERSONABLE_MODEL_CONTEXT"
        crew.decide("agents", "numeric", why)
        crew.degrade("agents", why)
    else:
        _plan(crew, model, budget, shown)
        if crew.plan != "numeric":
            return crew, _told(crew, kit.settings, known.note, candidates, shown)
    return crew, candidates


def _shown(
    note: DeedsNote, candidates: CandidatesNote, settings: Settings, budget: Budget, without: Collection[str]
) -> Shown | None:
    """As many candidates as the context holds, their texts shortened before one is left out; None where it does not
    even hold two (or the only one)."""
    extra, system, count = TASK_TOKENS + NOTES_TOKENS, render("recommend/system"), len(candidates.found)
    while count >= min(2, len(candidates.found)):
        batches = -(-count // BATCH)
        calls = sum(batches if agent == "nli" else 1 for agent in AGENTS if agent not in without)
        answer = max(RANKER.max_tokens, JUDGEMENT_TOKENS * min(BATCH, count))
        room = min(settings.model_context - max(settings.max_tokens, answer), budget.tokens // max(calls, 1)) - extra
        shared, untold = _shared(note, candidates, count, room - tokens(system))
        over = tokens(system + shared) + extra + answer - settings.model_context
        if over <= 0:
            return Shown(system, shared, count, untold, calls)
        count -= max(1, over // (LEAST_TOKENS + FRAME_TOKENS))
    return None


def _plan(crew: Crew, model: LanguageModel, budget: Budget, shown: Shown) -> None:
    """All agents where the budget holds them, else the ranker, else numbers."""
    crew.desk = Desk(model, shown.system, shown.shared)
    each = tokens(shown.system + shown.shared) + TASK_TOKENS
    needed = shown.calls * (each + NOTE_TOKENS)
    if budget.calls >= shown.calls and budget.tokens >= needed:
        crew.plan, why = "separate", f"{shown.calls} calls and about {needed} tokens fit"
    elif budget.calls >= 1 and budget.tokens >= each + RANKER.max_tokens:
        crew.plan = "reply only"
        why = f"the budget allows no {shown.calls} calls of {needed} tokens: only the ranker asks"
        crew.degrade("budget", why)
    else:
        why = f"{budget.calls} calls and {budget.tokens} tokens allow no call of about {each} tokens"
        crew.degrade("budget", why)
    crew.decide("agents", crew.plan, why)


def _told(crew: Crew, settings: Settings, note: DeedsNote, candidates: CandidatesNote, shown: Shown) -> CandidatesNote:
    """The candidates that the agents read, and word of what had no room."""
    if shown.untold:
        crew.degrade("agents", f"{shown.untold} of {len(note.said)} statements had no room in the prompt")
    if shown.read == len(candidates.found):
        return candidates
    why = f"a context of {settings.model_context} tokens holds {shown.read} of {len(candidates.found)} candidates"
    crew.decide("candidates", f"the first {shown.read}", why)
    crew.degrade("agents", f"{why}; the others follow in the order of retrieval")
    fewer = candidates.model_copy(update={"found": candidates.found[: shown.read]})
    crew.board.post("budget", fewer)
    return fewer


def _shared(note: DeedsNote, candidates: CandidatesNote, count: int, limit: int) -> tuple[str, int]:
    """Person and the first `count` candidates as all agents read them, shortened to about `limit` tokens, but never to
    less than the candidates' first words; and how many statements had no room."""
    room = int(limit * DEEDS_SHARE)
    said, left = _latest(_said(note), room)
    session, left = _latest([deed_line(deed) for deed in note.session], left)
    history, left = _latest([deed_line(deed) for deed in note.history], left)
    disliked, left = _latest([deed_line(deed) for deed in note.disliked], left)
    texts = [f"{one.title}. {one.text}" for one in candidates.found[:count]]
    rest = limit - (room - left) - FRAME_TOKENS * (len(texts) + 6) - tokens(note.query)
    shared = render(
        "recommend/shared",
        said=said,
        history=history,
        session=session,
        disliked=disliked,
        items=fit(texts, max(rest, LEAST_TOKENS * len(texts))),
        query=note.query,
    )
    return shared, len(note.said) - len(said)


def _said(note: DeedsNote) -> list[str]:
    """The statements, last those that turn against something: what is wanted least is left out last."""
    return sorted((used.text for used in note.said), key=lambda text: bool(hear(text).unwanted))


def _latest(lines: Sequence[str], limit: int) -> tuple[list[str], int]:
    """The last lines that fit into `limit` tokens together, in their order, and the tokens left."""
    kept: list[str] = []
    for line in reversed(lines):
        size = tokens(line) + 2
        if size > limit:
            break
        kept.append(line)
        limit -= size
    return kept[::-1], limit
