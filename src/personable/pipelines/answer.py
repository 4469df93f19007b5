"""`answer`: a person's question over a collection, after PersonaRAG (arXiv 2407.09394) with a real person.

Question and person give a portrait; the gate says how much it counts; passages are found and fused; agents post notes
side by side; what they ask for is searched again; the cognitive agent writes from draft, digest and passages; the guard
lets each sentence pass or not; the board is stored. At most three model steps follow each other, where the published
order has twelve.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from dataclasses import replace
from time import monotonic
from typing import Any

from personable import tracing
from personable.agent import Agent, Desk
from personable.board import Board
from personable.errors import ModelError, UsageError
from personable.guard import Guard
from personable.kit import Kit
from personable.llm.base import LanguageModel
from personable.notes import (
    AnswerNote,
    DraftNote,
    FeedbackNote,
    OrderNote,
    PortraitNote,
    ProfileNote,
    QueriesNote,
    QuestionNote,
    SessionNote,
)
from personable.pipelines.answer_agents import side_by_side
from personable.pipelines.asking import digest, make_crew, reply_prompt
from personable.pipelines.budget import Budget, Plan
from personable.pipelines.crew import Crew
from personable.pipelines.finding import find, listed, search_again
from personable.pipelines.gate import gate
from personable.pipelines.knowing import LONGEST_QUESTION, held_words, remember, see_person
from personable.pipelines.replying import (
    NOT_FOUND,
    QUOTED_FROM,
    Writer,
    Written,
    completed,
    quote_reply,
    quoting_weights,
    stand_by_draft,
    write_reply,
)
from personable.types import Answer, Passage, Question, Used


@tracing.pipeline("answer")
async def answer(
    kit: Kit,
    question: Question,
    *,
    board: Board | None = None,
    without: Collection[str] = (),
    keep: bool = True,
    strict: bool = False,
) -> Answer:
    """Answer `question` for its person from the kit's collection; the whole story stands on `board`.

    `without` names agents to leave out (an ablation). With `keep`, answer and board are stored with the person. Raises
    UsageError for an empty or immense question and over a certified collection, NotFoundError for an unknown person,
    and ConfigurationError without a collection. A model that fails, or whose own limit a question is too long for,
    raises ModelError only with `strict`; else stand-ins take over, as `degraded` says.
    """
    board = board or Board()
    try:
        kit.refuse_certified()
        size = len(question.text.strip())
        if not 0 < size <= LONGEST_QUESTION:
            raise UsageError(f"a question has 1 to {LONGEST_QUESTION} characters; this one has {size}")
        return await _answer(kit, question, board, Budget.of(kit.settings), without, keep, strict)
    finally:
        board.close()


async def _answer(
    kit: Kit, question: Question, board: Board, budget: Budget, without: Collection[str], keep: bool, strict: bool
) -> Answer:
    held = await held_words(kit, question.person)
    board.post("person", QuestionNote(question=question))
    person = await see_person(kit, question, board)
    strength = _gate(question, person, board)
    found, used = await find(kit, question, person, strength, board)
    hits = found[: kit.settings.passages]
    board.post("retriever", listed("fused", question.text, hits, text=True))
    passages = [hit.passage for hit in hits]
    weights = quoting_weights(hits, strength)

    crew = make_crew(kit, board, budget, question, person, passages, without, strict)
    await crew.run(_agents(kit, crew.plan, stranger=question.person is None), "answer/agents")
    extra = await search_again(kit, _queries(board), passages, board)
    written = await _reply(kit, question, passages, extra, weights, used, crew, budget)

    result = _result(kit, question, board, used, strength, written, crew, budget)
    board.post("cognitive", AnswerNote(answer=result))
    if keep:
        await remember(kit, question, board, result, held)
    return result


def _gate(question: Question, person: PortraitNote, board: Board) -> float:
    note = gate(question.text, person)
    board.post("gate", note, score=note.strength)
    return note.strength


def _agents(kit: Kit, plan: Plan, *, stranger: bool) -> list[Agent[Any]]:
    agents = side_by_side(kit.evidence, kit.settings.quote_words, kit.language)
    if plan == "numeric":  # the reply is itself quoted: a draft would say the same
        return [agent for agent in agents if agent.writes is not DraftNote]
    if plan == "separate" and stranger:  # nobody to know or to ask back: two calls for nothing
        return [agent for agent in agents if agent.writes not in (ProfileNote, FeedbackNote)]
    return agents


def _queries(board: Board) -> list[str]:
    note = board.latest(QueriesNote)
    return note.queries if note else []


async def _reply(
    kit: Kit,
    question: Question,
    passages: list[Passage],
    extra: list[Passage],
    weights: dict[str, float],
    used: list[Used],
    crew: Crew,
    budget: Budget,
) -> Written:
    """The cognitive step: written by the model and checked; without a model, or where nothing stands, quoted."""
    board = crew.board
    if crew.desk is not None and crew.plan != "numeric" and kit.model is not None:
        if crew.heard is False and crew.desk.model.name == kit.model.name:
            crew.decide("reply", "quoted", "the model answered none of the agents, so it is not asked again")
            crew.degrade("reply", "the model answered none of the agents; quoted instead")
        elif written := await _write(kit, question, passages, extra, crew, crew.desk, kit.model, budget):
            return written
    note = board.latest(OrderNote)
    order = note.order if note else range(1, len(passages) + 1)
    ranked = [passages[number - 1] for number in order]
    ranked = [passage for passage in ranked if weights[passage.id] >= QUOTED_FROM * max(weights.values())]
    writer = Writer(board, [*ranked, *extra], kit.settings.quote_words)
    readings = [question.text, *completed(crew.board)]
    await quote_reply(kit, writer, readings, [weights.get(one.id, 1.0) for one in writer.passages], used)
    return writer.written


async def _write(
    kit: Kit,
    question: Question,
    passages: list[Passage],
    extra: list[Passage],
    crew: Crew,
    agents: Desk,
    model: LanguageModel,
    budget: Budget,
) -> Written | None:
    """What the model wrote and the guard let pass; None where nothing stands."""
    writer = Writer(crew.board, [*passages, *extra], kit.settings.answer_words)
    failed = False
    try:
        async with asyncio.timeout_at(budget.deadline()):
            await digest(crew)
            desk = replace(agents, model=model)
            guard = Guard(writer.passages, question.text, kit.language)
            prompt = reply_prompt(kit, crew.board, desk, extra, len(passages))
            await write_reply(writer, guard, desk, prompt, kit.settings.max_tokens)
            if writer.written.declined and not writer.written.found and stand_by_draft(writer, guard):
                crew.decide("reply", "draft", "the model declined, but a passage supports the answer of its draft")
    except (ModelError, TimeoutError) as error:
        crew.fail("cognitive", error)
        failed = True
    if writer.written.found or writer.written.declined:
        return writer.written
    if not failed:
        crew.decide("reply", "quoted", "nothing that the model wrote is supported by the passages")
        crew.degrade("reply", "nothing that the model wrote is supported by the passages; quoted instead")
    return None


def _result(
    kit: Kit,
    question: Question,
    board: Board,
    used: list[Used],
    strength: float,
    written: Written,
    crew: Crew,
    budget: Budget,
) -> Answer:
    if not written.found:
        board.say(NOT_FOUND)
    cited = {citation.title for citation in written.citations}
    session, feedback = board.latest(SessionNote), board.latest(FeedbackNote)
    person = board.latest(PortraitNote)
    return Answer(
        id=board.id,
        question=question.text,
        text=written.text if written.found else NOT_FOUND,
        found=written.found,
        citations=written.citations,
        person=question.person,
        used=used,
        strength=strength,
        ask=feedback.ask if feedback and person and person.dial != "off" else "",
        suggestions=[one for one in session.next_questions if one not in cited][:3] if session else [],
        degraded=crew.degraded + (["reply: cut at its length limit"] if written.cut else []),
        model=kit.model.name if kit.model else "quote",
        tokens=board.tokens,
        calls=board.calls,
        seconds=round(monotonic() - budget.started, 4),
    )
