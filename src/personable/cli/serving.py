"""`serve`, and the API keys that it asks for."""

from __future__ import annotations

import logging
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Annotated

import typer

from personable.cli.options import Embedder, Home, Json, Model, ModelUrl, need_server, print_json, run, settings
from personable.cli.people import with_people

if TYPE_CHECKING:
    from personable.people.key_store import Key
    from personable.settings import Settings

LOGGER = logging.getLogger("personable.server")

key = typer.Typer(help="API keys of the server.", no_args_is_help=True, rich_markup_mode=None)


def add_to(app: typer.Typer) -> None:
    """Add the commands of this module."""
    app.command()(serve)
    app.add_typer(key, name="key")


def serve(
    host: Annotated[str, typer.Option(help="Address to listen on; 0.0.0.0 for every one.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes a free one.")] = 8765,
    model: Model = None,
    model_url: ModelUrl = None,
    embedder: Embedder = None,
    home: Home = None,
) -> None:
    """Serve the page and the API until told to stop; answers under way are then finished."""
    need_server("the server")
    from personable.server.logs import set_up
    from personable.server.telemetry import exporting

    conf = settings(model=model, model_url=model_url, embedder=embedder, home=home)
    set_up(texts=conf.server_log_texts)
    with exporting():
        run(_serve(conf, host, port))


async def _serve(conf: Settings, host: str, port: int) -> None:
    import uvicorn

    from personable.kit import open_kit
    from personable.server.app import build_app

    async with await open_kit(conf) as kit:
        assert kit.people is not None
        if not await kit.people.keys():
            LOGGER.warning("no key yet; in another terminal: personable key add --scope admin")
        config = uvicorn.Config(
            build_app(kit),
            host,
            port,
            access_log=False,
            log_config=None,
            server_header=False,
            timeout_graceful_shutdown=conf.server_grace_seconds,
        )
        server = uvicorn.Server(config)
        with _stopped_by_signals(), suppress(SystemExit):  # where it cannot listen, it would leave without a word
            await server.serve()
    if not server.started:
        from personable.errors import ConfigurationError

        raise ConfigurationError(f"nothing can listen on {host}, port {port}; choose another with --host and --port")


@contextmanager
def _stopped_by_signals() -> Iterator[None]:
    """The server, told by a signal to stop, finishes and sends it again for whoever stood there before. Nobody then
    needs it: without this the process would die of it, with its models and stores open."""
    usual = {number: signal.signal(number, lambda *_: None) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in usual.items():
            signal.signal(number, handler)


@key.command()
def add(
    scope: Annotated[str, typer.Option(help="person (one alone), builder (everybody) or admin (keys too).")],
    person: Annotated[
        str | None, typer.Option("--person", "-p", help="Whom a key of the scope person reaches.")
    ] = None,
    label: Annotated[str, typer.Option(help="What it is for, so that you know it again.")] = "",
    days: Annotated[float | None, typer.Option(help="How long it holds; until revoked where not given.")] = None,
    json: Json = False,
    home: Home = None,
) -> None:
    """Make a key. It is shown this once: only a digest of it is kept."""
    made, secret = with_people(
        settings(home=home),
        lambda people: people.add_key(scope, person, label=label, days=days),  # type: ignore[arg-type]
    )
    print_json(made.model_dump(mode="json") | {"key": secret}) if json else print(f"{secret}\n{_described(made)}")


@key.command("list")
def list_keys(json: Json = False, home: Home = None) -> None:
    """List the keys, without their secrets."""
    found = with_people(settings(home=home), lambda people: people.keys())
    if json:
        print_json([one.model_dump(mode="json") for one in found])
    else:
        print("\n".join(_described(one) for one in found) or "no keys yet: personable key add --scope admin")


@key.command()
def revoke(id: Annotated[str, typer.Argument(help="Its id, from `key list`.")], home: Home = None) -> None:
    """Make a key worthless, and sign out who came with it."""
    with_people(settings(home=home), lambda people: people.revoke_key(id))
    print(f"{id}\trevoked")


def _described(one: Key) -> str:
    until = "" if one.expires is None else f"\tuntil {one.expires:%Y-%m-%d %H:%M}"
    return f"{one.id}\t{one.scope}\t{one.person or '*'}\t{one.label}{until}"
