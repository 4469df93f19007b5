"""People at scale: python benchmarks/people.py [--people 10000] [--statements 10] [--at URL]

Fills a store (SQLite in a temporary folder unless `--at` names one) with statements and events of many people, then
measures, for people drawn at random with a fixed seed: the portrait for one question (ranked by words, without an
embedder, so that the store is what is measured), telling one more statement, and erasing one person with everything.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import statistics
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from time import perf_counter, process_time

from sqlalchemy import insert

from personable.people import schema
from personable.people.events import Event, now
from personable.people.history_store import event_rows
from personable.people.person import Person
from personable.people.portrait import portrait
from personable.people.statements import Statement, guess_kind, new_id, sameness
from personable.people.store import People
from personable.types import Question

OPENINGS = ("I like", "I am allergic to", "I want to learn about", "I can't stand", "I own", "I work with")
THINGS = "tea soup jazz chess trains birds wood Python tomatoes mountains bread boats bees maps clocks rivers".split()
EVENTS = 10
ROWS = 5_000


async def fill(people: People, count: int, each: int, draw: random.Random) -> float:
    """Write everybody, as an import in bulk would; returns the seconds."""
    started, made = perf_counter(), now()
    names = [f"person {n}" for n in range(count)]
    rows = {
        schema.people: [Person(id=name, created=made).model_dump() for name in names],
        schema.statements: [_statement(name, n, draw) for name in names for n in range(each)],
        schema.events: event_rows(_event(name, n, draw) for name in names for n in range(EVENTS)),
    }
    async with people._write() as connection:
        for table, values in rows.items():
            for start in range(0, len(values), ROWS):
                await connection.execute(insert(table), values[start : start + ROWS])
    return perf_counter() - started


def _statement(person: str, number: int, draw: random.Random) -> dict[str, object]:
    text = f"{draw.choice(OPENINGS)} {draw.choice(THINGS)} and {draw.choice(THINGS)}, number {number}"
    one = Statement(id=new_id(), person=person, text=text, kind=guess_kind(text), created=now())
    return {"sameness": sameness(text), **one.model_dump()}


def _event(person: str, number: int, draw: random.Random) -> Event:
    return Event(person=person, kind="click", session="s", text=draw.choice(THINGS), position=number + 1)


async def times(names: list[str], work: Callable[[str], Awaitable[object]]) -> tuple[list[float], float]:
    """Milliseconds of `work` for each name, and the CPU milliseconds of one on average."""
    taken, cpu = [], process_time()
    for name in names:
        started = perf_counter()
        await work(name)
        taken.append((perf_counter() - started) * 1000)
    return taken, (process_time() - cpu) * 1000 / len(names)


async def measure(people: People, count: int, draw: random.Random) -> None:
    names = [f"person {n}" for n in draw.sample(range(count), min(count, 600))]
    warm, asked, erased = names[:20], names[20:520], names[520:570]

    async def see(name: str) -> object:
        return await portrait(people, Question(text="Which tea goes with bread?", person=name, session="s"))

    async def tell(name: str) -> object:
        return await people.tell(name, "I moved to Trento")

    await times(warm, see)
    print("| what | n | median ms | p95 ms | most ms | CPU ms |")
    print("|---|---|---|---|---|---|")
    for what, chosen, work in (
        ("portrait of one person", asked, see),
        ("telling one more statement", asked, tell),
        ("erasing one person", erased, people.erase),
    ):
        taken, cpu = await times(chosen, work)
        p95 = statistics.quantiles(taken, n=20)[-1]
        print(f"| {what} | {len(taken)} | {statistics.median(taken):.2f} | {p95:.2f} | {max(taken):.1f} | {cpu:.2f} |")


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--people", type=int, default=10_000)
    parser.add_argument("--statements", type=int, default=10, help="of each person")
    parser.add_argument("--at", help="a postgresql:// URL of an empty database")
    given = parser.parse_args()
    draw = random.Random(7407)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "people.db"
        async with await People.open(given.at or path) as people:
            seconds = await fill(people, given.people, given.statements, draw)
            size = f", {path.stat().st_size / 1e6:.0f} MB" if path.exists() else ""
            print(
                f"{given.people * given.statements:,} statements of {given.people:,} people in {seconds:.1f} s{size}\n"
            )
            await measure(people, given.people, draw)


if __name__ == "__main__":
    asyncio.run(main())
