"""`person …`: people, their settings, what they did, and erasing them."""

from __future__ import annotations

import shlex
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from personable.cli.options import Home, Json, print_json, run, settings

if TYPE_CHECKING:
    from personable.people.statements import State
    from personable.people.store import People
    from personable.settings import Settings

R = TypeVar("R")
Id = Annotated[str, typer.Argument(help="The person's id.")]
person = typer.Typer(help="What is known about a person, and changing it.", no_args_is_help=True, rich_markup_mode=None)


def add_to(app: typer.Typer) -> None:
    """Add the commands of this module."""
    app.add_typer(person, name="person")
    app.command("forget-answers")(forget_answers)


@person.command()
def add(
    id: Id,
    name: Annotated[str, typer.Option(help="How to call them.")] = "",
    dial: Annotated[str, typer.Option(help="How much they count: off, auto or on.")] = "auto",
    json: Json = False,
    home: Home = None,
) -> None:
    """Make a person."""
    made = with_people(settings(home=home), lambda people: people.add(id, name, dial))  # type: ignore[arg-type]
    print_json(made) if json else print(
        f'{made.id} is known now; personable person tell {shlex.quote(made.id)} "…" says more'
    )


@person.command("list")
def list_people(json: Json = False, home: Home = None) -> None:
    """List everybody."""
    found = with_people(settings(home=home), lambda people: people.list())
    if json:
        print_json([one.model_dump(mode="json") for one in found])
    else:
        print("\n".join(f"{one.id}\t{one.name}" for one in found) or "nobody yet: personable person add ID")


@person.command("set")
def set_person(
    id: Id,
    name: Annotated[str | None, typer.Option(help="How to call them.")] = None,
    dial: Annotated[str | None, typer.Option(help="How much they count: off, auto or on.")] = None,
    learned: Annotated[
        str | None,
        typer.Option(help="What was learnt: kept until confirmed (ask), used at once (use), or nothing (off)."),
    ] = None,
    share_sensitive: Annotated[
        bool | None,
        typer.Option("--share-sensitive/--keep-sensitive", help="May sensitive statements leave for remote models?"),
    ] = None,
    json: Json = False,
    home: Home = None,
) -> None:
    """Change what may be done with what is known; what is not given stays as it is."""
    given = {"name": name, "dial": dial, "learned": learned, "share_sensitive": share_sensitive}
    now = with_people(settings(home=home), lambda people: people.set(id, **given))  # type: ignore[arg-type]
    print_json(now) if json else print(_described(now.model_dump()))


@person.command()
def show(
    id: Id,
    everything: Annotated[bool, typer.Option("--all", help="Also what was rejected or no longer holds.")] = False,
    json: Json = False,
    home: Home = None,
) -> None:
    """Show what is known about a person: statements, also proposed ones, and the latest events."""
    states: tuple[State, ...] = ("confirmed", "proposed", "rejected") if everything else ("confirmed", "proposed")

    async def read(people: People) -> dict[str, Any]:
        known = await people.get(id)
        statements = await people.statements(id, states=states, ended=everything)
        events = await people.events(id, limit=10)
        return {
            "person": known.model_dump(mode="json"),
            "statements": [one.model_dump(mode="json") for one in statements],
            "events": [one.model_dump(mode="json") for one in events],
        }

    held = with_people(settings(home=home), read)
    if json:
        print_json(held)
        return
    print(_described(held["person"]))
    for one in held["statements"]:
        print(f"  {one['id']}\t{one['kind']}\t{one['text']}{_marks(one)}")
    for one in held["events"]:
        print(f"  {one['time'][:19]}\t{_done(one)}")
    if not held["statements"]:
        print(f'  nothing is known yet: personable person tell {shlex.quote(id)} "…"')


def _marks(one: dict[str, Any]) -> str:
    """What is special about a statement, in brackets: its state and cause, when it holds, that it is sensitive."""
    marks = [f"{one['state']}, from: {one['cause']}"] if one["state"] != "confirmed" else []
    marks += [f"since {one['valid_from'][:10]}"] if one["valid_from"] else []
    marks += [f"until {one['valid_to'][:10]}"] if one["valid_to"] else []
    marks += ["sensitive"] if one["sensitive"] else []
    return f" ({'; '.join(marks)})" if marks else ""


@person.command()
def events(
    id: Id,
    limit: Annotated[int, typer.Option(min=1, help="How many, the latest.")] = 50,
    json: Json = False,
    home: Home = None,
) -> None:
    """List what a person did, oldest first."""
    found = with_people(settings(home=home), lambda people: people.events(id, limit=limit))
    if json:
        print_json([one.model_dump(mode="json") for one in found])
        return
    for one in found:
        print(f"{one.time.isoformat()[:19]}\t{_done(one.model_dump())}")


def _done(one: dict[str, Any]) -> str:
    """What an event was, its value, and what it was about."""
    value = "" if one["value"] is None else f" {one['value']:g}"
    return f"{one['kind']}{value}\t{one['text'] or one['item'] or one['passage'] or ''}"


@person.command()
def erase(id: Id, yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False, home: Home = None) -> None:
    """Erase a person and everything held about them; prints a receipt of what was removed, searched and found left."""
    from personable.errors import DataError
    from personable.people.erasure import erase as work

    if not yes:
        typer.confirm(f"Erase {id} and everything held about them?", abort=True)
    conf = settings(home=home)
    receipt = with_people(conf, lambda people: work(people, conf.home, id))
    print_json(receipt)
    if not receipt.clean:
        left = ", ".join([*(one.file for one in receipt.left), *receipt.unread])
        raise DataError(
            f"not everything is gone: look at {left}; close programs that use them, or remove them yourself"
        )


def forget_answers(
    older_than: Annotated[float, typer.Option(min=0, help="Only those of at least so many days ago.")] = 0.0,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    json: Json = False,
    home: Home = None,
) -> None:
    """Remove the kept answers to questions that nobody in particular asked; those of people stay (`person erase`)."""
    if not yes:
        age = f" of at least {older_than:g} days ago" if older_than else ""
        typer.confirm(f"Remove all answers to nobody in particular{age}?", abort=True)
    removed = with_people(settings(home=home), lambda people: people.forget_answers(timedelta(days=older_than)))
    print_json({"removed": removed}) if json else print(f"{removed} answers removed")


def _described(person: dict[str, Any]) -> str:
    shared = ", sensitive statements may leave" if person["share_sensitive"] else ""
    return f"{person['id']}\t{person['name']}\tdial {person['dial']}, learned {person['learned']}{shared}"


def with_people(conf: Settings, work: Callable[[People], Awaitable[R]]) -> R:
    """What `work` gives with the settings' store of people open."""
    from personable.kit import open_people

    async def doing() -> R:
        async with await open_people(conf) as people:
            return await work(people)

    return run(doing())
