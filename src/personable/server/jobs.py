"""Work that outlasts a request: indexing. Jobs live in memory; a restart loses them, and never a document."""

from __future__ import annotations

import asyncio
import os
from collections import OrderedDict
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Literal

from personable.errors import DataError, NotFoundError
from personable.people.checks import Instant
from personable.people.events import now
from personable.people.statements import new_id
from personable.retrieval.report import IndexReport, Progress
from personable.server.engine import Engine
from personable.server.problems import Problem, ProblemError, problem_of
from personable.server.uploads import Uploads
from personable.settings import make_folder
from personable.types import Value

REMEMBERED = 200
"""Jobs that can be asked for, the latest."""
AT_ONCE = 2
"""Jobs at work at the same time; later ones wait."""

Work = Callable[[Callable[[Progress], None]], IndexReport]
"""Indexing, in a thread: it tells its progress, and gives its report."""


class Job(Value):
    """Indexing of a collection: `done` of `total` bytes, the current `file`, the `passages` written so far.

    Once it is `done` there is a `report`: what changed, what failed and why. Once it `failed` there is a `problem`.
    """

    id: str
    collection: str
    state: Literal["waiting", "running", "done", "failed"] = "waiting"
    created: Instant
    ended: Instant | None = None
    done: int = 0
    total: int = 0
    file: str = ""
    passages: int = 0
    report: IndexReport | None = None
    problem: Problem | None = None


class _StoppedError(DataError):
    pass


@dataclass
class Jobs:
    """The jobs of a server, one for a collection at a time."""

    engine: Engine
    _jobs: OrderedDict[str, Job] = field(default_factory=OrderedDict)
    _busy: dict[str, str] = field(default_factory=dict)
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)
    _stopping: bool = False

    def __post_init__(self) -> None:
        self._pool = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="indexing")

    def all(self) -> list[Job]:
        """The jobs that are remembered, newest first."""
        return list(reversed(self._jobs.values()))

    def get(self, id: str) -> Job:
        """Raises NotFoundError."""
        if id not in self._jobs:
            raise NotFoundError(f"no job {id!r}: the latest {REMEMBERED} since the server started are remembered")
        return self._jobs[id]

    @contextmanager
    def hold(self, collection: str) -> Iterator[None]:
        """Nobody else changes the collection meanwhile; a job that is started here goes on holding it.

        Raises ProblemError (409), with the job as its Location, while one is at work.
        """
        if (id := self._busy.get(collection)) is not None:
            said = f"job {id} is at work on it; wait for it: GET /v1/jobs/{id}" if id else "it is being changed"
            headers = {"Location": f"/v1/jobs/{id}"} if id else None
            raise ProblemError(409, f"collection {collection!r} is busy: {said}", headers)
        self._busy[collection] = ""
        try:
            yield
        finally:
            if self._busy.get(collection) == "":
                del self._busy[collection]

    def start(self, collection: str, total: int, work: Work) -> Job:
        """Begin `work`, of `total` bytes, on a collection that is held."""
        job = Job(id=new_id(), collection=collection, created=now(), total=total)
        self._jobs[job.id] = job
        self._busy[collection] = job.id
        ended = [id for id, one in self._jobs.items() if one.ended is not None]
        for id in ended[: max(len(self._jobs) - REMEMBERED, 0)]:
            del self._jobs[id]
        task = asyncio.create_task(self._run(job, work))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return job

    async def close(self) -> None:
        """Stop what is at work, as soon as it tells how far it is; the next run of it goes on from there."""
        self._stopping = True
        await asyncio.gather(*self._tasks)
        self._pool.shutdown()

    async def _run(self, job: Job, work: Work) -> None:
        working = asyncio.get_running_loop().run_in_executor(self._pool, self._worked, job.id, work)
        await asyncio.wait({working})
        error = working.exception()
        if error is None:
            report = working.result()
            outcome = {"state": "done", "report": report, "file": "", "passages": report.passages, "done": job.total}
        else:
            problem = problem_of(error if isinstance(error, Exception) else RuntimeError("stopped"))
            told = problem.detail.replace(f"{self.engine.settings.home.resolve()}{os.sep}", "")
            problem = problem.model_copy(update={"detail": told})
            outcome = {"state": "failed", "problem": problem, "file": ""}
        self.engine.release(job.collection)
        del self._busy[job.collection]
        self._set(job.id, {"ended": now(), **outcome})

    def _worked(self, id: str, work: Work) -> IndexReport:
        def tell(progress: Progress) -> None:
            if self._stopping:
                raise _StoppedError("the server was stopped meanwhile; index again to go on")
            told = {"done": progress.done, "total": progress.total, "file": progress.file}
            self._set(id, {**told, "passages": progress.passages})

        if self._stopping:
            raise _StoppedError("the server was stopped before it began; index again")
        self._set(id, {"state": "running"})
        marker = Uploads(self.engine.settings.home, self._jobs[id].collection).marker
        make_folder(marker.parent)
        marker.touch()
        with ExitStack() as ended:
            ended.callback(marker.unlink, missing_ok=True)
            try:
                return work(tell)
            except _StoppedError:
                ended.pop_all()
                raise

    def _set(self, id: str, new: dict[str, object]) -> None:
        self._jobs[id] = self._jobs[id].model_copy(update=new)
