"""`demo` and `doctor`."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from personable.cli.options import Embedder, Home, Json, Model, ModelUrl, print_json, run, settings

if TYPE_CHECKING:
    from personable.settings import Settings
    from personable.types import Answer


def add_to(app: typer.Typer) -> None:
    """Add the commands of this module."""
    app.command()(demo)
    app.command()(doctor)


def demo(json: Json = False, model: Model = None, model_url: ModelUrl = None, home: Home = None) -> None:
    """Answer one question for two people from 206 real health cards; shows why the answers differ."""
    base = settings(home=home, model=model, model_url=model_url)
    conf = base.model_copy(update={"home": base.home / "demo"})
    answers = run(_demo(conf, quiet=json))
    if json:
        print_json({name: answer.model_dump(mode="json") for name, answer in answers.items()})
        return
    from personable.demo import COLLECTION, PEOPLE, QUESTION

    first, second = answers.values()
    from personable.cli.showing import show_compared

    print(f'\n"{QUESTION}"\n')
    show_compared(PEOPLE[0].name, first, PEOPLE[1].name, second)
    print(f"\nBoth searched the same {COLLECTION} cards; what each person said pulled other passages to the top.\n")
    home_option = f"--home {_quoted(conf.home)}"
    print(f'Ask more:        personable ask "What should I drink?" --person walter --trace {home_option}')
    print('Your documents:  personable index FOLDER, then personable ask "QUESTION"')
    print("Your model:      add --model openai:NAME (OPENAI_API_KEY), ollama:NAME, or llamacpp:FILE.gguf")


async def _demo(conf: Settings, quiet: bool) -> dict[str, Answer]:
    from personable.cli.collections import show_report
    from personable.demo import COLLECTION, PEOPLE, QUESTION, cards
    from personable.kit import open_embedder, open_kit
    from personable.pipelines.answer import answer
    from personable.retrieval.corpus import open_collection
    from personable.types import Question

    with open_collection(conf.home, COLLECTION, embedder=open_embedder(conf), create=True) as collection:
        report = collection.index([cards()])
    if not quiet:
        show_report(report, COLLECTION)
    answers: dict[str, Answer] = {}
    async with await open_kit(conf, COLLECTION) as kit:
        if kit.people is None:
            raise RuntimeError("the kit was opened without people")
        known = {person.id for person in await kit.people.list()}
        for neighbour in PEOPLE:
            if neighbour.id not in known:
                await kit.people.add(neighbour.id, neighbour.name)
            for statement in neighbour.statements:
                await kit.people.tell(neighbour.id, statement, sensitive=False)
            answers[neighbour.id] = await answer(kit, Question(text=QUESTION, person=neighbour.id))
    return answers


def _quoted(path: Path) -> str:
    import shlex

    return shlex.quote(str(path))


def doctor(
    json: Json = False,
    model: Model = None,
    model_url: ModelUrl = None,
    embedder: Embedder = None,
    home: Home = None,
) -> None:
    """Show what is configured and try each part: home, embedder, collections, people, model.

    Exit status: that of the first part that failed, such as 5 for a model that does not answer.
    """
    from personable.errors import PersonableError
    from personable.settings import load_settings

    conf = load_settings(home=home, model=model, model_url=model_url, embedder=embedder)
    rows, failed = [], 0
    for name, check in _CHECKS.items():
        started = time.perf_counter()
        try:
            state, said = "ok", check(conf)
        except PersonableError as error:
            state, said, failed = "failed", str(error), failed or error.exit_status
        rows.append({"part": name, "state": state, "says": said, "seconds": round(time.perf_counter() - started, 2)})
    if json:
        print_json(rows)
    else:
        for row in rows:
            print(f"{row['state']:<7}{row['part']:<13}{row['says']} ({row['seconds']} s)")
    if failed:
        raise typer.Exit(failed)


def _home(conf: Settings) -> str:
    from personable.settings import make_folder

    return str(make_folder(conf.home))


def _embedder(conf: Settings) -> str:
    from personable.kit import open_embedder

    embedder = open_embedder(conf)
    vector = embedder.queries(["a question"])[0]
    return f"{embedder.name}, {len(vector)} dimensions, {'remote' if embedder.remote else 'on this machine'}"


def _collections(conf: Settings) -> str:
    from personable.kit import open_embedder
    from personable.retrieval.corpus import list_collections, open_collection
    from personable.settings import make_folder

    said = []
    for name in list_collections(make_folder(conf.home)):
        with open_collection(conf.home, name, embedder=open_embedder(conf)) as collection:
            said.append(f"{name} ({len(collection.store)} passages)")
    return ", ".join(said) or "none yet"


def _people(conf: Settings) -> str:
    from personable.kit import open_people

    async def count() -> int:
        async with await open_people(conf) as people:
            return len(await people.list())

    return f"{run(count())} known"


def _model(conf: Settings) -> str:
    from pydantic import BaseModel

    from personable.kit import open_model
    from personable.llm.base import Prompt, Reply

    async def ask() -> str:
        model = open_model(conf)
        if model is None:
            return "quote: answers are quoted from your documents, no language model is used"
        try:
            reply: Reply[BaseModel] = await model.write(Prompt(system="Answer in one word.", task="Say: ready"))
            return f"{reply.model} answered ({'remote' if model.remote else 'on this machine or trusted'})"
        finally:
            await model.close()

    return run(ask())


_CHECKS: dict[str, Callable[[Settings], str]] = {
    "home": _home,
    "embedder": _embedder,
    "collections": _collections,
    "people": _people,
    "model": _model,
}
