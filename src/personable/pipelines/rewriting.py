"""Rewriting: what is said now, so that it stands alone, by the language model or, without one, by rules.

The last turns resolve what the utterance leaves open (three, as in the source on TREC iKAT, CEUR-WS 3784, short 3).
Neither way may add what nobody said.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from personable.agent import Agent, Reading
from personable.notes import HistoryNote, QuestionNote, RewriteNote
from personable.prompts import fit, render
from personable.retrieval.analysis import Analyser
from personable.text import words
from personable.types import PastTurn

TURNS = 3
TURN_TOKENS = 120
"""Tokens of each earlier utterance and response that a prompt shows, on average."""
SALIENT = 8
SHORT = 2
"""An utterance with at most this many content terms leans on what was said before."""
_FADING = 0.6
"""How much of its weight a turn keeps with each turn after it."""
_LEANING = re.compile(
    r"\b(?:it|its|they|them|their|theirs|this|these|those|he|him|his|she|her|hers|one|ones|first|second|third|last|"
    r"other|others|another|else|same|both|either|there|instead|similar|alternatives?|"
    r"esso|essa|essi|esse|quello|quella|quelli|quelle|questo|questa|questi|queste|primo|prima|secondo|seconda|"
    r"altro|altra|altri|altre|stesso|stessa|lì|invece)\b"
    r"|\bthat\b(?!\s+(?:i|you|we|he|she|they|is|are|was|can|will|have|has)\b)"
    r"|(?:^|[.!?]\s)\W*(?:and|but|so|or|what about|how about|why|e|ma|perché|come mai)\b",
    re.I,
)
# Words of politeness and of asking: they carry no subject from one turn to the next.
_CHATTER = frozenset(
    "be yes ok okay sure let's nice great thanks thank hello hi well tell want know help find finding like look "
    "looking need question answer suggest recommend give show think say sounds good please useful idea "
    "sì va bene certo grazie ciao dimmi vorrei voglio so cerco trovare consigli consigliami aiutami".split()
)
_NAME = re.compile(r"(?<![.!?]\s)(?<!^)\b[A-Z][\w'’-]+(?:\s+[A-Z][\w'’-]+)*")


def by_rules(utterance: str, turns: Sequence[PastTurn], language: str = "en") -> str:
    """`utterance`, followed in brackets by the salient terms of the last turns where it leans on them.

    It leans where it holds a word that points back ("it", "the other ones", "what about") or at most `SHORT` content
    terms. Terms are the content words of what the person said and the names in what was replied; each turn weighs
    0.6 of the one after it, and a turn that itself leans passes on to the one before.
    """
    if not turns or not leans(utterance, language):
        return utterance
    terms = salient(utterance, turns[-TURNS:], language)
    return f"{utterance} ({', '.join(terms)})" if terms else utterance


def leans(utterance: str, language: str = "en") -> bool:
    """Whether an utterance can only be understood with what was said before it."""
    return bool(_LEANING.search(utterance)) or len(Analyser(language).content(utterance)) <= SHORT


def salient(utterance: str, turns: Sequence[PastTurn], language: str) -> list[str]:
    """At most `SALIENT` words and names of `turns` that the utterance does not hold, heaviest first."""
    analyser = Analyser(language)
    own = set(analyser.terms(utterance))
    weights: dict[str, float] = {}
    for age, turn in enumerate(reversed(turns)):
        names = _NAME.findall(turn.response)
        for text, worth in [*((word, 1.0) for word in _content(turn.utterance, language)), *((n, 0.5) for n in names)]:
            if not set(analyser.terms(text)) <= own:
                weights[text] = weights.get(text, 0.0) + worth * _FADING**age
        if not leans(turn.utterance, language):
            break
    chosen: list[str] = []
    covered: set[str] = set()
    for text in sorted(weights, key=lambda text: -weights[text]):
        terms = set(analyser.terms(text))
        if not terms <= covered:
            chosen.append(text)
            covered |= terms
    return chosen[:SALIENT]


def _content(text: str, language: str) -> list[str]:
    analyser = Analyser(language)
    kept = set(analyser.content(text))
    found = (word for word in words(text) if word not in _CHATTER and set(analyser.terms(word)) & kept)
    return list(dict.fromkeys(found))


def shared(utterance: str, turns: Sequence[PastTurn]) -> str:
    """The beginning that all prompts for one utterance share: the last turns, each bounded in tokens, and itself."""
    texts = fit([text for turn in turns for text in (turn.utterance, turn.response)], 2 * TURN_TOKENS * len(turns))
    shown = [PastTurn(utterance=said, response=reply) for said, reply in zip(texts[::2], texts[1::2], strict=True)]
    return render("converse/shared", utterance=utterance, turns=shown)


def rewriter(language: str) -> Agent[RewriteNote]:
    """The rewriting agent; its stand-in goes by rules, and it also stands in where a model added something."""

    def rules(reading: Reading) -> RewriteNote:
        return RewriteNote(text=by_rules(reading[QuestionNote].question.text, reading[HistoryNote].turns, language))

    async def numeric(reading: Reading) -> RewriteNote:
        return rules(reading)

    def tidy(note: RewriteNote, reading: Reading) -> RewriteNote:
        text, said = " ".join(note.text.split()), reading[QuestionNote].question.text
        kept = only_said(text, said, reading[HistoryNote].turns, language)
        return RewriteNote(text=text) if kept else rules(reading)

    seen = (QuestionNote, HistoryNote)
    return Agent("rewriting", seen, RewriteNote, numeric, "converse/rewrite", tidy=tidy, max_tokens=160)


def only_said(rewrite: str, utterance: str, turns: Sequence[PastTurn], language: str) -> bool:
    """Whether a rewrite holds nothing but what was said: each content term of it stands in the utterance or in a turn,
    it keeps at least half of the utterance's, and it is no answer several times as long."""
    analyser = Analyser(language)
    own = set(analyser.content(utterance))
    known = set(analyser.terms(utterance))
    for turn in turns:
        known |= set(analyser.terms(f"{turn.utterance} {turn.response}"))
    new = set(analyser.content(rewrite))
    if not new or len(words(rewrite)) > 2 * len(words(utterance)) + 30:
        return False
    return new <= known and len(own & new) >= len(own) / 2
