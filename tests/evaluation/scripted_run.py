"""A run that takes a while, for a test to kill: `python scripted_run.py FOLDER WORKERS SECONDS_A_QUESTION`.

Question 7 fails. The answer, its board and its cost depend on the question alone; times and the order of posts do not.
"""

import asyncio
import random
import sys
import time
from pathlib import Path

from personable.errors import ModelTimeoutError
from personable.evaluation.datasets import Row, digest
from personable.evaluation.outcome import Outcome
from personable.evaluation.run import run
from personable.evaluation.runfile import Identity, RunFile
from personable.types import Passage, Tokens

ROWS = [
    Row(
        id=f"q-{i:02}",
        index=i,
        question=f"question {i}?",
        answers=("even" if i % 2 == 0 else "odd",),
        passages=(Passage(id=f"p{i}", text=f"{i} is even or odd"),),
    )
    for i in range(40)
]


def identity(system: str = "scripted", model: str = "none", **settings: str) -> Identity:
    return Identity(
        system=system,
        dataset="numbers",
        questions=len(ROWS),
        digest=digest(ROWS),
        model=model,
        settings=dict(settings),
        version="1",
    )


async def parity(row: Row, pause: float) -> Outcome:
    """Says whether the question's number is even, in so many seconds."""
    await asyncio.sleep(pause * random.uniform(0.5, 1.5))
    if row.index == 7:
        raise ModelTimeoutError("seven takes for ever")
    posts = [{"id": n, "role": role, "timestamp": time.time()} for n, role in enumerate(random.sample("abc", 3))]
    return Outcome(
        answer="even" if row.index % 2 == 0 else "",
        passages=row.passages,
        board={"id": str(random.random()), "posts": posts},
        calls=1,
        tokens=Tokens(prompt=row.index, completion=2),
    )


async def main(folder: Path, workers: int, pause: float) -> None:
    file = RunFile.open(folder, identity())
    random.shuffle(rows := list(ROWS))
    await run(parity, pause, rows, file, workers=workers)


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])))
