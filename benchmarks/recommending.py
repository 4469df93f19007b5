"""How long a recommendation takes without a model: 10,000 items, a person with 500 events, 1,000 people beside them.

python benchmarks/recommending.py [--items 10000] [--events 500] [--runs 50]
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import tempfile
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np

from personable.embed import make_embedder
from personable.kit import Kit
from personable.people.events import Event
from personable.people.store import People
from personable.pipelines.recommend import recommend
from personable.pipelines.shop import open_shop
from personable.retrieval.catalogue import Stock, fill
from personable.retrieval.corpus import open_collection
from personable.settings import Settings
from personable.types import Item, Wish

PEOPLE, EACH, WORDS = 1000, 20, 5000


def stock(count: int) -> Stock:
    """Items with a title of 6 and a description of 40 words, drawn so that some words are common and most are rare."""
    random = np.random.default_rng(0)
    drawn = np.minimum(random.zipf(1.3, (count, 46)), WORDS)
    texts = [[f"w{word}" for word in row] for row in drawn.tolist()]
    return Stock(
        {str(n): Item(id=str(n), title=" ".join(t[:6]), description=" ".join(t[6:])) for n, t in enumerate(texts)}
    )


def events(person: str, count: int, items: int, random: np.random.Generator) -> list[Event]:
    """Clicks on random items, one a minute."""
    start = datetime(2026, 1, 1, tzinfo=UTC)
    rows = random.integers(0, items, count).tolist()
    times = [start + timedelta(minutes=minute) for minute in range(count)]
    return [Event(person=person, kind="click", item=str(row), time=at) for row, at in zip(rows, times, strict=True)]


async def measure(items: int, count: int, runs: int) -> None:
    """Print the time to open the catalogue, and median and 95th percentile of a recommendation."""
    random, embedder = np.random.default_rng(1), make_embedder("hash:384")
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        with open_collection(home, "shop", embedder=embedder, create=True) as made:
            fill(made.store, stock(items))
        async with Kit(Settings(home=home), embedder=embedder, people=await People.open(home / "people.db")) as kit:
            assert kit.people is not None
            kit.store = open_collection(home, "shop", embedder=embedder).store
            for number in range(PEOPLE):
                await kit.people.add(f"p{number}")
                await kit.people.record_many(events(f"p{number}", EACH, items, random))
            await kit.people.add("ana")
            await kit.people.record_many(events("ana", count, items, random))
            began = time.perf_counter()
            shop = await open_shop(kit)
            opened = time.perf_counter() - began
            walls, cpus = [], []
            for keep in (False, True):
                for _ in range(runs):
                    wall, cpu = time.perf_counter(), time.process_time()
                    await recommend(kit, shop, Wish(person="ana"), keep=keep)
                    walls.append((time.perf_counter() - wall) * 1e3)
                    cpus.append((time.process_time() - cpu) * 1e3)
                kept = "kept" if keep else "not kept"
                some = slice(-runs, None)
                high = float(np.quantile(walls[some], 0.95))
                middle, cpu_ms = statistics.median(walls[some]), statistics.median(cpus[some])
                what = f"median {middle:.1f} ms, p95 {high:.1f} ms, CPU {cpu_ms:.1f} ms"
                print(f"{items} items, {count} events, {kept}: {what}")
            print(f"opening the catalogue: {opened:.2f} s")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    for name, default in (("items", 10_000), ("events", 500), ("runs", 50)):
        parser.add_argument(f"--{name}", type=int, default=default)
    given = parser.parse_args()
    asyncio.run(measure(given.items, given.events, given.runs))
