"""The portrait: what of a person matters for one question, bounded in tokens."""

from __future__ import annotations

import asyncio
import math
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, SupportsFloat, TypeVar

from pydantic import Field

from personable.people.events import Event, Turn, now
from personable.people.memory import WeightsChange
from personable.people.statements import Statement, may_leave, without_marks
from personable.text import tokens
from personable.types import Dial, Question, Value

if TYPE_CHECKING:
    from personable.people.store import People

Similar = Callable[[str, Sequence[str]], Iterable[SupportsFloat]]
"""Similarity (cosine) of a question to each of some texts. It may block: it is called from a worker thread."""
Ranker = Callable[[str, Sequence[str]], Awaitable[Sequence[float]]]
"""The same by something that is awaited, such as a model."""

HALF_LIFE_DAYS = 30.0
"""An event counts half as much after this many days: last month still shows, last year is gone."""

EVENTS = 100
"""Events looked at, the latest: at the half-life above older ones would hardly move the order."""

TURNS = 3
CLICKS = 5
INTERESTS = 5
SESSION_SHARE, INTEREST_SHARE = 1 / 3, 1 / 6
"""Parts of the token limit that the session and the interests may take; what they leave is the statements'."""

T = TypeVar("T")


class Ranked(Value):
    """A statement with how much it matters for the question: 0 to 1."""

    statement: Statement
    score: float = Field(ge=0, le=1)


class Interest(Value):
    """What the person keeps coming back to. `weight` adds up decayed events; it is above 0."""

    text: str
    weight: float


class Portrait(Value):
    """What of a person matters for a question.

    `known` is False where nothing is known or the dial is off; everything is then empty. `statements` come best first,
    `interests` strongest first. `turns` and `clicks` belong to the question's session, oldest first. `withheld` are
    statements that may not leave this machine. `tokens` is an upper estimate for all texts together. `weights` are the
    person's ranking weights as they were last set, None where they never were.
    """

    person: str | None = None
    name: str = ""
    dial: Dial = "auto"
    known: bool = False
    statements: list[Ranked] = Field(default_factory=list)
    interests: list[Interest] = Field(default_factory=list)
    turns: list[Turn] = Field(default_factory=list)
    clicks: list[str] = Field(default_factory=list)
    withheld: list[Ranked] = Field(default_factory=list)
    tokens: int = 0
    weights: WeightsChange | None = None

    @property
    def need(self) -> str:
        """The session's immediate need in words: its last questions, then what was opened since; empty without."""
        return "; ".join(without_marks(text) for text in [*(turn.question for turn in self.turns), *self.clicks])


async def portrait(
    people: People,
    question: Question,
    similar: Similar | None = None,
    *,
    ranker: Ranker | None = None,
    limit_tokens: int = 300,
    remote: bool = False,
    similar_remote: bool = False,
    at: datetime | None = None,
) -> Portrait:
    """The portrait of `question.person` for `question`, at most `limit_tokens` long. Raises NotFoundError for an
    unknown person; a question without a person gives an empty portrait.

    Statements that may be used and hold at the moment `at` (None: now) are ranked by `ranker`, else by `similar`, or
    without either by their words; what is only proposed counts by its confidence.
    With `remote`, a model or embedder elsewhere is going to see what the portrait says: statements that may not leave
    stand apart under `withheld`, and there are no interests, turns and clicks, since nobody classified them. With
    `similar_remote`, `similar` itself asks elsewhere: what is withheld is then ranked by its words. Neither counts for
    a person who lets sensitive statements leave.

    Ranked by MiniLM's cosine alone: adding word overlap did not help on the training topics of TREC iKAT 2023
    (nDCG@3 .500 alone, .502 with a tenth of the overlap; overlap alone .429).
    """
    dial = question.dial
    if question.person is None:
        return Portrait(dial=dial)
    person, statements, events, turns, weights = await people.recall(
        question.person, question.session, events=EVENTS, turns=TURNS
    )
    dial = "off" if "off" in (dial, person.dial) else person.dial if dial == "auto" else dial
    if dial == "off":
        return Portrait(person=person.id, name=person.name, dial=dial)
    moment, session = at or now(), question.session
    held = [one for one in statements if one.holds(moment)]
    clicks = _clicks(event for event in events if session is not None and event.session == session)
    found = interests((event for event in events if session is None or event.session != session), moment)
    shut = remote and not person.share_sensitive
    told = [one for one in held if may_leave(one, shut)]
    withheld = [one for one in held if not may_leave(one, shut)]
    full = Portrait(
        person=person.id,
        name=person.name,
        dial=dial,
        known=bool(held or found or turns or clicks),
        statements=await _ranked(question.text, told, similar, ranker),
        withheld=await _ranked(question.text, withheld, *((None, None) if similar_remote else (similar, ranker))),
        interests=[] if shut else found,
        turns=[] if shut else turns,
        clicks=[] if shut else clicks,
        weights=weights,
    )
    return _bounded(full, limit_tokens)


