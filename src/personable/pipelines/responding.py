"""Responding in a conversation: who works on it, what the model is shown, and when to ask the person back."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from personable.agent import Agent, Desk, Reading
from personable.board import Board
from personable.kit import Kit
from personable.llm.base import Prompt
from personable.notes import FeedbackNote, GateNote, HistoryNote, PortraitNote, QuestionNote
from personable.pipelines.budget import TASK_TOKENS, Budget
from personable.pipelines.conversation import Utterance
from personable.pipelines.crew import Crew
from personable.pipelines.question_back import one_question
from personable.pipelines.replying import NOT_FOUND
from personable.pipelines.rewriting import shared
from personable.pipelines.self_statements import said_of_self
from personable.prompts import fit, render
from personable.text import tokens, words
from personable.types import Passage, Used

LEAST_PASSAGE = 50
"""Tokens of a passage below which it is not worth showing."""
STATEMENT_TOKENS = 200
NEAR = 0.25
"""A statement that scores less says nothing about what was asked; the gate counts from here, too."""
_ITALIAN = frozenset("che cosa quale quali dovrei posso consigli consiglia meglio perché".split())
_ASK = {
    "en": "What should I know about you to help you better with this?",
    "it": "Che cosa dovrei sapere di te per aiutarti meglio in questo?",
}


def converse_crew(
    kit: Kit, board: Board, budget: Budget, said: str, history: HistoryNote, without: Collection[str], strict: bool
) -> Crew:
    """Who works on the utterance: the model where one is set, the utterance leaves room in its context and the budget
    allows calls; else rules and quotation."""
    crew = Crew(board, None, "numeric", budget.deadline(), without, strict)
    model = kit.model
    if model is None:
        crew.decide("response", "numeric", "no language model is set: the response is quoted from the documents")
        return crew
    desk = Desk(model, render("converse/system", not_found=NOT_FOUND), shared(said, history.turns))
    prefix = tokens(desk.system + desk.shared)
    last = prefix + TASK_TOKENS + kit.settings.max_tokens + STATEMENT_TOKENS + LEAST_PASSAGE
    if last > kit.settings.model_context:
        why = f"the utterance is too long for {model.name}: its context is {kit.settings.model_context} tokens"
    elif budget.calls < 1 or budget.tokens < last:
        why = f"{budget.calls} calls and {budget.tokens} tokens allow no call of about {last} tokens"
    else:
        crew.desk = desk
        both = budget.calls >= 3 and budget.tokens >= last + 2 * (prefix + TASK_TOKENS)
        crew.plan = "separate" if both else "reply only"
        crew.decide("response", crew.plan, f"{budget.calls} calls and {budget.tokens} tokens")
        return crew
    crew.decide("response", "numeric", why)
    crew.degrade("response", why)
    return crew


def respond_prompt(
    kit: Kit, desk: Desk, said: Utterance, statements: Sequence[Used], passages: Sequence[Passage]
) -> Prompt:
    """The responder's prompt: statements and passages are shortened until it fits the context, the utterance never."""
    known = fit([used.text for used in statements], STATEMENT_TOKENS)
    rewrite = "" if said.rewrite == said.text else said.rewrite
    frame = tokens(desk.system + desk.shared + rewrite) + sum(map(tokens, known)) + TASK_TOKENS
    texts = fit([one.text for one in passages], kit.settings.model_context - kit.settings.max_tokens - frame)
    shown = [{"title": one.title, "text": text} for one, text in zip(passages, texts, strict=True)]
    words = kit.settings.answer_words
    return desk.prompt(
        "responder", "converse/respond", statements=known, passages=shown, rewrite=rewrite, max_words=words
    )


def lacks_the_person(gate: GateNote, person: PortraitNote, said: Utterance, used: Sequence[Used]) -> bool:
    """Whether personal context is essential and missing: a judgement is asked for oneself, by somebody who lets that
    count; no statement of theirs is near or moved a passage, and they said nothing of themselves in these turns."""
    wanted = gate.evidence.get("first person", 0) > 0 and gate.evidence.get("asks for judgement", 0) > 0
    near = max((one.score for one in [*person.statements, *person.withheld]), default=0.0)
    told = any(said_of_self(text) for text in [said.text, *(turn.utterance for turn in said.turns)])
    return wanted and person.dial != "off" and near < NEAR and not used and not told


def clarifier(language: str) -> Agent[FeedbackNote]:
    """Asks back, in the language of the utterance; its stand-in has one question for each language that it knows."""

    def usual(reading: Reading) -> FeedbackNote:
        spoken = "it" if _ITALIAN & set(words(reading[QuestionNote].question.text)) else language
        return FeedbackNote(ask=_ASK.get(spoken, _ASK["en"]))

    async def numeric(reading: Reading) -> FeedbackNote:
        return usual(reading)

    def tidy(note: FeedbackNote, reading: Reading) -> FeedbackNote:
        asked = one_question(note.ask)
        return FeedbackNote(ask=asked) if len(words(asked)) >= 3 else usual(reading)

    seen = (QuestionNote, HistoryNote)
    return Agent("clarifying", seen, FeedbackNote, numeric, "converse/clarify", tidy=tidy, max_tokens=80)
