"""Whether the server lives and is ready, and its metrics. None needs a key, and none tells anything about anybody."""

from __future__ import annotations

import asyncio
from typing import Any

from fastapi import APIRouter, Request, Response

from personable.server.access import TheEngine
from personable.server.metrics import CONTENT_TYPE
from personable.server.problems import MEDIA_TYPE, TITLES
from personable.types import Value

router = APIRouter(tags=["system"])
_NOT_READY: dict[int | str, dict[str, Any]] = {
    503: {
        "description": TITLES[503],
        "content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}},
    }
}


class Health(Value):
    """`status` is "ok"; what is not is told as a problem."""

    status: str = "ok"


@router.get("/healthz")
async def healthz() -> Health:
    """The process answers."""
    return Health()


@router.get("/readyz", responses=_NOT_READY)
async def readyz(engine: TheEngine) -> Health:
    """People and collections can be read."""
    await engine.people.keys()
    await asyncio.to_thread(engine.collections)
    return Health()


@router.get("/metrics", response_class=Response, responses={200: {"content": {"text/plain": {}}}})
async def metrics(request: Request) -> Response:
    """Numbers by route, pipeline and model, in Prometheus' text format."""
    return Response(request.app.state.metrics.text(), media_type=CONTENT_TYPE)
