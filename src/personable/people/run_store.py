"""The part of the store that remembers where runs were written, so that erasing a person can look there too."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import insert, select

from personable.people import schema
from personable.people.base import Store
from personable.people.checks import checked_text
from personable.people.events import now


class RunStore(Store):
    """Registered run folders. They belong to nobody in particular."""

    async def register_run(self, path: str | Path) -> None:
        """Remember a folder of run files, so that erasing a person finds what they left there; twice is once."""
        folder = str(Path(path).expanduser().absolute())
        checked_text(folder, "path of the run")
        async with self._write() as connection:
            if await connection.scalar(select(schema.runs.c.path).where(schema.runs.c.path == folder)) is None:
                await connection.execute(insert(schema.runs).values(path=folder, registered=now()))

    async def runs(self) -> list[Path]:
        """The registered folders of run files, oldest first. They need not be there any more."""
        async with self._read() as connection:
            rows = await connection.scalars(select(schema.runs.c.path).order_by(schema.runs.c.registered))
            return [Path(path) for path in rows]
