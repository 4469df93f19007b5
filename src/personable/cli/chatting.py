"""`chat`: a conversation on the terminal, with the person's statements at hand."""

from __future__ import annotations

import asyncio
import contextlib
import json
import shlex
import sys
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated

import typer

from personable.cli.answers import Person, check_session, question_of
from personable.cli.options import Collection, Embedder, Home, Json, Model, ModelUrl, run, settings, typed

if TYPE_CHECKING:
    from personable.board import Board
    from personable.kit import Kit
    from personable.people.statements import Statement
    from personable.people.store import People
    from personable.settings import Settings
    from personable.types import Answer, PastTurn

HELP = """\
/why           what moved the last response
/trace         the last response's board
/statements    what is known about you, numbered
/confirm N     statement N is right        /reject N    it is not
/forget N      remove statement N for good
/history       the conversation so far
/quit          end"""
SHOWN = 20
"""Earlier turns that are shown when a conversation is taken up again."""


def add_to(app: typer.Typer) -> None:
    """Add the commands of this module."""
    app.command()(chat)


def chat(
    person: Person = None,
    collection: Collection = None,
    session: Annotated[str | None, typer.Option(help="Take up the conversation of this name again.")] = None,
    dial: Annotated[str, typer.Option(help="How much the person counts: off, auto or on.")] = "auto",
    as_json: Json = False,
    model: Model = None,
    model_url: ModelUrl = None,
    embedder: Embedder = None,
    home: Home = None,
) -> None:
    """Converse about a collection: each utterance is understood with the turns before it; /help lists commands.

    A person's conversation is kept under its name and can be taken up again; a stranger's ends with the command.
    With --json each line of standard input is an utterance and each response a line of JSON.
    """
    check_session(person, session)
    conf = settings(model=model, model_url=model_url, embedder=embedder, home=home)
    run(_chat(conf, collection, person, session, dial, as_json))


@dataclass
class Talk:
    """One conversation: with whom, and the last response's board."""

    kit: Kit
    person: str | None
    session: str | None
    dial: str
    as_json: bool
    turns: list[PastTurn] = field(default_factory=list)
    board: Board | None = None
    numbered: list[Statement] = field(default_factory=list)

    async def say(self, line: str) -> None:
        """Respond to an utterance; a stranger's turns are remembered here, a person's in the store."""
        from personable.types import PastTurn

        question = question_of(line, self.person, self.session, self.dial)
        turns = None if self.session else self.turns
        result, self.board = await _watched(self.kit, question, turns, quiet=self.as_json)
        self.turns.append(PastTurn(utterance=line, response=result.text))
        if self.as_json:
            print(
                json.dumps(result.model_dump(mode="json") | {"session": self.session}, ensure_ascii=False), flush=True
            )
        else:
            _show(result, self.board)

    async def command(self, line: str) -> None:
        """Carry out a line that begins with "/"."""
        from personable.cli.showing import console, show_trace, styled
        from personable.pipelines import why

        name, _, argument = line.partition(" ")
        if name in ("/why", "/trace"):
            if self.board is None:
                console().print("nothing was said yet")
            elif name == "/trace":
                show_trace(self.board)
            else:
                for told in why.in_sentences(why.why(self.board)):
                    console().print(styled(told), soft_wrap=True)
        elif name == "/history":
            await self.history()
        elif name in ("/statements", "/confirm", "/reject", "/forget"):
            await self.statements(name, argument.strip())
        else:
            console().print(HELP, markup=False, highlight=False)

    async def history(self) -> int:
        """Print the conversation so far; returns how many turns."""
        from personable.cli.showing import console, styled
        from personable.types import PastTurn

        turns = self.turns
        if self.kit.people is not None and self.person is not None and self.session is not None:
            stored = await self.kit.people.turns(self.person, self.session, SHOWN)
            turns = [PastTurn(utterance=turn.question, response=turn.answer) for turn in stored]
        for turn in turns[-SHOWN:]:
            console().print(styled(f"> {turn.utterance}", "bold"), soft_wrap=True)
            console().print(styled(turn.response), soft_wrap=True)
        return len(turns)

    async def statements(self, name: str, argument: str) -> None:
        """List, confirm, reject or forget what is known about the person."""
        from personable.cli.showing import console, styled

        if self.kit.people is None or self.person is None:
            console().print("nobody in particular is speaking: personable chat --person ID", highlight=False)
            return
        if name == "/statements":
            self.numbered = await self.kit.people.statements(self.person, ("confirmed", "proposed"))
            for number, one in enumerate(self.numbered, 1):
                state = "" if one.state == "confirmed" else f" ({one.state})"
                console().print(styled(f"{number}. {one.text}{state}"), soft_wrap=True)
            if not self.numbered:
                console().print("nothing is known about you")
            return
        if not argument.isdecimal() or not 1 <= int(argument) <= len(self.numbered):
            console().print(f"{name} N: N is a number that /statements shows", markup=False, highlight=False)
            return
        chosen = self.numbered[int(argument) - 1]
        await _changed(self.kit.people, self.person, name, chosen.id)
        if name == "/forget":
            self.board, self.numbered = None, []  # they hold its words
            self.kit.forget_texts()
        done = {"/confirm": "confirmed", "/reject": "rejected", "/forget": "forgotten"}[name]
        console().print(styled(f"{done}: {chosen.text}"), soft_wrap=True)


