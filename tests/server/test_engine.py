"""What a server holds open of its collections, and for how long."""

from __future__ import annotations

import gc
from pathlib import Path
from typing import Any
from weakref import ref

import pytest

from personable.embed import Embedder
from personable.kit import Kit
from personable.server.engine import Engine
from tests.server.conftest import Start

OPEN = Path("/proc/self/fd")
"""A file for each one that this process has open; only Linux has it."""


@pytest.mark.skipif(not OPEN.exists(), reason="this system does not list the files that a process has open")
async def test_a_collection_that_was_indexed_anew_stays_open_only_for_answers_under_way(start: Start) -> None:
    engine: Engine = (await start()).app.state.engine
    reading = await engine.kit("notes")
    engine.release("notes")
    kit = await engine.kit("notes")
    assert kit is not reading
    assert await reading.search("What is gout?", 1) == await kit.search("What is gout?", 1) != []
    engine.forget_texts()

    answered = ref(reading)
    del reading, kit
    gc.collect()
    assert answered() is None
    open_files = len(list(OPEN.iterdir()))
    for _ in range(20):
        engine.release("notes")
        await engine.kit("notes")
        gc.collect()
    assert len(list(OPEN.iterdir())) <= open_files + 3


async def test_a_collection_that_changes_while_it_is_opened_is_opened_once_more(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine: Engine = (await start()).app.state.engine
    opened: list[Kit] = []
    over = Kit.over

    async def changing(self: Kit, collection: str, embedder: Embedder | None, **more: Any) -> Kit:
        kit = await over(self, collection, embedder, **more)
        opened.append(kit)
        if len(opened) == 1:
            engine.release(collection)
        return kit

    monkeypatch.setattr(Kit, "over", changing)
    kit = await engine.kit("notes")
    assert len(opened) == 2
    assert kit is opened[1]
    assert await engine.kit("notes") is kit
