"""Callers who leave in the middle of a read or a write, and programs that read for long, over a SQLite file."""

from __future__ import annotations

import asyncio
import logging
import sqlite3
import time
from collections.abc import Awaitable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from personable.errors import NotFoundError
from personable.people import base, database
from personable.people.statements import Told
from tests.stores import new_people

MOMENTS = 40
"""At which a caller leaves: spread from before the first query to after the last."""


@pytest.fixture(autouse=True)
def short_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "_PRAGMAS", ("busy_timeout = 100", *database._PRAGMAS[1:]))
    monkeypatch.setattr(base, "WAIT_MS", 100)
    monkeypatch.setattr(base, "FOLD_MS", 20)


async def seconds(work: Awaitable[Any]) -> float:
    began = time.perf_counter()
    await work
    return time.perf_counter() - began


async def leave(work: Awaitable[Any], after: float) -> None:
    task = asyncio.ensure_future(work)
    await asyncio.sleep(after)
    task.cancel()
    try:
        await task
    except asyncio.CancelledError:
        return


def logged(tmp_path: Path) -> bytes:
    log = tmp_path / "people.db-wal"
    return log.read_bytes() if log.exists() else b""


@pytest.mark.slow
async def test_a_writer_who_leaves_stands_in_nobodys_way(tmp_path: Path) -> None:
    async with await new_people(tmp_path / "people.db") as people:
        await people.add("ana")
        whole = await seconds(people.tell("ana", "I like tea"))
        for n in range(2 * MOMENTS):
            await leave(people.tell("ana", f"I like number {n}"), n % MOMENTS * 1.2 * whole / MOMENTS)
            await people.tell("ana", f"I hate number {n}")  # DataError where the lock was not let go
        said = {one.text for one in await people.statements("ana", ended=True)}
        assert {f"I hate number {n}" for n in range(2 * MOMENTS)} < said
        changed = {change.statement for change in await people.changes("ana")}
        assert len(changed) == len(said)  # each write is whole or not there


@pytest.mark.slow
async def test_a_reader_who_leaves_keeps_no_forgotten_words_in_the_log(tmp_path: Path) -> None:
    async with await new_people(tmp_path / "people.db") as people:
        await people.add("ana")
        await people.tell_many("ana", [Told(f"I like number {n}") for n in range(30)])
        whole = await seconds(people.recall("ana"))
        for n in range(MOMENTS):
            told = await people.tell("ana", f"My xylophone{n} is blue")
            await leave(people.recall("ana"), n * 1.2 * whole / MOMENTS)
            await people.forget("ana", told.id)
            assert f"xylophone{n}".encode() not in logged(tmp_path)


@pytest.mark.slow
async def test_who_leaves_while_forgetting_leaves_no_words_either(tmp_path: Path) -> None:
    async with await new_people(tmp_path / "people.db") as people:
        await people.add("ana")
        forgotten = 0
        whole = await seconds(people.forget("ana", (await people.tell("ana", "I like tea")).id))
        for n in range(MOMENTS):
            told = await people.tell("ana", f"My xylophone{n} is blue")
            await leave(people.forget("ana", told.id), n * 1.5 * whole / MOMENTS)
            if told not in await people.statements("ana"):
                forgotten += 1
                assert f"xylophone{n}".encode() not in logged(tmp_path)
        assert forgotten


@contextmanager
def backup(tmp_path: Path) -> Iterator[None]:
    """Another program that reads what the store holds now, as long as it takes."""
    with closing(sqlite3.connect(tmp_path / "people.db", isolation_level=None)) as reading:
        reading.execute("BEGIN")
        reading.execute("SELECT count(*) FROM statements").fetchall()
        yield


async def folded(tmp_path: Path) -> bool:
    """Whether the word leaves the log within five seconds."""
    for _ in range(250):
        if b"xylophone" not in logged(tmp_path):
            return True
        await asyncio.sleep(0.02)
    return False


async def test_a_log_that_another_program_reads_is_told_and_folded_when_it_has_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(base, "FOLD_SECONDS", 0.02)
    async with await new_people(tmp_path / "people.db") as people:
        await people.add("ana")
        told = [await people.tell("ana", f"My xylophone is {colour}") for colour in ("blue", "red")]
        with backup(tmp_path), caplog.at_level(logging.WARNING, "personable.people"):
            await people.forget("ana", told[0].id)
            await people.forget("ana", told[1].id)
            assert b"xylophone" in logged(tmp_path)
            for n in range(20):
                await people.tell("ana", f"I like number {n}")  # DataError where folding kept the lock
        assert "may still stand in the log" in caplog.text
        assert "xylophone" not in caplog.text
        assert await folded(tmp_path)


async def test_who_leaves_while_the_log_is_read_has_it_folded_later_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(base, "FOLD_SECONDS", 0.02)
    monkeypatch.setattr(base, "FOLD_MS", 300)
    async with await new_people(tmp_path / "people.db") as people:
        await people.add("ana")
        told = await people.tell("ana", "My xylophone is blue")
        with backup(tmp_path):
            await leave(people.forget("ana", told.id), 0.15)
            assert b"xylophone" in logged(tmp_path)
        assert await folded(tmp_path)


async def test_what_removes_nothing_folds_nothing(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    async with await new_people(tmp_path / "people.db") as people:
        await people.add("ana")
        await people.tell("ana", "I like tea")
        with backup(tmp_path), caplog.at_level(logging.WARNING, "personable.people"), pytest.raises(NotFoundError):
            await people.forget("ana", "nothing")
        assert caplog.text == ""
