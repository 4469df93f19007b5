"""Many streams at once from a real server: python benchmarks/serve.py [--streams 64] [--seconds 60]

The server is a process of its own over the demonstration's cards; its scripted model answers each call in 50 ms.
Each of the streams asks, reads to the final event and asks again until the time is over. Reported are the questions
answered, the seconds to the first event and to the final one, and the server's resident memory before and after.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import logging
import os
import socket
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from time import perf_counter
from typing import Any

import httpx2 as httpx
import numpy as np
import psutil
import uvicorn

from overhead import script
from personable.demo import COLLECTION, cards
from personable.embed import make_embedder
from personable.kit import open_kit
from personable.llm.base import Prompt
from personable.llm.scripted import ScriptedModel
from personable.retrieval.corpus import open_collection
from personable.server.app import build_app
from personable.settings import Settings

QUESTIONS = (
    "What should I eat with high blood pressure?",
    "How much water should I drink?",
    "What helps against poor sleep?",
    "Is walking good for the heart?",
    "What are the symptoms of anemia?",
    "How can I prevent kidney stones?",
)


@dataclass
class Tally:
    """What the streams saw, in seconds from the request."""

    first: list[float] = field(default_factory=list)
    whole: list[float] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)


def settings(home: Path, embedder: str) -> Settings:
    """Of the server: no limit that the load would meet."""
    return Settings(home=home, embedder=embedder, server_rate=1_000_000)


async def serve(home: Path, embedder: str, delay: float) -> None:
    """The server's process: prints its port and a key, and serves until it is stopped."""
    async with await open_kit(settings(home, embedder)) as kit:

        def answer(prompt: Prompt, output: object) -> Any:
            model.prompts.clear()  # it would keep them all, and their memory is not the server's
            return script(prompt, output)

        kit.model = kit.agents_model = model = ScriptedModel(answer, delay=delay, concurrency=256)
        assert kit.people is not None
        _, key = await kit.people.add_key("builder")
        bound = socket.create_server(("127.0.0.1", 0), backlog=1024)
        print(json.dumps({"port": bound.getsockname()[1], "key": key}), flush=True)
        logging.getLogger("uvicorn.error").setLevel(logging.WARNING)
        config = uvicorn.Config(build_app(kit), access_log=False, log_config=None)
        await uvicorn.Server(config).serve(sockets=[bound])


async def one(client: httpx.AsyncClient, question: str, keep: bool, tally: Tally) -> None:
    """Ask once and read the stream to its end."""
    began, first, last = perf_counter(), 0.0, ""
    body = {"question": question, "collection": COLLECTION, "stream": True, "keep": keep}
    try:
        async with client.stream("POST", "/v1/answer", json=body) as response:
            async for line in response.aiter_lines():
                first = first or perf_counter() - began
                if line.startswith(("event:", "data:")):
                    last = line if line.startswith("event:") or last == "event: final" else ""
            status = response.status_code
    except httpx.HTTPError as error:
        tally.failed.append(type(error).__name__)
        return
    if status != 200 or not last.startswith('data: {"result"'):
        tally.failed.append(f"status {status}, ended by {last[:40]!r}")
        return
    tally.first.append(first)
    tally.whole.append(perf_counter() - began)


async def load(client: httpx.AsyncClient, streams: int, seconds: float, keep: bool) -> tuple[Tally, float]:
    """`streams` at once for `seconds`; those under way then are read to their end. Gives the seconds it took, too."""
    tally, began, numbers = Tally(), perf_counter(), count()

    async def on_and_on(numbers: Iterator[int]) -> None:
        while perf_counter() - began < seconds:
            await one(client, QUESTIONS[next(numbers) % len(QUESTIONS)], keep, tally)

    await asyncio.gather(*(on_and_on(numbers) for _ in range(streams)))
    return tally, perf_counter() - began


async def measure(home: Path, given: argparse.Namespace) -> None:
    """Start the server, put it under load, print the table."""
    command = (
        sys.executable,
        __file__,
        "--serve",
        str(home),
        "--delay",
        str(given.delay),
        "--embedder",
        given.embedder,
    )
    server = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
    assert server.stdout is not None
    try:
        told = json.loads(await server.stdout.readline())
        process = psutil.Process(server.pid)
        limits = httpx.Limits(max_connections=given.streams, max_keepalive_connections=given.streams)
        headers = {"Authorization": f"Bearer {told['key']}"}
        address = f"http://127.0.0.1:{told['port']}"
        async with httpx.AsyncClient(base_url=address, headers=headers, timeout=120, limits=limits) as client:
            await load(client, 1, 0.1, given.keep)
            alone, _ = await load(client, 1, 5, given.keep)
            before, cpu = process.memory_info().rss, process.cpu_times()
            tally, took = await load(client, given.streams, given.seconds, given.keep)
            after, spent = process.memory_info().rss, process.cpu_times()
        used = (spent.user + spent.system - cpu.user - cpu.system) / took
    finally:
        server.terminate()
        await server.wait()
    show("1", alone, 5, "")
    show(str(given.streams), tally, took, f"{before / 1e6:.0f} → {after / 1e6:.0f} MB")
    print(f"\nThe server used {used:.2f} of a core; {len(os.sched_getaffinity(0))} for it and the streams together.")
    if tally.failed:
        print(f"failed: {sorted(set(tally.failed))}")


def show(streams: str, tally: Tally, took: float, memory: str) -> None:
    """A row of the table."""
    first, whole = ([*np.percentile(times, [50, 95])] for times in (tally.first, tally.whole))
    print(
        f"| {streams} | {len(tally.whole)} | {len(tally.failed)} | {len(tally.whole) / took:.1f} "
        f"| {first[0]:.2f} / {first[1]:.2f} | {whole[0]:.2f} / {whole[1]:.2f} | {memory} |"
    )


def main() -> None:
    """Read the arguments, make the collection and measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--streams", type=int, default=64)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--delay", type=float, default=0.05, help="seconds of one model call")
    parser.add_argument("--embedder", default="minilm", help="minilm, or hash:256 to measure without embedding")
    parser.add_argument("--keep", action="store_true", help="store every answer and board, as a server usually does")
    parser.add_argument("--serve", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.serve:
        asyncio.run(serve(given.serve, given.embedder, given.delay))
        return
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        embedder = make_embedder(given.embedder)
        with open_collection(home, COLLECTION, embedder=embedder, create=True) as collection:
            collection.index([cards()])
        print("| streams | answered | failed | a second | first event s, p50 / p95 | whole s, p50 / p95 | memory |")
        print("|---|---|---|---|---|---|---|")
        asyncio.run(measure(home, given))


if __name__ == "__main__":
    main()
