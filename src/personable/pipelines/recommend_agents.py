"""The four agents of ARAG (arXiv 2506.21931, section 3) and their numeric stand-ins.

User Understanding and NLI read person and candidates side by side; Context Summary reads both; Item Ranker orders.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from personable.agent import Agent, Reading
from personable.errors import ModelOutputError
from personable.notes import (
    Candidate,
    CandidatesNote,
    Deed,
    DeedsNote,
    Judgement,
    JudgementsNote,
    RankingNote,
    SummaryNote,
    TasteNote,
)
from personable.pipelines.answer_agents import permutation
from personable.prompts import fit

ACCEPTED_FROM = 0.5
"""θ of ARAG: a candidate that the NLI agent scores at least so high is accepted for the summary."""
NOTES_TOKENS = 300
"""Tokens that the summary reads of what the other agents found out."""
BATCH = 10
"""Candidates that one NLI call judges."""
JUDGEMENT_TOKENS = 60
"""Tokens of a candidate's judgement."""
_SEEN = (DeedsNote, CandidatesNote)


async def _taste(reading: Reading) -> TasteNote:
    note = reading[DeedsNote]
    said = [used.text for used in note.said]
    weights: Counter[str] = Counter()
    for deed in note.history:
        weights[deed.title] += deed.worth  # type: ignore[assignment]
    liked = [title for title, _ in weights.most_common(3)]
    now = [note.query] if note.query else [deed.title for deed in note.session[-3:]]
    return TasteNote(long_term="; ".join([*said[:3], *liked]), goal="; ".join(now))


def _short_taste(note: TasteNote, reading: Reading) -> TasteNote:
    return TasteNote(long_term=note.long_term[:500], goal=note.goal[:500])


def retrieval_scores(note: CandidatesNote) -> list[float]:
    """The fused scores of the candidates, in their order, scaled to 0 … 1."""
    scores = [one.score for one in note.found]
    low, span = min(scores, default=0.0), (max(scores, default=0.0) - min(scores, default=0.0)) or 1.0
    return [(score - low) / span for score in scores]


def is_disliked(one: Candidate) -> bool:
    """Whether the person turned against it, or against what it is like: no agent lifts it above what they did not."""
    return "disliked" in one.features


def by_numbers(note: CandidatesNote, number: int) -> Judgement:
    """The judgement of a candidate that no model judged: its retrieval score, and against it what it is like."""
    one, score = note.found[number - 1], retrieval_scores(note)[number - 1]
    if is_disliked(one):
        return Judgement(number=number, verdict="contradiction", score=0.0, reason="like something turned against")
    verdict: Any = "support" if score >= ACCEPTED_FROM else "neutral"
    return Judgement(number=number, verdict=verdict, score=score, reason="its score in retrieval")


def nli(first: int, last: int) -> Agent[JudgementsNote]:
    """The NLI agent for candidates `first` to `last`. What the model judged outside of them or twice is dropped."""

    async def numeric(reading: Reading) -> JudgementsNote:
        note = reading[CandidatesNote]
        return JudgementsNote(judgements=[by_numbers(note, number) for number in range(first, last + 1)])

    def tidy(note: JudgementsNote, reading: Reading) -> JudgementsNote:
        found = {one.number: one for one in reversed(note.judgements) if first <= one.number <= last}
        kept = [one.model_copy(update={"reason": one.reason[:200]}) for _, one in sorted(found.items())]
        return JudgementsNote(judgements=kept)

    return Agent(
        "nli",
        _SEEN,
        JudgementsNote,
        numeric,
        prompt="recommend/judge",
        variables=lambda reading: {"first": first, "last": last},
        tidy=tidy,
        max_tokens=JUDGEMENT_TOKENS * (last - first + 1),
    )


def complete(candidates: CandidatesNote, read: list[JudgementsNote]) -> JudgementsNote:
    """One judgement a candidate: what the batches say, and for those that no batch holds their retrieval score.

    What the person turned against is a contradiction whatever a batch says.
    """
    judged = {one.number: one for note in read for one in note.judgements}
    found = {number: one for number, one in judged.items() if not is_disliked(candidates.found[number - 1])}
    numbers = range(1, len(candidates.found) + 1)
    return JudgementsNote(judgements=[found.get(number) or by_numbers(candidates, number) for number in numbers])