def interests(events: Iterable[Event], at: datetime, half_life_days: float = HALF_LIFE_DAYS) -> list[Interest]:
    """The strongest long-term interests at the moment `at`: what events were about, by their decayed, summed weights.

    An event weighs `worth(event) * 0.5 ** (age / half_life_days)`; what sums to 0 or less is no interest.
    """
    weights: dict[str, float] = {}
    names: dict[str, str] = {}
    for event in events:
        name = _subject(event)
        age = max((at - event.time).total_seconds(), 0.0) / 86_400
        if name and (value := worth(event)):
            key = name.casefold()
            names[key] = name
            weights[key] = weights.get(key, 0.0) + value * 0.5 ** (age / half_life_days)
    best = sorted((key for key in weights if weights[key] > 0), key=lambda key: (-weights[key], key))
    return [Interest(text=names[key], weight=weights[key]) for key in best[:INTERESTS]]


def worth(event: Event) -> float:
    """What an event says about interest, from -1 (against) to 2 (a purchase). Being shown something says nothing.

    A rating of 3 is neutral; a dwell counts as much as a click from one minute on.
    """
    value = event.value or 0.0
    match event.kind:
        case "rating":
            return min(max((value - 3) / 2, -1.0), 1.0) if event.value is not None else 0.0
        case "thumbs":
            return min(max(value, -1.0), 1.0)
        case "dwell":
            return min(max(value / 60, 0.0), 1.0)
        case "query":
            return 0.5
        case "click":
            return 1.0
        case "purchase":
            return 2.0
        case "impression" | "comment" | "edit":
            return 0.0


def overlap(question: str, texts: Sequence[str]) -> list[float]:
    """For each text the part of its words, weighed by rarity among `texts`, that the question has too: 0 to 1."""
    from personable.retrieval.analysis import Analyser

    analyser = Analyser("en")
    asked = set(analyser.terms(question))
    bags = [set(analyser.terms(text)) for text in texts]
    frequency = Counter(term for bag in bags for term in bag)
    rarity = {term: math.log(1 + len(texts) / (1 + count)) for term, count in frequency.items()}
    totals = [sum(rarity[term] for term in bag) for bag in bags]
    shared = [sum(rarity[term] for term in bag & asked) for bag in bags]
    return [part / total if total else 0.0 for part, total in zip(shared, totals, strict=True)]


async def _ranked(
    question: str, statements: Sequence[Statement], similar: Similar | None, ranker: Ranker | None
) -> list[Ranked]:
    if not statements:
        return []
    texts = [statement.text for statement in statements]
    scores: Iterable[SupportsFloat]
    if ranker is not None:
        scores = await ranker(question, texts)
    else:
        scores = await asyncio.to_thread(similar, question, texts) if similar else overlap(question, texts)
    pairs = zip(statements, map(float, scores), strict=True)
    ranked = [Ranked(statement=one, score=min(max(score, 0.0), 1.0) * _trust(one)) for one, score in pairs]
    return sorted(ranked, key=lambda one: -one.score)


def _trust(statement: Statement) -> float:
    return statement.confidence if statement.state == "proposed" else 1.0


def _subject(event: Event) -> str:
    # A rating's or a thumb's text is a comment on the thing, not its name.
    named = event.text if event.kind in ("query", "click", "dwell", "purchase") else ""
    return (" ".join(named.split()) or event.item or event.passage or "").strip()


def _clicks(events: Iterable[Event]) -> list[str]:
    names = [_subject(event) for event in events if event.kind == "click"]
    return list(dict.fromkeys(name for name in reversed(names) if name))[:CLICKS][::-1]


def _bounded(full: Portrait, limit: int) -> Portrait:
    """`full` without what does not fit: the session and the interests have their shares, statements have the rest."""
    left = int(limit * SESSION_SHARE)
    clicks, left = _fitting(full.clicks[::-1], lambda text: text, left)
    turns, unused = _fitting(full.turns[::-1], lambda turn: turn.question, left)
    left = int(limit * INTEREST_SHARE)
    spent = int(limit * SESSION_SHARE) - unused
    found, unused = _fitting(full.interests, lambda one: one.text, left)
    spent += left - unused
    best = sorted([*full.statements, *full.withheld], key=lambda one: -one.score)
    fitting, unused = _fitting(best, lambda one: one.statement.text, limit - spent)
    shut = {one.statement.id for one in full.withheld}
    statements = [one for one in fitting if one.statement.id not in shut]
    withheld = [one for one in fitting if one.statement.id in shut]
    kept = {"clicks": clicks[::-1], "turns": turns[::-1], "interests": found}
    kept |= {"statements": statements, "withheld": withheld}
    return full.model_copy(update={**kept, "tokens": limit - unused})


def _fitting(items: Sequence[T], text: Callable[[T], str], limit: int) -> tuple[list[T], int]:
    """The items, in their order, that fit into `limit` tokens together (one that is too long is passed over), and the
    tokens left."""
    kept = []
    for item in items:
        size = tokens(text(item))
        if size <= limit:
            kept.append(item)
            limit -= size
    return kept, limit
