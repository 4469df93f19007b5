"""The runner: asks a system every question, writes each answer down at once, and can be killed and resumed."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeVar

from personable.errors import ConfigurationError, ModelRefusedError, PersonableError, UsageError
from personable.evaluation.datasets import Row
from personable.evaluation.outcome import Outcome, Record, System
from personable.evaluation.runfile import RunFile
from personable.evaluation.working import for_each

K = TypeVar("K")

_FATAL = (ConfigurationError, ModelRefusedError)
"""Nothing else would go better with the next question: the run stops here and can be gone on with."""

_FAILURES = (
    PersonableError,
    OSError,
    ValueError,
    LookupError,
    TypeError,
    ArithmeticError,
    RuntimeError,
    ExceptionGroup,
)
"""What the content of one question can bring about in a system: recorded, and the run goes on."""


class Progress(NamedTuple):
    """Where a run stands: questions done of `total`, `failed` among them, `rate` a second, `left` in seconds.

    `rate` and `left` count this session only, not what an earlier one did; `left` is None before the first answer.
    """

    done: int
    total: int
    failed: int
    rate: float
    left: float | None


class Summary(NamedTuple):
    """A run that has come to its end: of `questions`, `failed` have no answer (and count as wrong)."""

    questions: int
    asked: int
    failed: int


async def run(
    system: System[K],
    kit: K,
    rows: Sequence[Row],
    file: RunFile,
    *,
    workers: int = 1,
    retry_failed: bool = False,
    progress: Callable[[Progress], None] | None = None,
) -> Summary:
    """Ask `system` the questions that `file` does not hold yet, `workers` at a time; finish the file.

    With `retry_failed`, recorded failures are asked again. Raises ConfigurationError or ModelRefusedError (wrong key,
    no such model) at once, with everything answered so far kept; UsageError for fewer than one worker.
    """
    if workers < 1:
        raise UsageError(f"{workers} workers can do nothing: give at least one")
    settled = {id for id, record in file.records.items() if not (retry_failed and record.failed)}
    waiting = [row for row in rows if row.id not in settled]
    failed = sum(file.records[id].failed for id in settled)
    session = _Session(file, len(rows), len(waiting), failed, progress)

    async def ask(row: Row) -> None:
        session.add(Record.of(row, await _ask(system, kit, row)))

    await for_each(waiting, ask, workers)
    file.finish()
    return Summary(len(rows), len(waiting), session.failed)


class _Session:
    def __init__(
        self, file: RunFile, total: int, waiting: int, failed: int, progress: Callable[[Progress], None] | None
    ) -> None:
        self.file, self.total, self.waiting, self.progress = file, total, waiting, progress
        self.failed = failed
        self.began, self.done = time.monotonic(), 0
        self._tell()

    def add(self, record: Record) -> None:
        self.file.append(record)
        self.done += 1
        self.failed += record.failed
        self._tell()

    def _tell(self) -> None:
        if self.progress is None:
            return
        rate = self.done / max(time.monotonic() - self.began, 1e-9)
        left = (self.waiting - self.done) / rate if self.done else None
        self.progress(Progress(self.total - self.waiting + self.done, self.total, self.failed, rate, left))


async def _ask(system: System[K], kit: K, row: Row) -> Outcome:
    began = time.monotonic()
    try:
        outcome = await system(row, kit)
        outcome.model_dump_json()  # what cannot be written down (a lone surrogate) is this question's failure
    except _FAILURES as error:
        cause = _cause(error)
        if isinstance(cause, _FATAL):
            raise cause from error
        outcome = Outcome(error=f"{type(cause).__name__}: {cause}")
    if outcome.seconds is None:
        outcome = outcome.model_copy(update={"seconds": time.monotonic() - began})
    return outcome


def _cause(error: Exception) -> Exception:
    """The error itself; of a task group's errors the first that stops a run, else the first."""
    if not isinstance(error, ExceptionGroup):
        return error
    causes = [_cause(inner) for inner in error.exceptions]
    return next((cause for cause in causes if isinstance(cause, _FATAL)), causes[0])
