"""`mcp`: the MCP server for a program on this machine, by standard input and output."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from personable.cli.options import Collection, Embedder, Home, Model, ModelUrl, need_server, run, settings

if TYPE_CHECKING:
    from personable.settings import Settings


def add_to(app: typer.Typer) -> None:
    """Add the commands of this module."""
    app.command()(mcp)


def mcp(
    person: Annotated[
        str | None, typer.Option("--person", "-p", help="Whom it serves; without it each call may name anybody.")
    ] = None,
    collection: Collection = None,
    model: Model = None,
    model_url: ModelUrl = None,
    embedder: Embedder = None,
    home: Home = None,
) -> None:
    """Speak MCP on standard input and output, for a client that starts this command."""
    need_server("MCP clients")
    conf = settings(model=model, model_url=model_url, embedder=embedder, home=home)
    run(_speak(conf, person, collection))


async def _speak(conf: Settings, person: str | None, collection: str | None) -> None:
    from mcp.server.stdio import stdio_server

    from personable.kit import open_kit
    from personable.people.events import now
    from personable.people.key_store import Key
    from personable.server.access import Caller
    from personable.server.engine import Engine
    from personable.server.mcp import build_mcp

    async with await open_kit(conf) as kit:
        engine = Engine(kit)
        if person is not None:
            await engine.people.get(person)
        if collection is not None:
            await engine.kind(collection)
        who = Caller(Key(id="local", scope="builder" if person is None else "person", person=person, created=now()))
        hidden = frozenset[str]() if person is None else frozenset({"person"})
        server = build_mcp(engine, lambda _: who, hidden=hidden, collection=collection)
        async with stdio_server() as (reading, writing):
            await server.run(reading, writing, server.create_initialization_options())
        await engine.close()
