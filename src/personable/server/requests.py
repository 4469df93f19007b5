"""What requests to the four pipelines bring, and what two of them give back beside their answer."""

from __future__ import annotations

from pydantic import Field

from personable.pipelines.certified_finding import Method
from personable.pipelines.knowing import LONGEST_QUESTION
from personable.pipelines.recommend import LONGEST_QUERY
from personable.retrieval.catalogue import Wanted
from personable.types import Answer, Dial, PastTurn, Question, Value, Wish

LONGEST = 200_000
Name = Field(None, max_length=200)
_STREAM = Field(False, description="Send the board and the text as they come, as server-sent events.")


class AskBody(Value):
    """A question. `person` is only for keys that may speak for anybody; `session` belongs to the person."""

    question: str = Field(min_length=1, max_length=LONGEST_QUESTION, examples=["What should I drink after a long run?"])
    person: str | None = Name
    session: str | None = Name
    collection: str | None = Field(None, description="Not needed where there is only one.")
    dial: Dial = "auto"
    stream: bool = _STREAM
    strict: bool = Field(False, description="Fail where a model fails, instead of quoting.")
    keep: bool = Field(True, description="Keep the answer and its board, so that it can be explained and judged.")

    def asked(self, person: str | None) -> Question:
        return Question(text=self.question, person=person, session=self.session, dial=self.dial)


class ConverseBody(AskBody):
    """An utterance (`question`). A person's earlier turns are those of their `session`, made where none is named; for
    nobody in particular they come along as `turns`, oldest first."""

    question: str = Field(min_length=1, max_length=LONGEST_QUESTION, examples=["And after a short one?"])
    turns: list[PastTurn] | None = Field(None, max_length=100)


class CertifyBody(AskBody):
    """A question for a certified collection, and the method: the default, or a published one."""

    question: str = Field(  # one that is too long to be answered may tell of an emergency
        min_length=1, max_length=LONGEST, examples=["What are the treatments for gout?"]
    )
    method: Method = "default"


class RecommendBody(Value):
    """A wish: `k` items for a person, about `query` ("" for anything). `again` allows what they turned to before."""

    person: str | None = Name
    session: str | None = Name
    query: str = Field("", max_length=LONGEST_QUERY, examples=["something for a long flight"])
    k: int = Field(5, ge=1, le=100)
    again: bool = False
    dial: Dial = "auto"
    collection: str | None = None
    wanted: Wanted = Wanted()
    stream: bool = _STREAM
    keep: bool = True

    def wish(self, person: str | None) -> Wish:
        fields = self.model_dump(include={"session", "query", "k", "again", "dial"})
        return Wish(person=person, **fields)


class Conversed(Value):
    """A response, and the session in which the conversation goes on; None for nobody in particular."""

    answer: Answer
    session: str | None
