"""`converse`: one utterance of a conversation, after personalised conversational search on TREC iKAT (CEUR-WS 3784, 3).

The last turns make the utterance stand alone; the person's statements are ranked for it; the gate says how much they
count; passages are found for the plain and the personal reading; the response is written from the best of both and
checked sentence by sentence; what the person said of themselves is proposed as a statement.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence
from dataclasses import replace
from time import monotonic

from personable import tracing
from personable.agent import Desk, lost
from personable.board import Board, Cost
from personable.errors import ModelError, UsageError
from personable.guard import Guard
from personable.kit import Kit
from personable.llm.counted import Counted
from personable.llm.sending import Sent, watched
from personable.notes import (
    AnswerNote,
    FeedbackNote,
    GateNote,
    HistoryNote,
    PortraitNote,
    QuestionNote,
    RewriteNote,
)
from personable.pipelines.budget import Budget
from personable.pipelines.conversation import StatementRanker, Utterance
from personable.pipelines.crew import Crew
from personable.pipelines.finding import find, listed
from personable.pipelines.gate import gate
from personable.pipelines.hearing import asking_part, earlier, heard, ranked_by, responses
from personable.pipelines.knowing import LONGEST_QUESTION, held_words, remember, see_person
from personable.pipelines.passage_ranking import FusedRanker, PassageRanker
from personable.pipelines.replying import (
    NOT_FOUND,
    QUOTED_FROM,
    Writer,
    Written,
    quote_reply,
    quoting_weights,
    write_reply,
)
from personable.pipelines.responding import clarifier, converse_crew, lacks_the_person, respond_prompt
from personable.pipelines.rewriting import rewriter
from personable.pipelines.statement_rankers import open_statement_ranker
from personable.types import Answer, Hit, PastTurn, Question, Used

REWRITING_SHARE = 0.3
"""Share of the budget's seconds after which rules rewrite instead of the model."""
RANKING_SHARE = 0.6
"""Share of the budget's seconds after which the embedder ranks statements instead of a ranker that asks a model."""
DEPTH = 100
"""Passages of each list: the source on iKAT found its top 5 candidates to be the bottleneck."""
BEST = 3
"""Statements that the response may know of."""
UNSUPPORTED = "nothing that the model wrote is supported by the passages; quoted instead"


@tracing.pipeline("converse")
async def converse(
    kit: Kit,
    question: Question,
    *,
    turns: Sequence[PastTurn] | None = None,
    ranker: StatementRanker | None = None,
    passage_ranker: PassageRanker | None = None,
    board: Board | None = None,
    without: Collection[str] = (),
    keep: bool = True,
    strict: bool = False,
) -> Answer:
    """Respond to an utterance (`question.text`) of a conversation; the whole story stands on `board`.

    Earlier turns are those of the person's session, or `turns` where they are given (oldest first, the last three are
    used). `ranker` orders the person's statements (None: the setting `statement_ranker`), `passage_ranker` the passages
    (None: `FusedRanker` with the kit's reranker); where one of them asks elsewhere, what may not leave is in no prompt.
    `without` names agents to leave out (`rewriting`, `clarifying`). With `keep`, response, board and turn are stored.
    Raises what `answer` raises, and UsageError for an unknown ranker; a model that fails raises ModelError only with
    `strict`, else stand-ins take over, as `degraded` says.
    """
    board, budget = board or Board(), Budget.of(kit.settings)
    try:
        kit.refuse_certified()
        size = len(question.text.strip())
        if not 0 < size <= LONGEST_QUESTION:
            raise UsageError(f"an utterance has 1 to {LONGEST_QUESTION} characters; this one has {size}")
        held = await held_words(kit, question.person)
        board.post("person", QuestionNote(question=question))
        passage_ranker = passage_ranker or FusedRanker(kit.reranker)
        kit = replace(kit, asks_elsewhere=passage_ranker.remote or (ranker is not None and ranker.remote))
        history = await earlier(kit, question, turns)
        board.post("person", history)
        crew = converse_crew(kit, board, budget, question.text, history, without, strict)
        result = await _converse(kit, question, ranker, passage_ranker, crew, budget)
        if keep:
            await remember(kit, question, board, result, held)
        return result
    finally:
        board.close()


async def _converse(
    kit: Kit,
    question: Question,
    ranker: StatementRanker | None,
    passage_ranker: PassageRanker,
    crew: Crew,
    budget: Budget,
) -> Answer:
    board, counted = crew.board, Counted(kit.model) if kit.model else None
    ranker = ranker or open_statement_ranker(kit.settings.statement_ranker, replace(kit, model=counted))
    history = board.latest(HistoryNote) or HistoryNote()
    meant = await _rewritten(kit, question, crew, history, budget)
    said = Utterance(text=question.text, turns=history.turns, rewrite=meant.text)
    person = await _known(kit, meant, said, ranker, counted, crew, budget)
    noted = gate(meant.text, person)
    board.post("gate", noted, score=noted.strength)

    best = person.statements[:BEST] if noted.strength else []
    found, used = await find(replace(kit, reranker=None), meant, person, noted.strength, board, DEPTH)
    hits = (await _ranked(passage_ranker, said, best, found, crew))[: kit.settings.passages]
    board.post("retriever", listed("fused", meant.text, hits, text=True))
    written = await _write(kit, said, best, hits, crew, crew.desk) if crew.desk is not None and hits else None
    if written is not None:
        used += [one for one in best if one.statement not in {moved.statement for moved in used}]
    else:
        written = await _quote(kit, said, used, hits, noted.strength, crew)
    if lacks_the_person(noted, person, said, used) and "clarifying" not in crew.without:
        await crew.perform(clarifier(kit.language))

    board.post("profile", heard(said, hits, await responses(kit, question)))
    result = _result(kit, question, board, crew, written, used, noted, budget)
    board.post("responder", AnswerNote(answer=result))
    return result


