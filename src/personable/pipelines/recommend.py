"""`recommend`: items of a catalogue for a person, after ARAG (arXiv 2506.21931), with reasons that they can check.

What the person did and said gives two contexts; ten lists are fused into candidates; User Understanding and NLI post
side by side, Context Summary reads both, Item Ranker orders; reasons name what the person did. Without a model, or
where one fails or the budget ends, each agent has a stand-in, and the board says which ran.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence
from time import monotonic

from personable import tracing
from personable.agent import Desk
from personable.board import Board
from personable.errors import UsageError
from personable.kit import Kit
from personable.llm.base import LanguageModel
from personable.notes import (
    CandidatesNote,
    DeedsNote,
    JudgementsNote,
    RankingNote,
    RecommendationsNote,
    WishNote,
)
from personable.people.aversions import hear
from personable.pipelines.budget import NOTE_TOKENS, TASK_TOKENS, Budget
from personable.pipelines.candidates import is_cold, retrieve
from personable.pipelines.crew import Crew
from personable.pipelines.deeds import Known, know
from personable.pipelines.knowing import held_words
from personable.pipelines.reasons import explain
from personable.pipelines.recommend_agents import (
    BATCH,
    NOTES_TOKENS,
    RANKER,
    SUMMARY,
    UNDERSTANDING,
    complete,
    deed_line,
    nli,
)
from personable.pipelines.shop import Shop
from personable.prompts import fit, render
from personable.retrieval.catalogue import Wanted
from personable.settings import Settings
from personable.text import tokens
from personable.types import Recommendations, Recommended, Wish

LONGEST_QUERY = 2000
DEEDS_SHARE = 0.25
"""Part of a prompt that what the person did and said may take, the latest first."""
FRAME_TOKENS = 12
"""Tokens around a candidate, and around each part of the prompt."""
LEAST_TOKENS = 20
"""Tokens of each candidate that are read in any case."""
AGENTS = ("understanding", "nli", "summary", "ranker")


@tracing.pipeline("recommend")
async def recommend(
    kit: Kit,
    shop: Shop,
    wish: Wish,
    *,
    wanted: Wanted | None = None,
    board: Board | None = None,
    without: Collection[str] = (),
    keep: bool = True,
) -> Recommendations:
    """At most `wish.k` items of `shop`, best first; fewer where the filter `wanted` leaves fewer.

    `without` names agents to leave out, of `AGENTS`. With `keep` the result and its board are stored with the person.
    Raises UsageError for a query that is too long or an agent that does not exist, NotFoundError for an unknown person.
    A model that fails does not raise: `degraded` says what was done instead.
    """
    board, budget = board or Board(), Budget.of(kit.settings)
    try:
        if len(wish.query) > LONGEST_QUERY:
            raise UsageError(f"a wish has at most {LONGEST_QUERY} characters; this one has {len(wish.query)}")
        if unknown := set(without) - set(AGENTS):
            raise UsageError(f"there is no agent {min(unknown)!r} to leave out; there are {', '.join(AGENTS)}")
        held = await held_words(kit, wish.person)
        board.post("person", WishNote(wish=wish))
        known = await know(kit, shop, wish, board)
        count = max(kit.settings.candidates, wish.k)
        candidates = await asyncio.to_thread(retrieve, kit, shop, wish, known, wanted or Wanted(), count)
        board.post("retriever", candidates)
        crew = await rank(kit, known, candidates, board, budget, without)
        result = await asyncio.to_thread(_result, kit, shop, wish, known, candidates, board, crew, budget)
        board.post("ranker", RecommendationsNote(recommendations=result))
        if keep and kit.people is not None:
            await kit.people.save_answer(
                result.id, wish.person, wish.session, result.model_dump_json(), board.to_json(), held
            )
        return result
    finally:
        board.close()


async def rank(
    kit: Kit,
    known: Known,
    candidates: CandidatesNote,
    board: Board,
    budget: Budget,
    without: Collection[str] = (),
    *,
    strict: bool = False,
) -> Crew:
    """The four agents over the candidates; the board then holds a RankingNote with every candidate once.

    The plan of the crew that is returned says how they worked.

    With `strict` a model that gives no answer raises ModelError; an answer of no use is replaced all the same.
    """
    batches = [nli(first, min(first + BATCH - 1, len(candidates.found))) for first in _starts(candidates)]
    crew = _crew(kit, known, candidates, board, budget, len(batches), without)
    crew.strict, crew.useless_too = strict, False
    plan = crew.plan
    if plan == "reply only":
        crew.plan = "numeric"
    await crew.run([UNDERSTANDING, *batches], "recommend/rank")  # never merged: one note cannot hold all batches
    if "nli" not in without:
        read = board.notes(JudgementsNote)
        board.post("nli", complete(candidates, read))
    if "summary" not in without:
        await crew.perform(SUMMARY)
    crew.plan = "numeric" if plan == "numeric" else "separate"
    if "ranker" in without:
        await RANKER.reckon(board)
    else:
        await crew.perform(RANKER)
    crew.plan = plan
    return crew


def _starts(candidates: CandidatesNote) -> range:
    return range(1, len(candidates.found) + 1, BATCH)


def _crew(
    kit: Kit,
    known: Known,
    candidates: CandidatesNote,
    board: Board,
    budget: Budget,
    batches: int,
    without: Collection[str],
) -> Crew:
    """Who works, and how: decided by what models there are, what may be told to them, and the budget."""
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
    else:
        _plan(crew, model, kit.settings, known.note, candidates, budget, batches)
    return crew


def _plan(
    crew: Crew,
    model: LanguageModel,
    settings: Settings,
    note: DeedsNote,
    candidates: CandidatesNote,
    budget: Budget,
    batches: int,
) -> None:
    """All agents where the budget holds them with the candidates' texts shortened, else the ranker, else numbers."""
    calls = sum(batches if agent == "nli" else 1 for agent in AGENTS if agent not in crew.without)
    extra, system = TASK_TOKENS + NOTES_TOKENS, render("recommend/system")
    room = min(settings.model_context - settings.max_tokens, budget.tokens // max(calls, 1)) - extra
    crew.desk = Desk(model, system, _shared(note, candidates, room - tokens(system)))
    each = tokens(system + crew.desk.shared) + TASK_TOKENS
    needed = calls * (each + NOTE_TOKENS)
    if budget.calls >= calls and budget.tokens >= needed:
        crew.plan, why = "separate", f"{calls} calls and about {needed} tokens fit"
    elif budget.calls >= 1 and budget.tokens >= each + RANKER.max_tokens:
        crew.plan, why = "reply only", f"the budget allows no {calls} calls of {needed} tokens: only the ranker asks"
        crew.degrade("budget", why)
    else:
        why = f"{budget.calls} calls and {budget.tokens} tokens allow no call of about {each} tokens"
        crew.degrade("budget", why)
    crew.decide("agents", crew.plan, why)


def _shared(note: DeedsNote, candidates: CandidatesNote, limit: int) -> str:
    """Person and candidates as all agents read them, shortened to about `limit` tokens, but never to less than the
    candidates' first words."""
    room = int(limit * DEEDS_SHARE)
    said, left = _latest(_said(note), room)
    session, left = _latest([deed_line(deed) for deed in note.session], left)
    history, left = _latest([deed_line(deed) for deed in note.history], left)
    disliked, left = _latest([deed_line(deed) for deed in note.disliked], left)
    texts = [f"{one.title}. {one.text}" for one in candidates.found]
    rest = limit - (room - left) - FRAME_TOKENS * (len(texts) + 6) - tokens(note.query)
    return render(
        "recommend/shared",
        said=said,
        history=history,
        session=session,
        disliked=disliked,
        items=fit(texts, max(rest, LEAST_TOKENS * len(texts))),
        query=note.query,
    )


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


def _result(
    kit: Kit,
    shop: Shop,
    wish: Wish,
    known: Known,
    candidates: CandidatesNote,
    board: Board,
    crew: Crew,
    budget: Budget,
) -> Recommendations:
    ranking = board.latest(RankingNote)
    chosen = [candidates.found[number - 1] for number in (ranking.order if ranking else [])][: wish.k]
    reasons = explain(shop, known, [shop.rows[one.item] for one in chosen])
    items = [
        Recommended(
            place=place,
            item=one.item,
            title=one.title,
            price=shop.items[shop.rows[one.item]].price,
            score=one.score,
            reasons=why,
        )
        for place, (one, why) in enumerate(zip(chosen, reasons, strict=True), 1)
    ]
    return Recommendations(
        id=board.id,
        person=wish.person,
        items=items,
        cold=is_cold(known.note),
        degraded=crew.degraded,
        model=crew.desk.model.name if crew.desk and board.calls else "",
        tokens=board.tokens,
        calls=board.calls,
        seconds=round(monotonic() - budget.started, 4),
    )