async def _changed(people: People, person: str, name: str, statement: str) -> None:
    if name == "/forget":
        await people.forget(person, statement)
    elif name == "/confirm":
        await people.confirm(person, statement)
    else:
        await people.reject(person, statement)


def _show(result: Answer, board: Board) -> None:
    from personable.cli.showing import console, show_sources, styled
    from personable.notes import ProfileNote

    show_sources(result)
    if result.ask and result.ask != result.text:
        console().print(styled(result.ask, "cyan"), soft_wrap=True)
    for what in result.degraded:
        console().print(styled(f"note: {what}", "yellow"), soft_wrap=True)
    heard = board.latest(ProfileNote)
    if result.person is not None and heard is not None and heard.proposed:
        said = "; ".join(heard.proposed)
        console().print(styled(f"heard: {said} (/statements, then /confirm N or /forget N)", "dim"), soft_wrap=True)


async def _watched(kit: Kit, question, turns, quiet: bool):  # type: ignore[no-untyped-def]
    """Respond while showing who is at work; the text appears sentence by sentence."""
    from personable.board import Board
    from personable.cli.showing import watch
    from personable.pipelines.converse import converse

    board = Board()
    watching = None if quiet else asyncio.create_task(watch(board.subscribe()))
    try:
        return await converse(kit, question, turns=turns, board=board), board
    finally:
        if watching is not None:
            await watching


async def _chat(
    conf: Settings, collection: str | None, person: str | None, session: str | None, dial: str, as_json: bool
) -> None:
    from personable.cli.showing import console
    from personable.errors import PersonableError
    from personable.kit import open_kit
    from personable.retrieval.corpus import choose_collection

    question_of("?", person, session, dial)
    async with await open_kit(conf, choose_collection(conf.home, collection)) as kit:
        again = session is not None
        if person is not None and kit.people is not None:
            session = await kit.people.open_session(person, session)
        talk = Talk(kit, person, session, dial, as_json)
        if not as_json:
            console().print("[dim]/help lists commands, /quit ends[/]", highlight=False)
            if again and not await talk.history():
                console().print("[dim]a new conversation[/]")
        while (line := await _line("" if as_json else "> ")) is not None and line != "/quit":
            try:
                if line.startswith("/") and not as_json:
                    await talk.command(line)
                elif line:
                    await talk.say(line)
            except PersonableError as error:  # what went wrong with one line does not end a conversation
                print(f"personable: {error}", file=sys.stderr)
        if session is not None and person is not None and not as_json:
            how = f"personable chat --person {shlex.quote(person)} --session {shlex.quote(session)}"
            console().print(f"[dim]to go on: {how}[/]", highlight=False, soft_wrap=True)


async def _line(prompt: str) -> str | None:
    """The next line, None at the end of input. It is read in a thread that nobody waits for: Ctrl-C ends at once."""
    loop = asyncio.get_running_loop()
    found: asyncio.Future[str | None] = loop.create_future()

    def read() -> None:
        try:
            line: str | None = typed(input(prompt))
        except EOFError:
            line = None
        with contextlib.suppress(RuntimeError):  # the loop is gone
            loop.call_soon_threadsafe(_settle, found, line)

    threading.Thread(target=read, daemon=True).start()
    return await found


def _settle(found: asyncio.Future[str | None], line: str | None) -> None:
    if not found.done():
        found.set_result(line)
