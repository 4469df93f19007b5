"""Writing the reply: sentence by sentence through the guard, with citations numbered as they appear."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass, field

from pydantic import BaseModel

from personable.agent import Desk, cost_of, lost
from personable.board import Board, Cost
from personable.errors import ModelError, ModelOutputError
from personable.guard import Checked, Checks, place, split_reply, split_stream, unmarked
from personable.kit import Kit
from personable.llm.base import Prompt, Reply
from personable.llm.exchange import estimated
from personable.llm.quote import Quotation, Quoted, quote
from personable.llm.sending import Sent, watched
from personable.notes import DraftNote, GuardNote, PortraitNote, QueriesNote, ReplyNote, Verdict
from personable.text import words
from personable.types import Citation, Hit, Passage, Used

NOT_FOUND = "Not found in your documents."
QUOTED_SHARE = 0.2
"""A sentence that scores less than this share of the best is not quoted. On the odd rows of the open QA sets this costs
no answer that the longer quotation holds (n = 375, at most 40 words)."""
PERSON_POWER = 6
"""How steeply a quoted passage loses weight with its distance from the question as this person means it."""
QUOTED_FROM = 0.4
"""A passage with less than this share of the best weight is not quoted: it speaks to somebody else."""
FULLY = 0.9
PERSONAL_FOUND = 0.1
"""What a sentence must score to be an answer where a statement pulls `FULLY`; set on the demonstration's people."""
_LIST_MARK = re.compile(r"(?m)^\s*(?:[-*•‣·]|#{1,6})\s+")


@dataclass
class Written:
    """A reply as it left: checked text and its citations; `found` once anything left, `cut` if something had to stay
    behind for length, `declined` if the model itself said that the passages hold no answer."""

    text: str = ""
    citations: list[Citation] = field(default_factory=list)
    found: bool = False
    cut: bool = False
    declined: bool = False


@dataclass
class Writer:
    """Collects checked sentences: numbers their citations from 1 as they appear and passes them on to the board."""

    board: Board
    passages: list[Passage]
    limit: int
    written: Written = field(default_factory=Written)
    verdicts: list[Verdict] = field(default_factory=list)
    _numbers: dict[int, int] = field(default_factory=dict)
    _said: set[str] = field(default_factory=set)
    _words: int = 0

    def take(self, checked: Checked) -> bool:
        """Add a sentence, unless it was said already. Returns False when no more fits into the length limit."""
        key = " ".join(words(checked.text))
        if not key or key in self._said:
            self.verdicts.append(checked.verdict)
            return True
        size = len(words(checked.text))
        if self._words and self._words + size > self.limit:
            self.verdicts.append(checked.verdict.model_copy(update={"action": "removed", "reason": "over the length"}))
            self.written.cut = True
            return False
        self._said.add(key)
        self._words += size
        self.verdicts.append(checked.verdict)
        marks = "".join(f"[{self._number(passage)}]" for passage in checked.verdict.passages)
        self._add(place(checked.text, marks))
        return True

    def quote(self, quotation: Quotation) -> None:
        """Add quoted sentences, each with a citation of its own that opens at the right place."""
        for quoted in quotation.sentences:
            if quoted.score < QUOTED_SHARE * quotation.score:
                continue
            passage = self.passages[quoted.passage]
            number = len(self.written.citations) + 1
            self.written.citations.append(
                _citation(number, passage, passage.start + quoted.start, passage.start + quoted.end, quoted.text)
            )
            self._add(place(_readable(passage.text, quoted), f"[{number}]"))

    def _number(self, passage: int) -> int:
        if passage not in self._numbers:
            self._numbers[passage] = len(self.written.citations) + 1
            cited = self.passages[passage - 1]
            end = cited.start + len(cited.text)
            self.written.citations.append(_citation(self._numbers[passage], cited, cited.start, end, ""))
        return self._numbers[passage]

    def _add(self, text: str) -> None:
        gap = " " if self.written.text else ""
        self.written.text += gap + text
        self.written.found = True
        self.board.say(gap + text)


def _readable(text: str, quoted: Quoted) -> str:
    """A quotation on one line, without list marks and citations of its own; "…" where it starts within a sentence."""
    before = text[: quoted.start].rstrip(" \t")
    inside = before and before[-1] not in '.!?:;\n•-*#。！？"”)'
    return ("… " if inside else "") + " ".join(unmarked(_LIST_MARK.sub("", quoted.text)).split())


def _citation(number: int, passage: Passage, start: int, end: int, text: str) -> Citation:
    return Citation(
        number=number,
        passage_id=passage.id,
        source=passage.source,
        title=passage.title,
        start=start,
        end=end,
        quote=text,
    )


