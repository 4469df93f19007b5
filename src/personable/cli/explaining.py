"""`why`: what moved a stored answer, and what would be otherwise."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from personable.cli.options import Home, Json, print_json, run, settings

if TYPE_CHECKING:
    from personable.board import Board
    from personable.settings import Settings


def add_to(app: typer.Typer) -> None:
    """Add the commands of this module."""
    app.command()(why)


def why(
    answer: Annotated[str, typer.Argument(help="Its id, as `ask`, `chat` and `certify` print it.")],
    without: Annotated[str | None, typer.Option(help="Only: what if this statement (its id) were not known?")] = None,
    json: Json = False,
    home: Home = None,
) -> None:
    """Say what moved an answer: statements, feedback and session, and where passages would stand without them."""
    from personable.pipelines import why as explaining

    board = run(_board(settings(home=home), answer))
    if without is not None:
        effect = explaining.what_if(board, without)
        print_json(effect) if json else print(explaining.told(effect))
        return
    found = explaining.why(board)
    print_json(found) if json else print("\n".join(explaining.in_sentences(found)))


async def _board(conf: Settings, answer: str) -> Board:
    from personable.board import Board
    from personable.kit import open_people

    async with await open_people(conf) as people:
        kept = await people.any_answer(answer)
    return Board.from_json(kept.board, f"answer {answer}")
