"""New stores of people for tests: the migrations are run once a process, and what they made is copied."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from personable.people.store import People

_MADE = tempfile.TemporaryDirectory(prefix="personable-tests-")


async def new_people(path: Path) -> People:
    """An empty store at `path`, where there is none yet."""
    made = Path(_MADE.name) / "people.db"
    if not made.exists():
        await (await People.open(made)).close()
    assert not path.exists()
    shutil.copy(made, path)  # with its mode: only its owner may read it
    return await People.open(path)
