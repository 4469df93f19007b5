"""`feedback`, and `person weights`: what was learnt from it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from personable.cli.options import Home, Json, print_json, run, settings
from personable.cli.people import Id, person

if TYPE_CHECKING:
    from personable.people.memory import WeightsChange
    from personable.people.store import People
    from personable.pipelines.feedback import Kind, Outcome
    from personable.settings import Settings


def add_to(app: typer.Typer) -> None:
    """Add the commands of this module."""
    app.command()(feedback)
    person.command()(weights)


def feedback(
    answer: Annotated[str, typer.Argument(help="The answer's id, as `ask` printed it.")],
    passage: Annotated[int | None, typer.Argument(help="The number of one of its passages; else all of it.")] = None,
    click: Annotated[bool, typer.Option("--click", help="The passage was opened.")] = False,
    up: Annotated[bool, typer.Option("--up", help="It was good.")] = False,
    down: Annotated[bool, typer.Option("--down", help="It was bad.")] = False,
    not_interested: Annotated[bool, typer.Option("--not-interested", help="No more passages like this.")] = False,
    rate: Annotated[float | None, typer.Option("--rate", min=1, max=5, help="From 1 (bad) to 5 (good).")] = None,
    comment: Annotated[str | None, typer.Option("--comment", help="What was good or bad, in words.")] = None,
    person: Annotated[str | None, typer.Option("--person", "-p", help="Who says so; else who asked.")] = None,
    json: Json = False,
    home: Home = None,
) -> None:
    """Say what an answer was worth, such as: feedback ANSWER --click 2, --up, --down 1, --rate 4, --comment "…"."""
    from personable.errors import UsageError

    said: list[tuple[Kind, dict[str, Any]]] = []
    said += [("click", {})] if click else []
    said += [("thumbs", {"value": 1.0})] if up else []
    said += [("thumbs", {"value": -1.0})] if down else []
    said += [("not interested", {})] if not_interested else []
    said += [("rating", {"value": rate})] if rate is not None else []
    said += [("comment", {"text": comment})] if comment is not None else []
    if len(said) != 1:
        raise UsageError("say one thing: --click N, --up, --down, --not-interested N, --rate R or --comment TEXT")
    kind, given = said[0]
    outcome = run(_feedback(settings(home=home), answer, person, kind, given | {"passage": passage}))
    if json:
        print_json(outcome)
        return
    print(outcome.why)
    if outcome.change is not None:
        _show(outcome.change)


async def _feedback(conf: Settings, answer: str, who: str | None, kind: Kind, given: dict[str, Any]) -> Outcome:
    from personable.errors import UsageError
    from personable.kit import Kit, open_people
    from personable.pipelines.feedback import feedback as work

    async with await open_people(conf) as people:
        who = who or (await people.any_answer(answer)).person
        if who is None:
            raise UsageError(
                f"answer {answer} was for nobody in particular: ask with --person, so that it can be learnt"
            )
        return await work(Kit(conf, people=people), answer, who, kind, **given)


def weights(
    id: Id,
    history: Annotated[bool, typer.Option("--history", help="List every change, oldest first.")] = False,
    undo: Annotated[bool, typer.Option("--undo", help="Take the last change back.")] = False,
    to: Annotated[str | None, typer.Option("--to", help="Go back to a change, by its id; start: before any.")] = None,
    json: Json = False,
    home: Home = None,
) -> None:
    """Say in words what was learnt from a person's feedback; show its history, or take it back."""
    from personable.errors import UsageError

    if sum((history, undo, to is not None)) > 1:
        raise UsageError("choose one of --history, --undo and --to")
    found = run(_weights(settings(home=home), id, history, undo, to))
    if json:
        print_json([one.model_dump(mode="json") for one in found] if history else _as_json(found))
    elif history:
        print("\n".join(_line(one) for one in found) or "nothing was learnt yet")
    else:
        _show(found[-1] if found else None)


async def _weights(conf: Settings, id: str, history: bool, undo: bool, to: str | None) -> list[WeightsChange]:
    from personable.kit import open_people

    async def work(people: People) -> list[WeightsChange]:
        if history:
            return await people.weight_history(id)
        if undo:
            return [await people.undo_weights(id)]
        if to is not None:
            return [await people.roll_back_weights(id, to)]
        latest = await people.weights(id)
        return [latest] if latest else []

    async with await open_people(conf) as people:
        return await work(people)


def _line(change: WeightsChange) -> str:
    return f"{change.id}\t{change.created:%Y-%m-%d %H:%M:%S}\t{change.reason}"


def _as_json(found: list[WeightsChange]) -> dict[str, Any]:
    from personable.notes import WeightsNote
    from personable.people.weights import Weights, in_words
    from personable.pipelines.knowing import weights_note

    note = weights_note(found[-1]) if found else WeightsNote()
    return note.model_dump(mode="json", exclude={"kind"}) | {"words": in_words(Weights.read(note.values))}


def _show(change: WeightsChange | None) -> None:
    from personable.people.weights import Weights, in_words
    from personable.pipelines.knowing import weights_note

    for sentence in in_words(Weights.read(weights_note(change).values) if change else Weights()):
        print(f"  {sentence}")
