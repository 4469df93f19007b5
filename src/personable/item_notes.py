"""The notes of `recommend`, and the base of all notes; `notes` has them all."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from personable.types import Recommendations, Used, Value, Wish


class Note(Value):
    """Base of all notes."""


class WishNote(Note):
    """What was wished for, as it was wished."""

    kind: Literal["wish"] = "wish"
    wish: Wish


class Deed(Value):
    """Something the person did with an item of the catalogue; `worth` is -1 (against it) to 2 (a purchase)."""

    event: str
    what: str
    item: str
    title: str
    worth: float


class DeedsNote(Note):
    """Long-term history and current session, apart (ARAG, arXiv 2506.21931, section 2), oldest first, and what the
    person said. `disliked` are items they turned against. What may not leave stands in no prompt."""

    kind: Literal["deeds"] = "deeds"
    history: list[Deed] = Field(default_factory=list)
    session: list[Deed] = Field(default_factory=list)
    disliked: list[Deed] = Field(default_factory=list)
    said: list[Used] = Field(default_factory=list)
    withheld: list[Used] = Field(default_factory=list)
    query: str = ""


class Candidate(Value):
    """An item that may be recommended: its fused score and the lists that it is made of."""

    item: str
    title: str
    text: str = ""
    score: float
    features: dict[str, float] = Field(default_factory=dict)


class CandidatesNote(Note):
    """The candidate set, best first; agents know candidates by their numbers, from 1."""

    kind: Literal["candidates"] = "candidates"
    found: list[Candidate]
    weights: dict[str, float] = Field(default_factory=dict)


class TasteNote(Note):
    """User Understanding agent: what the person likes in the long run, and what they are after right now."""

    kind: Literal["taste"] = "taste"
    long_term: str = Field("", description="what the person likes in general, in one sentence")
    goal: str = Field("", description="what the person is looking for right now, in one sentence")


class Judgement(Value):
    """Whether one candidate serves what the person is after."""

    number: int = Field(description="the candidate's number")
    verdict: Literal["support", "neutral", "contradiction"] = "neutral"
    score: float = Field(0.5, ge=0, le=1, description="how well it serves the person, 0 to 1")
    reason: str = Field("", description="why, in a few words")


class JudgementsNote(Note):
    """NLI agent: a judgement of each candidate. Complete and in order once all batches were read."""

    kind: Literal["judgements"] = "judgements"
    judgements: list[Judgement] = Field(default_factory=list)


class SummaryNote(Note):
    """Context Summary agent: what the accepted candidates have in common that speaks to the person."""

    kind: Literal["summary"] = "summary"
    text: str = Field("", description="what this person should be offered now, in at most 60 words")
    accepted: list[int] = Field(default_factory=list, description="numbers of the candidates that fit")


class RankingNote(Note):
    """Item Ranker agent: candidate numbers, best first. Always a full permutation once it is posted."""

    kind: Literal["ranking"] = "ranking"
    order: list[int] = Field(default_factory=list, description="candidate numbers, the best one first")
    remarks: list[str] = Field(default_factory=list, description="why each of the first five is there, in a few words")


class RecommendationsNote(Note):
    """The recommendations that went out."""

    kind: Literal["recommendations"] = "recommendations"
    recommendations: Recommendations
