"""The two agents of `certify` that search, after the certified medical chatbot (CEUR-WS 3784, short 1), and stand-ins.

Pragmatic context: what a question presupposes, implies, and whether it is evaluative. HyDoc: a hypothetical document
(Gao et al. 2023), which is searched with and never shown.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

from personable.agent import Agent, Reading
from personable.notes import HydocNote, PassagesNote, PragmaticsNote, QuestionNote
from personable.retrieval.analysis import Analyser

FEEDBACK = 5
"""First results that a question is expanded from."""
TERMS = 15
"""Terms that they add."""
_EVALUATIVE = re.compile(
    r"\b(?:is (?:it|this|that)|are (?:they|these)|would it be)\b[^.?!]{0,40}\b(?:normal|ok(?:ay)?|safe|bad|good|"
    r"dangerous|harmful|right|wrong|serious|worth|better|advisable|possible)\b"
    r"|(?<!how )(?<!what )(?<!where )(?<!when )(?<!who )\b(?:should|must|may|can|could) (?:i|we|he|she|they|my \w+)\b"
    r"|\b(?:do|would) you (?:think|recommend|advise|rate|suggest)\b|\bis (?:that|this) right\b"
    r"|\byour (?:opinion|position)\b|\bam i\b|\bis there (?:a|any) (?:problem|risk|harm|danger)\b"
    r"|\b(?:any harm|who is right|good for me)\b"
    r"|\bè (?:normale|pericolos[oa]|grave|sicur[oa]|giusto|vero|meglio|consigliabile)\b|\bva bene\b|\bfa male\b"
    r"|\b(?:posso|devo|dovrei|può|potrei) \w+|\bc'è (?:da preoccuparsi|un rischio|pericolo)\b|\bmi consigli\w*\b",
    re.IGNORECASE,
)
_GIVEN = re.compile(
    r"\b(?:i (?:am|have|had|take|was)|i['’](?:m|ve)|my \w+ (?:is|has|was)|sono|ho|prendo|mi[ao] \w+ (?:è|ha))\b"
    r"[^.?!;]*",
    re.IGNORECASE,
)


def is_evaluative(question: str) -> bool:
    """Whether a question asks for a judgement ("is it normal that …", "should I …"), by rules, English and Italian."""
    return bool(_EVALUATIVE.search(question))


async def _pragmatics(reading: Reading) -> PragmaticsNote:
    question = reading[QuestionNote].question.text
    given = [match[0].strip() for match in _GIVEN.finditer(question)]
    return PragmaticsNote(presupposes=given[:3], evaluative=is_evaluative(question))


def _short(note: PragmaticsNote, reading: Reading) -> PragmaticsNote:
    return note.model_copy(
        update={
            "presupposes": [one[:200] for one in note.presupposes[:3]],
            "implies": [one[:200] for one in note.implies[:3]],
        }
    )


def context_text(note: PragmaticsNote | None) -> str:
    """The pragmatic context in words, one line each."""
    if note is None:
        return ""
    lines = [f"It takes as true: {one}" for one in note.presupposes] + [f"It implies: {one}" for one in note.implies]
    return "\n".join([*lines, *(["It asks for a judgement of the asker's own case."] if note.evaluative else [])])


def expansion(question: str, found: Sequence[str], language: str, terms: int = TERMS) -> str:
    """The question and the terms that stand out in the first results: the HyDoc's stand-in, without a model.

    After RM3 (Lavrenko & Croft 2001; Abdul-Jaleel et al. 2004): terms by their frequency in each result, results by
    rank; terms of the question and those in one result only leave.
    """
    analyser = Analyser(language)
    asked = set(analyser.content(question))
    weight: dict[str, float] = {}
    held: Counter[str] = Counter()
    spelt: dict[str, str] = {}
    for place, text in enumerate(found[:FEEDBACK], 1):
        words = re.findall(r"[^\W\d_]{3,}", text)
        counts = Counter(term for word in words for term in analyser.content(word) if spelt.setdefault(term, word))
        for term, count in counts.items():
            held[term] += 1
            weight[term] = weight.get(term, 0.0) + count / (sum(counts.values()) * place)
    new = [term for term in weight if term not in asked and held[term] >= min(2, len(found))]
    best = sorted(new, key=lambda term: (-weight[term], term))[:terms]
    return " ".join([question, *(spelt[term] for term in best)])


PRAGMATICS = Agent(
    "pragmatics", (QuestionNote,), PragmaticsNote, _pragmatics, "certify/pragmatics", tidy=_short, max_tokens=200
)


def hydoc_agent(language: str, focus: str, with_context: bool) -> Agent[HydocNote]:
    """The HyDoc for the question in `focus`. Its stand-in expands from what the first search found."""

    async def numeric(reading: Reading) -> HydocNote:
        note = reading.get(PassagesNote)
        return HydocNote(text=expansion(focus, [one.text for one in note.found] if note else [], language))

    def variables(reading: Reading) -> dict[str, Any]:
        return {"notes": context_text(reading.get(PragmaticsNote)) if with_context else ""}

    def tidy(note: HydocNote, reading: Reading) -> HydocNote:
        return HydocNote(text=note.text[:2000])

    reads = (QuestionNote, PassagesNote, PragmaticsNote)
    return Agent("hydoc", reads, HydocNote, numeric, "certify/hydoc", variables, tidy, max_tokens=250)
