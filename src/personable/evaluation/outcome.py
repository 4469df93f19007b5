"""What a system under test gives back for one question, and the record of it that a run keeps."""

from __future__ import annotations

from typing import Protocol, TypeVar

from pydantic import Field, FiniteFloat, JsonValue

from personable.evaluation.datasets import Row
from personable.types import Passage, Tokens, Value

K = TypeVar("K", contravariant=True)


class Outcome(Value):
    """An answer, what it stood on and what it cost.

    `passages` are those the answer was made from, best first; `scores` ranks passage ids where the system retrieved
    (higher is better). `calls` counts model requests, `steps` those that had to wait for one another (the critical
    path). `error` says why there is no answer; such an outcome counts as wrong. `seconds` is measured by the runner
    where the system gives none.
    """

    answer: str = ""
    passages: tuple[Passage, ...] = ()
    scores: dict[str, FiniteFloat] = Field(default_factory=dict)
    board: JsonValue = None
    calls: int = Field(0, ge=0)
    steps: int = Field(0, ge=0)
    tokens: Tokens = Tokens()
    seconds: FiniteFloat | None = Field(None, ge=0)
    error: str | None = None


class System(Protocol[K]):
    """Anything that can be measured: a question and a kit go in, an outcome comes out.

    It must not read `row.answers` or `row.relevant`. It may raise; the question then counts as failed.
    """

    async def __call__(self, row: Row, kit: K) -> Outcome:
        """Answer `row.question`."""


class Record(Value):
    """One line of a run: a question, what is known to be right, and what the system gave back."""

    id: str
    index: int
    question: str
    answers: tuple[str, ...]
    relevant: dict[str, int]
    outcome: Outcome

    @property
    def failed(self) -> bool:
        return self.outcome.error is not None

    @classmethod
    def of(cls, row: Row, outcome: Outcome) -> Record:
        return cls(
            id=row.id,
            index=row.index,
            question=row.question,
            answers=row.answers,
            relevant=row.relevant,
            outcome=outcome,
        )
