"""The typed notes of a board, one class for each thing that can be said, told apart by `kind`.

A note that an agent writes is also the form that its model has to fill in, so field descriptions are read by models.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from personable.certified_notes import CertifiedNote as CertifiedNote
from personable.certified_notes import HydocNote as HydocNote
from personable.certified_notes import PragmaticsNote as PragmaticsNote
from personable.item_notes import Candidate as Candidate
from personable.item_notes import CandidatesNote as CandidatesNote
from personable.item_notes import Deed as Deed
from personable.item_notes import DeedsNote as DeedsNote
from personable.item_notes import Judgement as Judgement
from personable.item_notes import JudgementsNote as JudgementsNote
from personable.item_notes import Note as Note
from personable.item_notes import RankingNote as RankingNote
from personable.item_notes import RecommendationsNote as RecommendationsNote
from personable.item_notes import SummaryNote as SummaryNote
from personable.item_notes import TasteNote as TasteNote
from personable.item_notes import WishNote as WishNote
from personable.types import Answer, Dial, PastTurn, Question, Used, Value


class QuestionNote(Note):
    """What was asked, as it was asked."""

    kind: Literal["question"] = "question"
    question: Question


class PortraitNote(Note):
    """What of this person matters for this question. `dial` is the question's and the person's together.

    Prompts may hold `statements`. `withheld` are sensitive ones that may not leave this machine: they shape the search
    where that is local, and no prompt holds them.
    """

    kind: Literal["portrait"] = "portrait"
    known: bool
    dial: Dial = "off"
    statements: list[Used] = Field(default_factory=list)
    withheld: list[Used] = Field(default_factory=list)
    interests: list[str] = Field(default_factory=list)
    need: str = ""


class HistoryNote(Note):
    """The last turns of the conversation, oldest first, as far as they may be shown to the models at work.
    `withheld` counts those that may not."""

    kind: Literal["history"] = "history"
    turns: list[PastTurn] = Field(default_factory=list)
    withheld: int = 0


class RewriteNote(Note):
    """Rewriting agent: what was said now, so that it can be understood without the conversation."""

    kind: Literal["rewrite"] = "rewrite"
    text: str = Field("", description="the last utterance, rewritten so that it can be understood on its own")


class GateNote(Note):
    """Whether the question needs the person: `strength` 0 (not at all) to 1 (essential), from numeric `evidence`."""

    kind: Literal["gate"] = "gate"
    verdict: Literal["not needed", "helps", "essential"]
    strength: float = Field(ge=0, le=1)
    evidence: dict[str, float] = Field(default_factory=dict)


class WeightsNote(Note):
    """The person's ranking weights as they were used: `values` by name (`people.weights`), the change that set them
    (`version`; empty where none were ever set), and how far they act: `evidence` holds `proof`, 0 to 1."""

    kind: Literal["weights"] = "weights"
    values: dict[str, float] = Field(default_factory=dict)
    version: str = ""
    evidence: dict[str, float] = Field(default_factory=dict)


class Found(Value):
    """One line of a ranked list: the passage, its score in this list and what the score was made of."""

    passage_id: str
    title: str = ""
    text: str = ""
    score: float
    features: dict[str, float] = Field(default_factory=dict)


class PassagesNote(Note):
    """A ranked list of passages, named by how it was made: plain, personal, candidates, fused, ranked, second,
    given.

    A personal list names the `statement` that it was searched with, and its `pull`. `candidates` are all that was
    fused, with every feature that moved them; `fused` is their head, which the answer is made from.
    """

    kind: Literal["passages"] = "passages"
    name: str
    query: str
    weight: float = 1.0
    statement: str = ""
    pull: float = 0.0
    found: list[Found]


class ProfileNote(Note):
    """User profile agent: who is asking, as far as it matters, and what was newly said about them."""

    kind: Literal["profile"] = "profile"
    summary: str = Field("", description="what about the person matters for this question; empty if nothing")
    proposed: list[str] = Field(
        default_factory=list,
        description="facts that the person states about themselves in the question, word for word",
    )


class QueriesNote(Note):
    """Contextual retrieval agent: other ways to search for what is missing."""

    kind: Literal["queries"] = "queries"
    queries: list[str] = Field(
        default_factory=list,
        description="at most two search queries for what the passages lack; empty if they suffice",
    )


class SessionNote(Note):
    """Live session agent: what the person is after right now, and what they may ask next."""

    kind: Literal["session"] = "session"
    need: str = Field("", description="the immediate need behind the question, in one sentence")
    next_questions: list[str] = Field(default_factory=list, description="up to three short questions to ask next")


class OrderNote(Note):
    """Document ranking agent: passage numbers, most useful first. Always a full permutation once it is posted."""

    kind: Literal["order"] = "order"
    order: list[int] = Field(default_factory=list, description="passage numbers, the most useful first")
    reason: str = Field("", description="why the first one is first, in a few words")


class FeedbackNote(Note):
    """Feedback agent: what to ask the person, and which signals of theirs would tell whether the answer helped."""

    kind: Literal["feedback"] = "feedback"
    ask: str = Field("", description="one question to the person whose answer would change the reply; empty if none")
    record: list[str] = Field(default_factory=list, description="signals that would show whether the answer helped")


class DraftNote(Note):
    """A first answer from the passages alone, reasoned step by step."""

    kind: Literal["draft"] = "draft"
    reasoning: str = Field("", description="the steps from the passages to the answer, briefly")
    answer: str = Field("", description="the answer itself in a few words, then the number of its passage like [1]")


class AgentsNote(Note):
    """All agents' notes in one structured answer, for budgets that allow only one call."""

    kind: Literal["agents"] = "agents"
    profile: ProfileNote
    queries: QueriesNote
    session: SessionNote
    order: OrderNote
    feedback: FeedbackNote
    draft: DraftNote


