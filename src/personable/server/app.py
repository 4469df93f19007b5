"""The app: what stands before every request, and the routers."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import version

from fastapi import FastAPI
from fastapi.middleware.cors import CORSMiddleware

from personable.kit import Kit
from personable.server import openai
from personable.server.access import Limiter
from personable.server.engine import Engine
from personable.server.jobs import Jobs
from personable.server.limits import SizeLimits
from personable.server.logs import log_request
from personable.server.mcp import HEADERS as MCP_HEADERS
from personable.server.mcp import McpGate
from personable.server.metrics import Metrics
from personable.server.problems import Problem, add_handlers
from personable.server.routes import answering, collections, deeds, documents, kept, keys, people, statements, system
from personable.server.watch import Watch
from personable.server.web import pages

ROUTERS = (
    answering.router,
    openai.router,
    people.router,
    statements.router,
    deeds.router,
    kept.router,
    keys.router,
    collections.router,
    documents.router,
    system.router,
    *pages.ROUTERS,
)


def build_app(kit: Kit) -> FastAPI:
    """The server's app over a kit without a collection; who opened the kit closes it after the app.

    Raises ConfigurationError for a kit without people.
    """
    engine, settings = Engine(kit), kit.settings
    assert engine.people is not None
    jobs = Jobs(engine)
    origins = [one.strip() for one in settings.server_origins.split(",") if one.strip()]
    gate = McpGate(engine, origins)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        async with gate.manager.run():
            yield
        await jobs.close()
        await engine.close()

    app = FastAPI(
        title="Personable",
        version=version("personable"),
        summary="Answers, conversations, recommendations and certified answers for a particular person.",
        lifespan=lifespan,
        docs_url=None,  # their pages would load scripts from another host
        redoc_url=None,
        redirect_slashes=False,
    )
    app.state.engine, app.state.jobs, app.state.limiter = engine, jobs, Limiter(kit.settings.server_rate)
    for router in ROUTERS:
        app.include_router(router)
    app.router.routes.append(gate.route)
    add_handlers(app)
    _add_problem_schema(app)
    if origins:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=origins,
            allow_methods=["*"],
            allow_headers=["Authorization", "Content-Type", "X-Request-ID", *MCP_HEADERS],
            expose_headers=["Location", "Retry-After", "X-Left-Out", "X-Request-ID"],
        )
    app.add_middleware(SizeLimits, body=settings.server_body_bytes, upload=settings.server_upload_bytes)
    _watch(app)
    return app


def _watch(app: FastAPI) -> None:
    """Log and count every request, from outside of what turns a failure into a response."""
    app.state.metrics = metrics = Metrics()
    plain = app.build_middleware_stack
    app.build_middleware_stack = lambda: Watch(plain(), (log_request, metrics), metrics)  # type: ignore[method-assign]


def _add_problem_schema(app: FastAPI) -> None:
    """Name `Problem` once in the OpenAPI document, where every route's errors point to it."""
    plain = app.openapi

    def openapi() -> dict[str, object]:
        made = plain()
        schema = Problem.model_json_schema(ref_template="#/components/schemas/{model}")
        parts = schema.pop("$defs", {})
        made["components"].setdefault("schemas", {}).update({**parts, "Problem": schema})
        return made

    app.openapi = openapi  # type: ignore[method-assign]
