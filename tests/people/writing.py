"""Several processes that write to one store at once."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path

from personable.people.store import People

WRITER = """
import asyncio, sys
from personable.errors import DataError
from personable.people.store import People
from personable.people.events import Event

async def main(path, name, count):
    async with await People.open(path) as people:
        await people.add(name)
        try:
            await people.add("all")
        except DataError:
            pass  # another process was first
        for n in range(count):
            await people.tell(name, f"{name} says {n}")
            await people.tell("all", f"I live in {name.title()}{n}")
            await people.set_weights("all", {name: n}, "test")
            await people.record(Event(person=name, kind="query", text=str(n)))
            await people.add_turn(name, "s", str(n), "a")
            print(n, flush=True)

asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3])))
"""


def writer(where: Path | str, name: str, count: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", WRITER, str(where), name, str(count)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


async def assert_nothing_lost(where: Path | str) -> None:
    """Three processes make the store and fill it at once, also the same person: all that they wrote must be there."""
    writers = {name: writer(where, name, 8) for name in ("ana", "bob", "eve")}
    for process in writers.values():
        _, complaint = await asyncio.to_thread(process.communicate)
        assert process.returncode == 0, complaint
    async with await People.open(where) as people:
        for name in writers:
            assert [one.text for one in await people.statements(name)] == [f"{name} says {n}" for n in range(8)]
            assert len(await people.events(name)) == 8
            assert [turn.number for turn in await people.turns(name, "s", 99)] == list(range(1, 9))
        homes = await people.statements("all", ended=True)
        assert sorted(one.text for one in homes) == sorted(
            f"I live in {name.title()}{n}" for name in writers for n in range(8)
        )
        assert [one.valid_to is None for one in homes] == [False] * 23 + [True]
        assert len(await people.weight_history("all")) == 24


async def assert_killed_writer_leaves_a_whole_store(where: Path | str) -> None:
    """A process that is killed while it writes leaves whole rows: no turn without its statement, no number left out."""
    process = writer(where, "ana", 10_000)
    assert process.stdout is not None
    done = [await asyncio.to_thread(process.stdout.readline) for _ in range(5)]
    process.kill()
    await asyncio.to_thread(process.communicate)
    assert done[-1] == "4\n"
    async with await People.open(where) as people:
        told, turns = len(await people.statements("ana")), await people.turns("ana", "s", 99_999)
        assert 5 <= len(turns) <= told <= len(turns) + 1
        assert [turn.number for turn in turns] == list(range(1, len(turns) + 1))