class DigestNote(Note):
    """The message pool in short: what the agents found that the answer should use."""

    kind: Literal["digest"] = "digest"
    text: str = Field("", description="what the answer should use from the notes, in at most 100 words")


class ReplyNote(Note):
    """The cognitive agent's answer before the guard has read it."""

    kind: Literal["reply"] = "reply"
    text: str


class Verdict(Value):
    """What the guard decided about one sentence, and on what evidence (each 0 to 1)."""

    sentence: str
    action: Literal["kept", "cited", "marked", "removed"]
    passages: list[int] = Field(default_factory=list)
    reason: str = ""
    evidence: dict[str, float] = Field(default_factory=dict)


class GuardNote(Note):
    """The guard's decision for each sentence of the reply."""

    kind: Literal["guard"] = "guard"
    verdicts: list[Verdict]


class DecisionNote(Note):
    """A decision about how to go on: an agent merged, replaced or skipped, a fallback taken, a statement withheld."""

    kind: Literal["decision"] = "decision"
    about: str
    choice: str
    why: str


class AnswerNote(Note):
    """The answer that went out."""

    kind: Literal["answer"] = "answer"
    answer: Answer


AnyNote = Annotated[
    QuestionNote
    | PortraitNote
    | HistoryNote
    | RewriteNote
    | GateNote
    | WeightsNote
    | PassagesNote
    | ProfileNote
    | QueriesNote
    | SessionNote
    | OrderNote
    | FeedbackNote
    | DraftNote
    | AgentsNote
    | DigestNote
    | ReplyNote
    | GuardNote
    | DecisionNote
    | AnswerNote
    | WishNote
    | DeedsNote
    | CandidatesNote
    | TasteNote
    | JudgementsNote
    | SummaryNote
    | RankingNote
    | RecommendationsNote
    | PragmaticsNote
    | HydocNote
    | CertifiedNote,
    Field(discriminator="kind"),
]
