"""What the agents of `answer` are asked: the desk they share, the plan that the budget allows, and the last prompt."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from personable.agent import Desk, Reading
from personable.board import Board
from personable.errors import ModelRefusedError
from personable.kit import Kit
from personable.llm.base import LanguageModel, Prompt
from personable.notes import DigestNote, DraftNote, PortraitNote
from personable.pipelines.answer_agents import DIGEST, notes_text
from personable.pipelines.budget import Budget
from personable.pipelines.crew import Crew
from personable.pipelines.replying import NOT_FOUND
from personable.prompts import fit, render
from personable.text import tokens
from personable.types import Passage, Question

AGENTS_SHARE = 0.6
"""Share of the budget's seconds after which agents that have not finished are replaced by their stand-ins."""
DIGEST_FROM = 300
"""Tokens of notes that are passed on as they are; only more than that is worth a call to sum it up."""
TASK_SHARE = 4
"""One part in this many of the context is kept for an agent's task: its instruction, the draft, notes, new passages."""


def make_crew(
    kit: Kit,
    board: Board,
    budget: Budget,
    question: Question,
    person: PortraitNote,
    passages: Sequence[Passage],
    without: Collection[str],
    strict: bool,
) -> Crew:
    """Who works on the question, and how: decided by what models there are, what was found, and the budget.

    Raises ModelRefusedError for a question too long for the model where that is to be `strict`.
    """
    crew = Crew(board, None, "numeric", budget.deadline(AGENTS_SHARE), without, strict)
    model = kit.agents_model or kit.model
    if model is None:
        crew.decide("agents", "numeric", "no language model is set: the answer is quoted from the documents")
        return crew
    if not passages:
        crew.decide("agents", "numeric", "no passage was found: there is nothing to write from")
        return crew
    try:
        crew.desk = make_desk(kit, model, question, person, passages)
    except ModelRefusedError as error:
        crew.fail("model", error)
        return crew
    prefix = tokens(crew.desk.system + crew.desk.shared)
    crew.plan, why = budget.plan(prefix, kit.settings.max_tokens, 6)
    crew.decide("agents", crew.plan, why)
    if crew.plan == "numeric":
        crew.degrade("budget", why)
    return crew


def make_desk(
    kit: Kit, model: LanguageModel, question: Question, person: PortraitNote, passages: Sequence[Passage]
) -> Desk:
    """The desk: passages are shortened until prompt and completion fit the model's context, the question never is.

    Raises ModelRefusedError where the question alone leaves no room for passages.
    """
    settings = kit.settings
    known = {"known": person.known, "statements": [used.text for used in person.statements]}
    known |= {"interests": person.interests, "need": person.need, "question": question.text}
    system = render("answer/system", not_found=NOT_FOUND)
    frame = tokens(
        system + render("answer/shared", passages=[p.model_copy(update={"text": ""}) for p in passages], **known)
    )
    room = settings.model_context - settings.model_context // TASK_SHARE - settings.max_tokens - frame
    if room < 50 * len(passages):
        raise ModelRefusedError(
            f"the question is too long for {model.name}: its context is {settings.model_context} tokens"
        )
    texts = fit([passage.text for passage in passages], room)
    shown = [{"title": p.title, "text": text} for p, text in zip(passages, texts, strict=True)]
    return Desk(model, system, render("answer/shared", passages=shown, **known))


async def digest(crew: Crew) -> None:
    """The message pool in short: summed up by the model only where it is long and each agent has a call of its own."""
    long = tokens(notes_text(Reading(crew.board, DIGEST.reads))) > DIGEST_FROM
    if long and crew.plan == "separate" and DIGEST.name not in crew.without:
        await crew.perform(DIGEST)
    else:
        await DIGEST.reckon(crew.board)


def reply_prompt(kit: Kit, board: Board, desk: Desk, extra: Sequence[Passage], known: int) -> Prompt:
    """The cognitive agent's prompt: it sees question, passages, draft and digest, and what was found since."""
    room = kit.settings.model_context // TASK_SHARE // 2
    draft, pool = board.latest(DraftNote), board.latest(DigestNote)
    short = fit([draft.answer if draft else "", pool.text if pool else ""], room)
    texts = fit([passage.text for passage in extra], room)
    shown = [
        {"number": known + place, "title": passage.title, "text": text}
        for place, (passage, text) in enumerate(zip(extra, texts, strict=True), 1)
    ]
    return desk.prompt(
        "cognitive",
        "answer/reply",
        extra=shown,
        draft=short[0],
        notes=short[1],
        max_words=kit.settings.answer_words,
    )
