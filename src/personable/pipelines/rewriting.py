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
from personable.text import sentences, words
from personable.types import PastTurn

TURNS = 3
TURN_TOKENS = 120
"""Tokens of each earlier utterance and response that a prompt shows, on average."""
SALIENT = 8
SHORT = 2
"""A fragment with at most this many content terms leans on what was said before; a whole question with one term."""
_FADING = 0.6
"""How much of its weight a turn keeps with each turn after it."""
_POINTS = re.compile(
    r"\b(?:it|its|they|them|their|theirs|this|these|those|he|him|his|she|her|hers|both|instead|similar|alternatives?|"
    r"esso|essa|essi|esse|quello|quella|quelli|quelle|questo|questa|questi|queste|stesso|stessa|invece)\b"
    r"|\bthat\b(?!\s+(?:i|you|we|he|she|it|they|is|are|was|can|will|have|has)\b)"
    r"|(?<!\bis )(?<!\bare )(?<!\bwas )(?<!\bwere )\bthere\b(?!\s+(?:is|are|was|were|any|a)\b)"
    r"|\b(?:what|who|anything|something) else\b|\b(?:which|other|last|first) ones?\b"
    r"|\bthe (?:same|others?|first|second|third|last|next)(?: ones?)?\b(?!\s+[a-z]{3})"
    r"|\b(?:il|la) (?:prim|second|terz|ultim|stess|altr)[oa]\b(?!\s+[a-zà-ù]{3})|\bgli altri\b|\ble altre\b"
    r"|\b(?:lo|li|ci|ne) (?:posso|puoi|può|possiamo|possono|devo|si|hai?|vend\w+|parl\w+)\b",
    re.I,
)
_GOES_ON = re.compile(
    r"(?:^|[.!?]\s)\W*(?:and|but|so|or|what about|how about|then|e|ed|ma|poi|e per|per quanto riguarda)\b"
    r"|^\W*(?:why|why not|how so|perché|come mai)\W*$",
    re.I,
)
# How whole questions begin: they need fewer words to stand alone than fragments do.
_WHOLE = re.compile(
    r"\W*(?:what|which|how|where|when|who|why|is|are|am|was|were|do|does|did|can|could|should|may|must|will|have|has|"
    r"che|cosa|quale|quali|come|dove|quando|chi|perché|è|sono|posso|si può|quanto|quanta|quanti|quante)\b",
    re.I,
)
# What follows one of these in the same sentence points back within it: "a cat, so that it lives long".
_WITHIN = re.compile(
    r"\b(?:that|because|if|when|while|whether|after|before|until|and|but|che|se|quando|mentre|perché)\b", re.I
)
# Words of politeness and of asking: they carry no subject from one turn to the next.
_CHATTER = frozenset(
    "be yes ok okay sure let's nice great thanks thank hello hi well tell want know help find finding like look "
    "looking need question answer suggest recommend give show think say sounds good please useful idea "
    "sì va bene certo grazie ciao dimmi vorrei voglio so cerco trovare consigli consigliami aiutami".split()
)
_DENIES = re.compile(r"\b(?:not|no|never|without|neither|nor|cannot|non|senza|mai|nessun\w*)\b|n['’]t\b", re.I)
_NUMBER = re.compile(r"\d+")
_NAME = re.compile(r"(?<![.!?]\s)(?<!^)(?<![\w'’-])[A-Z][\w'’-]+(?:\s+[A-Z][\w'’-]+)*")


def by_rules(utterance: str, turns: Sequence[PastTurn], language: str = "en") -> str:
    """`utterance`, followed in brackets by the salient terms of the last turns where it leans on them.

    It leans where it holds a word that points back ("it", "the other ones"), goes on ("what about"), or is a fragment.
    Terms are the content words of what the person said and the names in what was replied; each turn weighs 0.6 of the
    one after it, and a turn that itself leans passes on to the one before.
    """
    if not turns or not leans(utterance, language):
        return utterance
    terms = salient(utterance, turns[-TURNS:], language)
    return f"{utterance} ({', '.join(terms)})" if terms else utterance


def leans(utterance: str, language: str = "en") -> bool:
    """Whether an utterance can only be understood with what was said before it."""
    analyser = Analyser(language)
    size = len(analyser.content(utterance))
    if _GOES_ON.search(utterance) or size <= (1 if _WHOLE.match(utterance) else SHORT):
        return True
    return any(
        not any(len(analyser.content(one.text[: joint.start()])) > SHORT for joint in _WITHIN.finditer(one.text, 0, at))
        for one in sentences(utterance)
        for at in [found.start() for found in _POINTS.finditer(one.text)]
    )


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
    it keeps at least half of the utterance's, its numbers and whether it denies, and it is not much longer."""
    analyser = Analyser(language)
    own = set(analyser.content(utterance))
    known = set(analyser.terms(utterance))
    for turn in turns:
        known |= set(analyser.terms(f"{turn.utterance} {turn.response}"))
    new = set(analyser.content(rewrite))
    if not new or len(words(rewrite)) > 2 * len(words(utterance)) + 30:
        return False
    if bool(_DENIES.search(utterance)) != bool(_DENIES.search(rewrite)):
        return False
    if not set(_NUMBER.findall(utterance)) <= set(_NUMBER.findall(rewrite)):
        return False
    return new <= known and len(own & new) >= len(own) / 2
