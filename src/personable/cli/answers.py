"""`ask`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from personable.cli.options import (
    Collection,
    Embedder,
    Home,
    Json,
    Model,
    ModelUrl,
    print_json,
    run,
    settings,
    typed,
)

if TYPE_CHECKING:
    from personable.kit import Kit
    from personable.settings import Settings
    from personable.types import Question

Person = Annotated[str | None, typer.Option("--person", "-p", help="Who asks; nobody in particular where not given.")]


def add_to(app: typer.Typer) -> None:
    """Add the commands of this module."""
    app.command()(ask)


def ask(
    question: Annotated[str, typer.Argument(help="The question; - reads it from standard input.")],
    person: Person = None,
    collection: Collection = None,
    session: Annotated[str | None, typer.Option(help="Go on with the session of this name.")] = None,
    dial: Annotated[str, typer.Option(help="How much the person counts: off, auto or on.")] = "auto",
    compare: Annotated[bool, typer.Option("--compare", help="Show the plain answer beside the personal one.")] = False,
    trace: Annotated[bool, typer.Option("--trace", help="Show the whole board.")] = False,
    strict: Annotated[
        bool, typer.Option("--strict", help="Fail (status 5) where a model fails, instead of quoting.")
    ] = False,
    json: Json = False,
    model: Model = None,
    model_url: ModelUrl = None,
    embedder: Embedder = None,
    home: Home = None,
) -> None:
    """Answer a question for a person, with citations."""
    text = sys.stdin.read() if question == "-" else question
    asked = question_of(text, person, session, dial)
    check_session(person, session)
    conf = settings(model=model, model_url=model_url, embedder=embedder, home=home)
    run(_ask(conf, asked, collection, compare=compare, trace=trace, strict=strict, json=json))


def check_session(person: str | None, session: str | None) -> None:
    from personable.errors import UsageError

    if session is not None and person is None:
        raise UsageError("--session: a session belongs to a person; say whose it is with --person")


def question_of(text: str, person: str | None, session: str | None, dial: str) -> Question:
    from personable.errors import UsageError
    from personable.types import Question

    if not text.strip():
        raise UsageError('the question is empty: personable ask "QUESTION"')
    if dial not in ("off", "auto", "on"):
        raise UsageError(f"--dial {dial}: it is off, auto or on")
    return Question.model_validate({"text": typed(text), "person": person, "session": session, "dial": dial})


async def _ask(
    conf: Settings, asked: Question, collection: str | None, *, compare: bool, trace: bool, strict: bool, json: bool
) -> None:
    from personable.cli.showing import console, show_answer, show_compared, show_trace
    from personable.kit import open_kit
    from personable.pipelines.answer import answer
    from personable.retrieval.corpus import choose_collection

    async with await open_kit(conf, choose_collection(conf.home, collection)) as kit:
        if compare:
            plain = await answer(kit, asked.model_copy(update={"dial": "off"}), keep=False, strict=strict)
            personal = await answer(kit, asked, strict=strict)
            if json:
                print_json({"plain": plain.model_dump(mode="json"), "personal": personal.model_dump(mode="json")})
            else:
                show_compared("plain", plain, f"for {asked.person or 'a stranger'}", personal)
            return
        result, board = await _watched(kit, asked, quiet=json, strict=strict)
        if json:
            board_json = [post.model_dump(mode="json") for post in board.all()]
            print_json(result.model_dump(mode="json") | ({"board": board_json} if trace else {}))
            return
        show_answer(result)
        if trace:
            show_trace(board)
        console().print(f"[dim]answer {result.id}[/]", highlight=False)


async def _watched(kit: Kit, asked: Question, quiet: bool, strict: bool = False):  # type: ignore[no-untyped-def]
    """Answer while showing what is going on; the text appears sentence by sentence."""
    import asyncio

    from personable.board import Board
    from personable.cli.showing import watch
    from personable.pipelines.answer import answer

    board = Board()
    if quiet:
        return await answer(kit, asked, board=board, strict=strict), board
    watching = asyncio.create_task(watch(board.subscribe()))
    try:
        return await answer(kit, asked, board=board, strict=strict), board
    finally:
        await watching
