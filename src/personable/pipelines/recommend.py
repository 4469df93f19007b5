"""`recommend`: items of a catalogue for a person, after ARAG (arXiv 2506.21931), with reasons that they can check.

What the person did and said gives two contexts; ten lists are fused into candidates; User Understanding and NLI post
side by side, Context Summary reads both, Item Ranker orders; reasons name what the person did. Without a model, or
where one fails or the budget ends, each agent has a stand-in, and the board says which ran.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from time import monotonic

from personable import tracing
from personable.board import Board
from personable.errors import UsageError
from personable.kit import Kit
from personable.notes import (
    CandidatesNote,
    JudgementsNote,
    RankingNote,
    RecommendationsNote,
    WishNote,
)
from personable.pipelines.budget import Budget
from personable.pipelines.candidates import is_cold, retrieve
from personable.pipelines.crew import Crew
from personable.pipelines.deeds import Known, know
from personable.pipelines.knowing import held_words
from personable.pipelines.reasons import explain
from personable.pipelines.recommend_agents import (
    BATCH,
    RANKER,
    SUMMARY,
    UNDERSTANDING,
    complete,
    nli,
)
from personable.pipelines.recommend_crew import AGENTS, muster
from personable.pipelines.shop import Shop
from personable.retrieval.catalogue import Wanted
from personable.types import Recommendations, Recommended, Wish

LONGEST_QUERY = 2000


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
    """The four agents over the candidates, or over the best of them where the model's context holds no more; the board
    then holds a RankingNote with each of these once.

    The plan of the crew that is returned says how they worked.

    With `strict` a model that gives no answer raises ModelError; an answer of no use is replaced all the same.
    """
    crew, candidates = muster(kit, known, candidates, board, budget, without)
    crew.strict, crew.useless_too = strict, False
    count = len(candidates.found)
    batches = [nli(first, min(first + BATCH - 1, count)) for first in range(1, count + 1, BATCH)]
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
    order = ranking.order if ranking else []
    chosen = [*(candidates.found[number - 1] for number in order), *candidates.found[len(order) :]][: wish.k]
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
