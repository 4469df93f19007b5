"""What goes out of certified text: sentences in a row, or those that a model chose, each through the guard."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence

from personable.agent import Desk
from personable.certified_guard import CertifiedGuard
from personable.errors import ModelError
from personable.kit import Kit
from personable.notes import GuardNote, ReplyNote
from personable.pipelines.crew import Crew
from personable.pipelines.replying import NOT_FOUND, Writer, write_reply
from personable.prompts import fit, render
from personable.text import sentences, tokens, words
from personable.types import Passage

PROMPT_TOKENS = 700
"""Tokens of the context that are kept for rules and instruction."""
_LIST_MARK = re.compile(r"^\s*(?:[-*•‣·]|#{1,6})\s+")
_PARTED = re.compile(r"[.!?;:\n…。]")
_COUNTED = re.compile(
    r"\d[\d.,/]*\s*[-–]?\s*(?:[^\W\d_]|[%°µ])"
    r"|\b(?:two|three|four|five|six|seven|eight|nine|ten|twelve|half|double|hundred|due|tre|quattro|cinque|sei|sette|otto|"
    r"nove|dieci|mezz[ao]|doppi[ao]|cento)\s+[^\W\d_]"
    r"|\b(?:once|twice|daily|hourly|weekly|times|volte|al giorno|every|each|ogni)\b"
    r"|\b(?:tablet|pill|capsule|drop|puff|spoon|dose|unit|compress|pillol|capsul|gocc|dosi|cucchiai|unità)",
    re.IGNORECASE,
)
_TOLD = "|".join(
    """
    please always never sempre mai take stop use drink eat give apply avoid call go start keep try increase reduce
    double skip inject swallow put ask see get wait ignore tell say bere dia dai applica applichi faccia fai vada vai
    mangi mangia (?:prend|smett|bev|riduc|interromp|sospend|assum)(?:a|i|ete|ere)
    (?:us|evit|chiam|aument|aspett|ignor)(?:a|i|ate|are)
    """.split()
)
_ORDER = re.compile(
    r"\b(?:should|must|ought|shall|need(?:s|ed)? to|have to|has to|dev[eio]\w*|dovre\w+|bisogna|occorre)\b"
    r"|(?<!\bi )\b(?:don['’]?t|do not)\b"
    rf"|(?:^|[,(\"“”«—–]|\b(?:to|then|so|just|non|poi))\s*(?:{_TOLD})\b",
    re.IGNORECASE,
)
_FRAMES = {
    "en": {
        "plain": "You asked about {about}",
        "evaluative": "You asked for a judgement about {about}, and certified texts only say what holds in general",
        "said": "; you said: “{statement}”",
        "none": "No certified text answers this question, so nothing is advised here.",
    },
    "it": {
        "plain": "Ha chiesto di {about}",
        "evaluative": "Ha chiesto un giudizio su {about}, e i testi certificati dicono solo che cosa vale in generale",
        "said": "; ha detto: «{statement}»",
        "none": "Nessun testo certificato risponde a questa domanda, perciò qui non si consiglia nulla.",
    },
}
"""Templates by the collection's language (others: English). They hold no advice and need no source."""


def nothing_certified(language: str) -> str:
    """What is said where no certified text bears on a question."""
    return _FRAMES.get(language, _FRAMES["en"])["none"]


def frame(language: str, about: str, evaluative: bool, statement: str = "") -> str:
    """The one framing sentence: what was asked about, in the certified text's own name for it, and what the person
    confirmed of themselves."""
    templates = _FRAMES.get(language, _FRAMES["en"])
    framed = templates["evaluative" if evaluative else "plain"].format(about=about.strip(" ?."))
    said = templates["said"].format(statement=" ".join(statement.split()).rstrip(".")) if statement else ""
    return f"{framed}{said}."


def restates(statement: str) -> bool:
    """Whether a statement may stand in the framing sentence, where a reader could take it for advice.

    It is one sentence, without a number of anything ("20 mg", "two tablets", "twice a day") and without an order ("take
    …", "you should …"). "I am in week 30" may stand there. This errs on the side of no.
    """
    return not (_PARTED.search(statement.rstrip(" .!\n")) or _COUNTED.search(statement) or _ORDER.search(statement))


async def choose(
    kit: Kit, crew: Crew, parts: Sequence[Passage], question: str, said: Sequence[str], language: str
) -> Writer | None:
    """The sentences that the model chose and the guard let pass; None where none is left, or no model is there. The
    model is shown what the person `said`."""
    model = kit.model
    if model is None or crew.desk is None:
        return None
    writer = Writer(crew.board, list(parts), kit.settings.answer_words)
    room = kit.settings.model_context - kit.settings.max_tokens - PROMPT_TOKENS - tokens(question)
    texts = fit([part.text for part in parts], max(room, 0))
    shown = [{"title": part.title, "text": text} for part, text in zip(parts, texts, strict=True)]
    desk = Desk(
        model,
        render("certify/system", not_found=NOT_FOUND),
        render("certify/shared", passages=shown, statements=list(said), question=question),
    )
    prompt = desk.prompt("certified reply", "certify/reply", max_words=kit.settings.answer_words)
    try:
        async with asyncio.timeout_at(crew.deadline):
            await write_reply(writer, CertifiedGuard(parts, language), desk, prompt, kit.settings.max_tokens)
    except (ModelError, TimeoutError) as error:
        crew.fail("certified reply", error)
    if writer.written.found:
        return writer
    why = "the model declined" if writer.written.declined else "nothing that the model wrote is an extract of them"
    crew.decide("reply", "verbatim", f"{why}: the first certified text is quoted")
    return None


def recite(kit: Kit, crew: Crew, parts: Sequence[Passage], question: str, language: str) -> Writer:
    """The first text verbatim: its sentences in a row up to the set length, from the beginning of a document, or from
    the sentence of a later segment that speaks most to the question."""
    writer = Writer(crew.board, list(parts), kit.settings.answer_words)
    guard, first = CertifiedGuard(parts, language), parts[0]
    lines = [one.text for one in sentences(first.text, language) if words(one.text) and not one.text.startswith("#")]
    start = 0
    if not lines:
        crew.degrade("reply", f"{first.title!r} holds no sentence to quote where it bears on the question")
    elif first.start > 0 and kit.embedder is not None:
        start = int(kit.similar(question, lines).argmax())
    for line in lines[start:]:
        bare = " ".join(_LIST_MARK.sub("", line).split()).lstrip(")].,;: ")
        if not writer.take(guard.check(f"{bare} [1]")):
            break
    crew.board.post("guard", GuardNote(verdicts=writer.verdicts))
    crew.board.post("certified reply", ReplyNote(text=writer.written.text))
    return writer
