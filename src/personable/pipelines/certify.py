"""`certify`: an answer backed only by certified text, after CEUR-WS 3784, short 1, with a stricter end.

An emergency phrase brings the approved emergency text first. The message is read (what it asks, misspelt names mended);
a hypothetical document may help to search; documents are ranked and the best three, checked against the bytes that were
certified, are the sources. What is said are extracts of them, through the guard, behind one framing sentence. Where no
certified text bears on the question, that is said, and nothing else.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence
from pathlib import Path
from time import monotonic

from personable import tracing
from personable.agent import Desk
from personable.board import Board
from personable.errors import DataError, PersonableError, UsageError
from personable.kit import Kit
from personable.notes import AnswerNote, CertifiedNote, PragmaticsNote, QuestionNote
from personable.pipelines.budget import NOTE_TOKENS, TASK_TOKENS, Budget
from personable.pipelines.certified_finding import (
    METHODS,
    Method,
    find_certified,
    first_search,
    hypothesis,
    said_of,
    sources,
)
from personable.pipelines.certified_reply import choose, frame, nothing_certified, recite, restates
from personable.pipelines.certify_agents import is_evaluative
from personable.pipelines.crew import Crew
from personable.pipelines.knowing import LONGEST_QUESTION, held_words, remember, see_person
from personable.pipelines.replying import Written
from personable.prompts import fit, render
from personable.retrieval.cards import Cards
from personable.retrieval.certified import stored_approval
from personable.retrieval.lay import Asked
from personable.text import tokens
from personable.types import Answer, Certificate, Certification, CertifiedAnswer, Passage, Question, Used

SHOWN_TOKENS = 1500
"""Tokens of a message that the searching agents are shown; of a longer one the questions in it."""


@tracing.pipeline("certify")
async def certify(
    kit: Kit,
    cards: Cards,
    question: Question,
    *,
    method: Method = "default",
    board: Board | None = None,
    without: Collection[str] = (),
    keep: bool = True,
    strict: bool = False,
) -> CertifiedAnswer:
    """Answer `question` out of the certified collection `cards`, which is the kit's.

    `method` is the project's default or one of the published ones; `without` names agents to leave out (pragmatics,
    hydoc). Raises UsageError for an empty or immense question
    and an unknown method, NotFoundError for an unknown person, DataError that names a document which was altered, and
    with `strict` ModelError where a model fails. None of these hides an emergency: where the question holds one of its
    phrases, the approved text is returned alone instead (`emergency_alone`), and only an unknown method is raised.
    """
    board = board or Board()
    try:
        if method not in METHODS:
            raise UsageError(f"no method {method!r}; there are {', '.join(METHODS)}")
        alarm = await asyncio.to_thread(cards.manifest.alarm, question.text)
        if alarm:
            board.say(f"{alarm}\n\n")
        try:
            return await _certify(kit, cards, question, method, alarm, board, without, keep, strict)
        except PersonableError as error:
            if not alarm:
                raise
            return emergency_alone(question, alarm, method, board, error)
    finally:
        board.close()


def emergency_of(
    folder: Path, question: Question, method: Method, board: Board, error: PersonableError
) -> CertifiedAnswer:
    """The approved emergency text where the collection in `folder` could not even be opened, for `error`.

    Raises `error` where the question holds no emergency phrase, or the manifest cannot be trusted either.
    """
    try:
        alarm = stored_approval(folder).alarm(question.text)
    except DataError:
        raise error from None
    if not alarm:
        raise error
    board.say(alarm)
    return emergency_alone(question, alarm, method, board, error)


def emergency_alone(
    question: Question, alarm: str, method: Method, board: Board, error: PersonableError
) -> CertifiedAnswer:
    """The approved emergency text `alarm` where answering failed with `error`, which stands under `degraded`. It is
    posted and not kept."""
    certification = Certification(method=method, emergency=alarm)
    degraded = [f"answer: {error}"]
    answer = Answer(
        id=board.id,
        question=question.text,
        text=alarm,
        found=False,
        person=question.person,
        degraded=degraded,
        tokens=board.tokens,
        calls=board.calls,
    )
    board.post("certify", CertifiedNote(certification=certification))
    board.post("certify", AnswerNote(answer=answer))
    return CertifiedAnswer(answer=answer, certification=certification)


async def _certify(
    kit: Kit,
    cards: Cards,
    question: Question,
    method: Method,
    alarm: str,
    board: Board,
    without: Collection[str],
    keep: bool,
    strict: bool,
) -> CertifiedAnswer:
    if not 0 < len(question.text.strip()) <= LONGEST_QUESTION:
        raise UsageError(f"a question has 1 to {LONGEST_QUESTION} characters; this one has {len(question.text)}")
    budget = Budget.of(kit.settings)
    held = await held_words(kit, question.person)
    board.post("person", QuestionNote(question=question))
    person = await see_person(kit, question, board)
    asked = await asyncio.to_thread(cards.lay.read, question.text)
    crew = _crew(kit, board, budget, method, without, strict)
    _tell_reading(crew, asked)
    first: list[Passage] = []
    if method == "cot" or (method == "zero-shot" and crew.desk is None):
        first = await first_search(cards, asked, board)
    if crew.desk is not None:
        crew.desk = searcher(kit, crew.desk, question.text, asked, first)
    hydoc = await hypothesis(cards, asked, method, crew)
    said = await said_of(kit, question, person)
    hits = await find_certified(kit, cards, asked, hydoc, method, said, board)
    checked = await asyncio.to_thread(sources, cards, asked, hits)
    sayable = [one for one in said if one in person.statements]
    written, certification, shown = await _reply(kit, cards, question, asked, sayable, crew, checked)
    certification = certification.model_copy(update={"method": method, "emergency": alarm})
    used = said if method == "default" else shown
    result = _result(kit, cards, question, board, used, written, certification, crew, budget)
    board.post("certify", CertifiedNote(certification=certification))
    board.post("certify", AnswerNote(answer=result))
    if keep:
        await remember(kit, question, board, result, held)
    return CertifiedAnswer(answer=result, certification=certification)


def _crew(kit: Kit, board: Board, budget: Budget, method: Method, without: Collection[str], strict: bool) -> Crew:
    """Who searches and chooses: a model where there is one and the budget allows its calls."""
    crew = Crew(board, None, "numeric", budget.deadline(), without, strict)
    model = kit.agents_model or kit.model
    calls = {"default": 2, "zero-shot": 2, "cot": 3}[method]
    needed = calls * (kit.settings.max_tokens + TASK_TOKENS + NOTE_TOKENS)
    if model is None:
        crew.decide("agents", "numeric", "no language model is set: certified text is quoted")
    elif budget.calls < calls or budget.tokens < needed:
        why = f"{budget.calls} calls and {budget.tokens} tokens do not allow {calls} calls of about {needed} tokens"
        crew.decide("agents", "numeric", why)
        crew.degrade("budget", why)
    else:
        crew.plan, crew.desk = "separate", Desk(model, "", "")
        crew.decide("agents", "separate", f"{calls} calls fit")
    return crew


def _tell_reading(crew: Crew, asked: Asked) -> None:
    mended = ", ".join(f"{wrong} read as {right}" for wrong, right in asked.mended.items())
    crew.decide("question", asked.focus[:500], mended or "no word seemed misspelt")


def searcher(kit: Kit, desk: Desk, question: str, asked: Asked, found: Sequence[Passage]) -> Desk:
    """The desk of the agents that search: the question, or what it asks where it is long, and what was found first."""
    shown = question if tokens(question) <= SHOWN_TOKENS else fit([asked.focus], SHOWN_TOKENS)[0]
    room = kit.settings.model_context - kit.settings.max_tokens - SHOWN_TOKENS - 2 * TASK_TOKENS
    texts = fit([one.text for one in found], max(room, 0))
    passages = [{"title": one.title, "text": text} for one, text in zip(found, texts, strict=True)]
    return Desk(desk.model, render("certify/searcher"), render("certify/asked", question=shown, found=passages))


async def _reply(
    kit: Kit,
    cards: Cards,
    question: Question,
    asked: Asked,
    said: Sequence[Used],
    crew: Crew,
    checked: Sequence[tuple[Passage, Passage]],
) -> tuple[Written, Certification, list[Used]]:
    """What goes out, where it comes from, and which of the statements `said` were shown to the model or the reader;
    nothing where no certified text bears on the question."""
    language, board = cards.manifest.language, crew.board
    note = board.latest(PragmaticsNote)
    evaluative = note.evaluative if note else is_evaluative(question.text)
    certification = Certification(method="", evaluative=evaluative)
    if not checked:
        crew.decide("reply", "nothing", "no certified text bears on the question")
        board.say(nothing_certified(language))
        return Written(), certification, []
    parts, best = [part for part, _ in checked], checked[0][1]
    about = str(best.meta["focus"] or best.title)
    framed = next((one for one in said if restates(one.text)), None)
    framing = frame(language, about, evaluative, framed.text if framed else "")
    board.say(f"{framing} ")
    writer = await choose(kit, crew, parts, asked.focus, [one.text for one in said], language)
    verbatim = writer is None
    if writer is None:
        writer = await asyncio.to_thread(recite, kit, crew, parts, asked.focus, language)
    update = {"framing": framing, "verbatim": verbatim, "sources": _certificates(checked, writer.written)}
    shown = [one for one in said if one == framed or crew.desk is not None]
    return writer.written, certification.model_copy(update=update), shown


def _certificates(checked: Sequence[tuple[Passage, Passage]], written: Written) -> list[Certificate]:
    """The sources: those that the text cites under the numbers that it gives them, then the others."""
    cited = [citation.passage_id for citation in written.citations]
    places = {part.id: place for place, (part, _) in enumerate(checked)}
    order = sorted(places, key=lambda id: (cited.index(id) if id in cited else len(cited), places[id]))
    return [_certificate(number, checked[places[id]][1]) for number, id in enumerate(order, 1)]


def _certificate(number: int, document: Passage) -> Certificate:
    names = ("publisher", "url", "version", "approver", "approved", "sha256")
    fields = {name: str(document.meta[name]) for name in names}
    return Certificate(number=number, document=document.document, title=document.title, **fields)


def _result(
    kit: Kit,
    cards: Cards,
    question: Question,
    board: Board,
    used: list[Used],
    written: Written,
    certification: Certification,
    crew: Crew,
    budget: Budget,
) -> Answer:
    body = f"{certification.framing} {written.text}" if written.found else nothing_certified(cards.manifest.language)
    return Answer(
        id=board.id,
        question=question.text,
        text="\n\n".join(part for part in (certification.emergency, body) if part),
        found=written.found,
        citations=written.citations,
        person=question.person,
        used=used,
        degraded=crew.degraded + (["reply: cut at its length limit"] if written.cut else []),
        model=kit.model.name if kit.model else "quote",
        tokens=board.tokens,
        calls=board.calls,
        seconds=round(monotonic() - budget.started, 4),
    )