def accepted(reading: Reading) -> list[Judgement]:
    """The judgements of at least θ that are no contradiction, highest first; none where nobody judged."""
    note = reading.get(JudgementsNote)
    kept = [one for one in note.judgements if one.verdict != "contradiction"] if note else []
    return sorted((one for one in kept if one.score >= ACCEPTED_FROM), key=lambda one: -one.score)


async def _summary(reading: Reading) -> SummaryNote:
    some, taste = accepted(reading), reading.get(TasteNote)
    titles = [reading[CandidatesNote].found[one.number - 1].title for one in some[:5]]
    goal = (taste.goal or taste.long_term) if taste else ""
    return SummaryNote(text="; ".join(filter(None, [goal, *titles])), accepted=[one.number for one in some])


def _known_summary(note: SummaryNote, reading: Reading) -> SummaryNote:
    count = len(reading[CandidatesNote].found)
    kept = [number for number in dict.fromkeys(note.accepted) if 1 <= number <= count]
    return SummaryNote(text=note.text[:800], accepted=kept)


def _summary_notes(reading: Reading) -> dict[str, Any]:
    taste = reading.get(TasteNote)
    lines = [f"In the long run: {taste.long_term}", f"Right now: {taste.goal}"] if taste else []
    some = [f"Item {one.number} ({one.score:.2f}): {one.reason}" for one in accepted(reading)[:20]]
    return {"notes": "\n".join(fit([*lines, *some], NOTES_TOKENS))}


async def _ranking(reading: Reading) -> RankingNote:
    """The order of retrieval; what contradicts the person comes last."""
    note, judged = reading[CandidatesNote], reading.get(JudgementsNote)
    against = {one.number for one in judged.judgements if one.verdict == "contradiction"} if judged else set()
    against |= {number for number, one in enumerate(note.found, 1) if is_disliked(one)}
    return RankingNote(order=sorted(range(1, len(note.found) + 1), key=lambda number: number in against))


def _full_ranking(note: RankingNote, reading: Reading) -> RankingNote:
    """Every candidate once, each remark with its own, and last what the person turned against."""
    found = reading[CandidatesNote].found
    if not any(1 <= number <= len(found) for number in note.order):
        raise ModelOutputError(f"the ranking holds none of the numbers 1 to {len(found)}")
    order = sorted(permutation(note.order, len(found)), key=lambda number: is_disliked(found[number - 1]))
    said = dict(zip(reversed(note.order[:5]), reversed(note.remarks[:5]), strict=False))
    return RankingNote(order=order, remarks=[said.get(number, "")[:200] for number in order[:5]] if said else [])


def _ranking_notes(reading: Reading) -> dict[str, Any]:
    taste, summary = reading.get(TasteNote), reading.get(SummaryNote)
    lines = [f"In the long run: {taste.long_term}", f"Right now: {taste.goal}"] if taste else []
    lines += [f"To be offered: {summary.text}"] if summary else []
    return {"notes": "\n".join(lines), "count": len(reading[CandidatesNote].found)}


UNDERSTANDING = Agent("understanding", _SEEN, TasteNote, _taste, prompt="recommend/taste", tidy=_short_taste)
SUMMARY = Agent(
    "summary",
    (*_SEEN, TasteNote, JudgementsNote),
    SummaryNote,
    _summary,
    prompt="recommend/summary",
    variables=_summary_notes,
    tidy=_known_summary,
)
RANKER = Agent(
    "ranker",
    (*_SEEN, TasteNote, JudgementsNote, SummaryNote),
    RankingNote,
    _ranking,
    prompt="recommend/rank",
    variables=_ranking_notes,
    tidy=_full_ranking,
    max_tokens=512,
)


def deed_line(deed: Deed) -> str:
    """A deed as prompts show it."""
    return f"{deed.what}: {deed.title}"