def quoting_weights(hits: Sequence[Hit], strength: float) -> dict[str, float]:
    """For each passage what quoting it is worth to this person, 0 to 1; 1 for all where the person does not count."""
    return {hit.passage.id: hit.features.get("person", 1.0) ** (PERSON_POWER * strength) for hit in hits}


async def quote_reply(
    kit: Kit, writer: Writer, readings: Sequence[str], weights: list[float], used: Sequence[Used]
) -> None:
    """The numeric reply: the best sentences of the passages, quoted; `weights` are the person's, one a passage.

    `readings` are ways to read the question, the plain one first; for a person it is also asked as they mean it, with
    the statement that pulls most; the best of the quotations stands. Where the documents speak fully to that
    statement, less is asked of a sentence to be an answer.
    """
    meant = [f"{readings[0]} {one.text}" for one in used[:1]]
    quotations = [await _quote(kit, writer, text, weights) for text in (*readings, *meant)]
    quotation = max(quotations, key=lambda each: each.score)
    personal = bool(used) and used[0].score >= FULLY and quotation.score >= PERSONAL_FOUND
    enough = quotation.found or personal
    if enough:
        writer.quote(quotation)
    text = writer.written.text if enough else NOT_FOUND
    writer.board.post("cognitive", ReplyNote(text=text), score=round(quotation.score, 4))


def completed(board: Board) -> list[str]:
    """A follow-up question as it reads with what the session is about; none without a session."""
    person, queries = board.latest(PortraitNote), board.latest(QueriesNote)
    return queries.queries[:1] if queries and person and person.need else []


async def _quote(kit: Kit, writer: Writer, question: str, weights: list[float]) -> Quotation:
    return await asyncio.to_thread(
        quote,
        question,
        writer.passages,
        similar=kit.evidence,
        max_words=kit.settings.quote_words,
        weights=weights,
        language=kit.language,
    )


async def write_reply(writer: Writer, guard: Checks, desk: Desk, prompt: Prompt, max_tokens: int) -> None:
    """The model's reply, streamed: each sentence leaves when the guard has let it pass. Raises ModelError.

    A reply that breaks off, or is cut off from outside, has cost what was read and written until then, by estimate;
    that is posted here, with the verdicts.
    """
    reply: Reply[BaseModel] | None = None
    spent: Cost | None = None
    heard, pending, more = "", "", True
    with watched() as sent:
        try:
            async with aclosing(desk.model.stream(prompt, max_tokens)) as pieces:
                async for piece in pieces:
                    if isinstance(piece, Reply):
                        reply = piece
                        break
                    heard, pending = heard + piece, pending + piece
                    complete, pending = split_stream(pending)
                    more = more and _take_all(complete, guard, writer)
            if more:
                _take_all(split_reply(pending), guard, writer)
            if reply is None:
                raise ModelOutputError(f"model {desk.model.name!r} ended its stream without a reply")
        except (ModelError, asyncio.CancelledError) as error:
            spent = _broken_off(error, heard, prompt, desk, sent)
            raise
        finally:
            writer.board.post("guard", GuardNote(verdicts=writer.verdicts), cost=spent)
    writer.board.post("cognitive", ReplyNote(text=reply.text), cost=cost_of(reply, prompt, sent))
    writer.written.cut = writer.written.cut or bool(reply.cut)


def _broken_off(error: BaseException, heard: str, prompt: Prompt, desk: Desk, sent: Sent) -> Cost:
    """What a stream cost that did not come to its end. No provider counts such a one: what was `heard` of it, and the
    prompt, are estimated."""
    known = lost(desk.model.name, error, sent)
    if not heard:
        return known
    tokens = known.tokens + estimated(heard, prompt, known.model).tokens
    return known.model_copy(update={"prompt_hash": prompt.hash, "tokens": tokens, "dollars": None})


def stand_by_draft(writer: Writer, guard: Checks) -> bool:
    """Let a supported draft leave where the reply declined: small models repeat "not found" against their own draft."""
    draft = writer.board.latest(DraftNote)
    for sentence in split_reply(draft.answer) if draft else []:
        if not says_not_found(sentence):
            writer.take(guard.check(sentence))
    if writer.written.found:
        writer.board.post("guard", GuardNote(verdicts=writer.verdicts))
    return writer.written.found


def says_not_found(sentence: str) -> bool:
    """Whether a model's sentence is the agreed one for "the passages hold no answer"."""
    return words(NOT_FOUND) == words(sentence)[: len(words(NOT_FOUND))]


def _take_all(complete: list[str], guard: Checks, writer: Writer) -> bool:
    for sentence in complete:
        if says_not_found(sentence):
            writer.verdicts.append(Verdict(sentence=sentence, action="kept", reason="says that nothing was found"))
            writer.written.declined = True
            continue
        if not writer.take(guard.check(sentence)):
            return False
    return True
