"""Benchmarks: reports that were written under the home, each shown in a frame of its own, and ratings of answers."""

from __future__ import annotations

import asyncio
from pathlib import Path

from fastapi import APIRouter, Request, Response
from fastapi.responses import FileResponse

from personable.errors import NotFoundError
from personable.evaluation.ratings import QUESTIONS, rating_table, read_ratings
from personable.server.access import AnyCaller, TheEngine
from personable.server.engine import Engine
from personable.server.web.frame import PageRoute, page
from personable.server.web.visitor import TheVisitor

router = APIRouter(prefix="/benchmarks", route_class=PageRoute, include_in_schema=False)
DEPTH = ("*.html", "*/*.html")
FRAMED = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'self'; sandbox"
)
"""A report is a file that somebody put there: nothing in it runs, and it reaches nothing."""


@router.get("")
async def benchmarks_page(request: Request, _: TheVisitor, engine: TheEngine, report: str = "") -> Response:
    """The reports there are, one of them shown, and the table of ratings."""
    there = await asyncio.to_thread(_reports, _folder(engine))
    ratings = rating_table(await asyncio.to_thread(read_ratings, engine.settings.home))
    shown = report if report in there else next(iter(there), "")
    return page(
        request,
        "benchmarks.html",
        reports=there,
        shown=shown,
        folder=str(_folder(engine)),
        ratings=ratings,
        asks=QUESTIONS,
    )


@router.get("/report")
async def report_file(_: AnyCaller, engine: TheEngine, name: str) -> Response:
    """A report as it was written, without scripts and without anything from elsewhere."""
    if name not in await asyncio.to_thread(_reports, _folder(engine)):
        raise NotFoundError(f"there is no report {name!r}")
    headers = {"Content-Security-Policy": FRAMED}
    return FileResponse(_folder(engine) / name, media_type="text/html; charset=utf-8", headers=headers)


def _folder(engine: Engine) -> Path:
    return engine.settings.server_reports or engine.settings.home / "reports"


def _reports(folder: Path) -> list[str]:
    root = folder.resolve()
    found = {path for pattern in DEPTH for path in folder.glob(pattern) if path.resolve().is_relative_to(root)}
    return sorted(path.relative_to(folder).as_posix() for path in found if path.is_file())
