"""Finding certified text for a question: by the published pipelines, or by the project's own."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Literal, get_args

from personable.board import Board
from personable.kit import Kit
from personable.notes import DecisionNote, HydocNote, PortraitNote
from personable.pipelines.certify_agents import FEEDBACK, PRAGMATICS, hydoc_agent
from personable.pipelines.crew import Crew
from personable.pipelines.finding import listed
from personable.retrieval.cards import BODY, FITTED, HYDOC_WEIGHT, Cards, Weights
from personable.retrieval.certifying import TITLE
from personable.retrieval.lay import Asked
from personable.retrieval.showing import verified
from personable.types import Hit, Passage, Question, Used

Method = Literal["default", "zero-shot", "cot"]
METHODS: tuple[Method, ...] = get_args(Method)
SOURCES = 3
LOOKED = 10
RERANKED = 50
READS_ALIKE = {"minilm": 0.8}
"""Cosine of a question with a title from which on it already reads like the documents and needs no HyDoc. By embedders
not named here only a title itself (`SAME`) does."""
SAME = 0.99
CLOSE = 0.3
"""How close to the question (its score in the portrait) a statement must be to count."""
SAID = 3
"""Statements of the person that a question is searched with."""


async def first_search(cards: Cards, asked: Asked, board: Board) -> list[Passage]:
    """Naive retrieval: what the question as it stands finds by meaning (by words without an embedder)."""

    def find() -> list[Hit]:
        scores = cards.nearest(asked.whole, BODY, FEEDBACK * 4) or cards.wordiest(asked.whole, BODY, FEEDBACK * 4)
        return [
            Hit(passage=verified(cards.store, cards.parts(one, asked.focus, 1)[0]), score=scores[one.document])
            for one in cards.valid(list(scores)[:FEEDBACK])
        ]

    hits = await asyncio.to_thread(find)
    board.post("retriever", listed("plain", asked.whole, hits, text=True))
    return [hit.passage for hit in hits]


async def hypothesis(cards: Cards, asked: Asked, method: Method, crew: Crew) -> str:
    """The hypothetical document, or what stands in for it; "" where the default has no use for one.

    Without a model the default searches with the question alone: expanding it did not help (docs/benchmarks.md).
    Zero-shot writes it from the question alone; chain of thought from a first retrieval and the pragmatic context. It
    is searched with, and nothing else ever reads it.
    """
    if method == "default" and (why := _needless(cards, asked, crew)):
        crew.decide("hydoc", "skipped", why)
        return ""
    if "hydoc" in crew.without:
        crew.decide("hydoc", "skipped", "left out by the caller")
        return "" if method == "default" else asked.focus
    if method == "cot" and "pragmatics" not in crew.without:
        await crew.perform(PRAGMATICS)
    await crew.perform(hydoc_agent(cards.manifest.language, asked.focus, method == "cot"))
    note = crew.board.latest(HydocNote)
    return note.text if note else ""


def _needless(cards: Cards, asked: Asked, crew: Crew) -> str:
    """Why the default has no use for a HyDoc; "" where it has."""
    if crew.desk is None:
        return "no language model is set"
    near = max(cards.nearest(asked.focus, [TITLE], 1).values(), default=0.0)
    alike = READS_ALIKE.get(cards.embedder.name, SAME) if cards.embedder else SAME
    return f"the question reads like a title (cosine {near:.2f})" if near >= alike else ""


async def find_certified(
    kit: Kit, cards: Cards, asked: Asked, hydoc: str, method: Method, said: Sequence[Used], board: Board
) -> list[Hit]:
    """Whole documents, best first. The published methods rank by the cosine of the HyDoc alone; the default by all the
    evidence. Both read the first `RERANKED` again where a reranker is set. Documents whose approval ended are left out;
    the board names those that would have been looked at."""
    if method == "default":
        weights = FITTED if not hydoc else Weights(values=FITTED.values | {"hydoc": HYDOC_WEIGHT})
        hits = ranked(await asyncio.to_thread(cards.candidates, asked, hydoc, [one.text for one in said]), weights)
    else:
        hits = await asyncio.to_thread(by_hydoc, cards, asked, hydoc)
    for late in [hit for hit in hits[:LOOKED] if cards.ended(hit.passage)]:
        why = f"the approval of {late.passage.document!r} ended on {late.passage.meta['expires']}"
        board.post("certify", DecisionNote(about="documents", choice="left out", why=why))
    hits = [hit for hit in hits if not cards.ended(hit.passage)]
    if kit.reranker is not None and hits:
        hits = await kit.reranker.rerank(asked.focus, hits[:RERANKED], RERANKED)
    board.post("retriever", listed("candidates", asked.focus, hits[:RERANKED]))
    return hits


def sources(cards: Cards, asked: Asked, hits: Sequence[Hit]) -> list[tuple[Passage, Passage]]:
    """What up to `SOURCES` of the best `LOOKED` documents say, of those that bear on the question: the part that speaks
    most to it, and the whole, both checked against the certified bytes. Raises DataError that names an altered one."""
    found = []
    for hit in [hit for hit in hits[:LOOKED] if cards.relevant(hit)][:SOURCES]:
        part = cards.parts(hit.passage, asked.focus, 1)[0]
        found.append((verified(cards.store, part), verified(cards.store, hit.passage)))
    return found


async def said_of(kit: Kit, question: Question, person: PortraitNote) -> list[Used]:
    """What the person confirmed of themselves that is close to the question and that a search may hold: sensitive ones
    only where the embedder is on this machine. What is only proposed nobody said, also where the person lets it count.
    """
    if kit.people is None or question.person is None:
        return []
    confirmed = {one.id for one in await kit.people.statements(question.person, ("confirmed",))}
    local = kit.embedder is None or not kit.embedder.remote
    statements = [*person.statements, *(person.withheld if local else [])]
    return [one for one in statements if one.score >= CLOSE and one.statement in confirmed][:SAID]


def by_hydoc(cards: Cards, asked: Asked, hydoc: str) -> list[Hit]:
    """The documents nearest to a hypothetical one (by words without an embedder)."""
    scores = cards.nearest(hydoc, BODY, RERANKED * 4) or cards.wordiest(hydoc, BODY, RERANKED * 4)
    hits = cards.evidence(asked, [cards.store.passage(id) for id in list(scores)[:RERANKED]])
    return [hit.model_copy(update={"score": scores[hit.passage.document]}) for hit in hits]


def ranked(hits: Sequence[Hit], weights: Weights) -> list[Hit]:
    """Candidates by their fused evidence; equal ones in the order in which they were found."""
    scored = [hit.model_copy(update={"score": round(weights.score(hit.features), 6)}) for hit in hits]
    return sorted(scored, key=lambda hit: -hit.score)
