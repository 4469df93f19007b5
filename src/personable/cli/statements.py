"""`person …`: telling statements, changing them, and taking them in and out."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from personable.cli.options import Home, Json, print_json, settings
from personable.cli.people import Id, person, with_people

if TYPE_CHECKING:
    from datetime import datetime

    from personable.people.statements import Statement
    from personable.people.store import People

StatementId = Annotated[str, typer.Argument(help="Its id, from `person show`.")]
Kind = Annotated[str | None, typer.Option(help="fact, preference, constraint or goal.")]
Sensitive = Annotated[
    bool | None,
    typer.Option(
        "--sensitive/--not-sensitive", help="Sensitive ones reach no remote model; its words tell if left out."
    ),
]
Since = Annotated[str | None, typer.Option(help="When it began to hold: 2026-01-31, or a date and time.")]
Until = Annotated[str | None, typer.Option(help="When it stopped, or will stop, holding.")]
OPEN = "open"
"""Stands for no date, to take one away."""


def add_to(_app: typer.Typer) -> None:
    """The commands of this module stand under `person`, which is added with `people`."""


@person.command()
def tell(
    id: Id,
    statement: Annotated[str, typer.Argument(help="One thing about them, in a sentence; - reads standard input.")],
    kind: Kind = None,
    sensitive: Sensitive = None,
    since: Since = None,
    until: Until = None,
    json: Json = False,
    home: Home = None,
) -> None:
    """Tell something about a person. What nobody classified counts as sensitive."""
    text = sys.stdin.read() if statement == "-" else statement
    given: dict[str, Any] = {"kind": kind, "sensitive": sensitive, **_when(since, until)}

    async def work(people: People) -> tuple[Statement, list[Statement]]:
        before = await people.statements(id)
        told = await people.tell(id, text, **given)
        holding = {one.id for one in await people.statements(id)}
        return told, [one for one in before if one.id not in holding]

    told, ended = with_people(settings(home=home), work)
    _print(told, json)
    for one in ended if not json else []:
        print(f"ended: {one.text} (personable person undo {shlex.quote(id)} {one.id} brings it back)")


@person.command()
def start(
    id: Id,
    source: Annotated[
        str | None, typer.Option("--from", help="A file with a self-description instead; - reads standard input.")
    ] = None,
    json: Json = False,
    home: Home = None,
) -> None:
    """Get to know somebody: asks three questions, or takes a self-description; each sentence becomes a statement."""
    from personable.people.exchange import from_description
    from personable.people.person import start_questions

    conf = settings(home=home)
    with_people(conf, lambda people: people.get(id))  # before asking anything
    asked = () if source else start_questions()
    answers = [_read(source)] if source else [typer.prompt(ask, default="", show_default=False) for ask in asked]
    told = from_description(answers, conf.language)
    kept = with_people(conf, lambda people: people.tell_many(id, told))
    if json:
        print_json([one.model_dump(mode="json") for one in kept])
    else:
        for one in {one.id: one for one in kept}.values():
            _print(one, json=False)


@person.command()
def confirm(id: Id, statement: StatementId, json: Json = False, home: Home = None) -> None:
    """Confirm a proposed statement: from now on it counts."""
    _print(with_people(settings(home=home), lambda people: people.confirm(id, statement)), json)


@person.command()
def reject(id: Id, statement: StatementId, json: Json = False, home: Home = None) -> None:
    """Reject a statement: it counts no more, and is not proposed again."""
    _print(with_people(settings(home=home), lambda people: people.reject(id, statement)), json)


@person.command()
def edit(
    id: Id,
    statement: StatementId,
    text: Annotated[str | None, typer.Argument(help="The new words; left out, they stay.")] = None,
    kind: Kind = None,
    sensitive: Sensitive = None,
    since: Since = None,
    until: Until = None,
    json: Json = False,
    home: Home = None,
) -> None:
    """Change a statement; what is not given stays as it is. New words confirm it; `--until open` takes its end away."""
    given: dict[str, Any] = {"kind": kind, "sensitive": sensitive}
    given |= _when(*(None if when == OPEN else when for when in (since, until)))
    given["unbounded"] = [name for name, when in (("valid_from", since), ("valid_to", until)) if when == OPEN]
    _print(with_people(settings(home=home), lambda people: people.edit(id, statement, text, **given)), json)


@person.command()
def undo(id: Id, statement: StatementId, json: Json = False, home: Home = None) -> None:
    """Undo the last change of a statement; undoing the first one forgets it."""
    left = with_people(settings(home=home), lambda people: people.undo(id, statement))
    if left is None:
        print_json({"id": statement, "forgotten": True}) if json else print(f"{statement}\tforgotten")
    else:
        _print(left, json)


@person.command()
def forget(id: Id, statement: StatementId, json: Json = False, home: Home = None) -> None:
    """Forget one statement; stored answers and boards then say "[forgotten]" in its place."""
    gone = with_people(settings(home=home), lambda people: people.forget(id, statement))
    print_json(gone) if json else print(f"forgotten: {gone.text}")


@person.command()
def export(
    id: Id,
    format: Annotated[
        str, typer.Option(help="json (all that is held), or the statements as markdown or ptkb.")
    ] = "json",
    home: Home = None,
) -> None:
    """Print what is held about a person."""
    from personable.errors import UsageError
    from personable.people.exchange import to_markdown, to_ptkb

    conf = settings(home=home)

    async def statements(people: People) -> Sequence[Statement]:
        return await people.statements(id, ("confirmed", "proposed", "rejected"), ended=True)

    match format:
        case "json":
            print_json(with_people(conf, lambda people: people.export(id)))
        case "markdown":
            print(to_markdown(with_people(conf, lambda people: people.get(id)), with_people(conf, statements)), end="")
        case "ptkb":
            print_json(to_ptkb(with_people(conf, lambda people: people.statements(id))))
        case _:
            raise UsageError(f"{format!r} is not a format; choose one of: json, markdown, ptkb")


@person.command("import")
def import_file(
    id: Id,
    file: Annotated[str, typer.Argument(help="What `person export` printed, or a ptkb; - reads standard input.")],
    json: Json = False,
    home: Home = None,
) -> None:
    """Take in a person's JSON export (they must not be there), or statements of somebody who is."""
    from personable.people.exchange import read_import

    held, conf = read_import(_read(file), id, file), settings(home=home)
    if isinstance(held, dict):
        made = with_people(conf, lambda people: people.restore(held))
        print_json(made) if json else print(f"{made.id} is as they were")
        return
    kept = with_people(conf, lambda people: people.tell_many(id, held))
    print_json([one.model_dump(mode="json") for one in kept]) if json else print(f"{len(kept)} statements taken in")


def _print(one: Statement, json: bool) -> None:
    print_json(one) if json else print(f"{one.id}\t{one.kind}\t{one.text}")


def _when(since: str | None, until: str | None) -> dict[str, datetime | None]:
    from personable.errors import DataError, UsageError
    from personable.people.exchange import moment

    try:
        return {"valid_from": moment(since) if since else None, "valid_to": moment(until) if until else None}
    except DataError as error:
        raise UsageError(str(error)) from error


def _read(file: str) -> str:
    from personable.errors import DataError

    try:
        return sys.stdin.read() if file == "-" else Path(file).read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise DataError(f"{file} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise DataError(f"{file} is not UTF-8 text; save it as UTF-8") from error