async def _rewritten(kit: Kit, question: Question, crew: Crew, history: HistoryNote, budget: Budget) -> Question:
    """The question as it stands alone. Without earlier turns it already does."""
    if not history.turns or "rewriting" in crew.without:
        crew.board.post("rewriting", RewriteNote(text=question.text))
        return question
    crew.deadline = budget.deadline(REWRITING_SHARE)
    await crew.perform(rewriter(kit.language))
    crew.deadline = budget.deadline()
    note = crew.board.latest(RewriteNote)
    return question.model_copy(update={"text": note.text}) if note else question


async def _known(
    kit: Kit,
    meant: Question,
    said: Utterance,
    ranker: StatementRanker,
    counted: Counted | None,
    crew: Crew,
    budget: Budget,
) -> PortraitNote:
    """The person as the ranker sees them, or, where its model fails or takes too long, as the kit's embedder does. What
    the model was asked for that, as `counted`, is posted."""
    with watched() as sent:
        try:
            async with asyncio.timeout_at(budget.deadline(RANKING_SHARE)):
                seen = await see_person(kit, meant, crew.board, ranked_by(ranker, said), ranker_remote=kit.remote)
        except (ModelError, TimeoutError) as error:
            crew.fail("statement ranking", error, _spent(counted, sent))
            return await see_person(kit, meant, crew.board)
    if counted is not None and counted.calls:
        crew.decide("statement ranking", "model", f"the ranker is {ranker.name}", _spent(counted, sent))
    return seen


def _spent(counted: Counted | None, sent: Sent) -> Cost | None:
    if counted is None:
        return None
    calls = max(counted.calls, sent.calls)  # what was cut off is only sent, what a recording answered only counted
    return Cost(
        model=counted.name,
        elsewhere=sent.elsewhere,
        answered=sent.answered,
        tokens=counted.tokens,
        calls=calls,
        dollars=counted.cost if calls == counted.calls > 0 else None,
    )


async def _ranked(
    ranker: PassageRanker, said: Utterance, best: Sequence[Used], found: Sequence[Hit], crew: Crew
) -> Sequence[Hit]:
    """The passages as the ranker orders them, or, where its model fails or takes too long, as they were found. What
    models were asked for that is posted; none counts as `answered`, as rankers need not read the utterance itself."""
    models = ", ".join(ranker.models)
    with watched() as sent:
        try:
            async with asyncio.timeout_at(crew.deadline):
                ranked = await ranker.rank(said, [one.text for one in best], found)
        except (ModelError, TimeoutError) as error:
            spent = lost(models, error, sent).model_copy(update={"answered": ()})
            crew.fail("passage ranking", error, spent)
            return found
    if sent.calls:
        spent = Cost(model=models, elsewhere=sent.elsewhere, tokens=sent.tokens, calls=sent.calls)
        crew.decide("passage ranking", "model", f"the ranker is {ranker.name}", spent)
    return ranked


async def _quote(
    kit: Kit, said: Utterance, used: list[Used], hits: Sequence[Hit], strength: float, crew: Crew
) -> Written:
    """The response without a model, or where nothing of what it wrote stands."""
    weights = quoting_weights(hits, strength)
    spoken_to = [hit.passage for hit in hits if weights[hit.passage.id] >= QUOTED_FROM * max(weights.values())]
    writer = Writer(crew.board, spoken_to, kit.settings.quote_words)
    readings = list(dict.fromkeys([said.rewrite, asking_part(said.rewrite)]))
    await quote_reply(kit, writer, readings, [weights[one.id] for one in spoken_to], used)
    return writer.written


async def _write(
    kit: Kit, said: Utterance, best: Sequence[Used], hits: Sequence[Hit], crew: Crew, desk: Desk
) -> Written | None:
    """What the model wrote and the guard let pass; None where nothing stands."""
    passages = [hit.passage for hit in hits]
    writer = Writer(crew.board, passages, kit.settings.answer_words)
    failed = False
    try:
        async with asyncio.timeout_at(crew.deadline):
            prompt = respond_prompt(kit, desk, said, best, passages)
            guard = Guard(passages, f"{said.text} {said.rewrite}", kit.language)
            await write_reply(writer, guard, desk, prompt, kit.settings.max_tokens)
    except (ModelError, TimeoutError) as error:
        crew.fail("response", error)
        failed = True
    if writer.written.found or writer.written.declined:
        return writer.written
    if not failed:
        crew.decide("response", "quoted", UNSUPPORTED)
        crew.degrade("response", UNSUPPORTED)
    return None


def _result(
    kit: Kit,
    question: Question,
    board: Board,
    crew: Crew,
    written: Written,
    used: list[Used],
    gate: GateNote,
    budget: Budget,
) -> Answer:
    feedback = board.latest(FeedbackNote)
    ask = feedback.ask if feedback else ""
    text = written.text if written.found else ask or NOT_FOUND
    if not written.found:
        board.say(text)
    return Answer(
        id=board.id,
        question=question.text,
        text=text,
        found=written.found,
        citations=written.citations,
        person=question.person,
        used=used,
        strength=gate.strength,
        ask=ask,
        degraded=crew.degraded + (["response: cut at its length limit"] if written.cut else []),
        model=kit.model.name if kit.model else "quote",
        tokens=board.tokens,
        calls=board.calls,
        seconds=round(monotonic() - budget.started, 4),
    )
