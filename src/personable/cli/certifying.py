"""`certify`, and what `index --certified` does."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from personable.cli.answers import Person
from personable.cli.options import Collection, Embedder, Home, Json, Model, ModelUrl, print_json, run, settings, typed

if TYPE_CHECKING:
    from personable.board import Board
    from personable.cli.conversing import How
    from personable.pipelines.certified_finding import Method
    from personable.settings import Settings
    from personable.types import CertifiedAnswer, Question


def add_to(app: typer.Typer) -> None:
    """Add the commands of this module."""
    app.command()(certify)


def certify(
    question: Annotated[str, typer.Argument(help="The question; - reads it from standard input.")],
    person: Person = None,
    collection: Collection = None,
    method: Annotated[str, typer.Option(help="default, or as published: zero-shot or cot.")] = "default",
    trace: Annotated[bool, typer.Option("--trace", help="Show the whole board.")] = False,
    strict: Annotated[bool, typer.Option("--strict", help="Fail (status 5) where a model fails.")] = False,
    json: Json = False,
    model: Model = None,
    model_url: ModelUrl = None,
    embedder: Embedder = None,
    home: Home = None,
) -> None:
    """Answer a question with certified text alone, each sentence with its source."""
    from personable.errors import UsageError
    from personable.pipelines.certified_finding import METHODS
    from personable.types import Question

    named = next((one for one in METHODS if one == method), None)
    if named is None:
        raise UsageError(f"--method {method}: it is {', '.join(METHODS)}")
    text = typed(sys.stdin.read() if question == "-" else question)
    if not text:
        raise UsageError('the question is empty: personable certify "QUESTION"')
    conf = settings(model=model, model_url=model_url, embedder=embedder, home=home)
    asked = Question(text=text, person=person)
    run(_certify(conf, asked, collection, named, embedder is not None, trace=trace, strict=strict, json=json))


async def _certify(
    conf: Settings,
    asked: Question,
    collection: str | None,
    method: Method,
    named_embedder: bool,
    *,
    trace: bool,
    strict: bool,
    json: bool,
) -> None:
    from personable.board import Board
    from personable.cli.showing import console, show_trace, styled
    from personable.errors import PersonableError
    from personable.pipelines.certify import emergency_of
    from personable.retrieval.corpus import choose_collection

    name, board = choose_collection(conf.home, collection), Board()
    try:
        result = await _answered(conf, asked, name, method, board, named_embedder, strict=strict, quiet=json)
    except PersonableError as error:
        result = emergency_of(conf.home / "collections" / name, asked, method, board, error)
        if not json:
            console().print(styled(result.answer.text), soft_wrap=True)
    if json:
        posts = [post.model_dump(mode="json") for post in board.all()]
        print_json(result.model_dump(mode="json") | ({"board": posts} if trace else {}))
        return
    _show(result)
    if trace:
        show_trace(board)


async def _answered(
    conf: Settings,
    asked: Question,
    name: str,
    method: Method,
    board: Board,
    named_embedder: bool,
    *,
    strict: bool,
    quiet: bool,
) -> CertifiedAnswer:
    """The answer out of the collection `name`, shown as it comes unless `quiet`."""
    from personable.cli.showing import watch
    from personable.kit import open_kit
    from personable.pipelines.certify import certify as work
    from personable.retrieval.cards import open_cards
    from personable.retrieval.corpus import open_collection

    if not named_embedder:  # each collection is searched with what it was made with
        with open_collection(conf.home, name) as found:
            conf = conf.model_copy(update={"embedder": found.store.manifest.embedder or conf.embedder})
    async with await open_kit(conf, name) as kit:
        assert kit.store is not None
        cards = open_cards(kit.store, kit.embedder)
        watching = asyncio.create_task(watch(board.subscribe())) if not quiet else None
        try:
            return await work(kit, cards, asked, method=method, board=board, strict=strict)
        finally:
            if watching is not None:
                await watching


def _show(result: CertifiedAnswer) -> None:
    """The sources of a certified answer, whose text was shown as it came."""
    from personable.cli.showing import assembled, console, styled

    screen = console()
    for one in result.certification.sources:
        named = assembled((f"[{one.number}] ", "bold"), one.title, (f"  {one.url or one.document}", "dim"))
        screen.print(named, soft_wrap=True)
        publisher = f"{one.publisher}, " if one.publisher else ""
        approved = f"{publisher}version {one.version}, approved {one.approved} by {one.approver}"
        screen.print(styled(f"    {approved}; sha256 {one.sha256[:16]}…", "dim"), soft_wrap=True)
    for what in result.answer.degraded:
        screen.print(styled(f"note: {what}", "yellow"), soft_wrap=True)
    screen.print(styled(f"answer {result.answer.id}", "dim"))


def index_certified(conf: Settings, paths: list[Path], name: str, *, named_embedder: str | None, json: bool) -> None:
    """Make the collection `name` mirror a manifest's documents, with its own embedder unless another is named."""
    from personable.cli.collections import show_report
    from personable.errors import UsageError
    from personable.kit import open_embedder
    from personable.retrieval.certified import read_approval
    from personable.retrieval.certifying import certify_documents
    from personable.retrieval.corpus import open_collection
    from personable.retrieval.report import IndexOptions

    if len(paths) != 1:
        raise UsageError("--certified takes one manifest: personable index MANIFEST.toml --certified --into NAME")
    manifest = read_approval(paths[0])
    if manifest.embedder and named_embedder is None:
        conf = conf.model_copy(update={"embedder": manifest.embedder})
    options = IndexOptions(passage_tokens=conf.passage_tokens, overlap_tokens=conf.overlap_tokens)
    with open_collection(
        conf.home, name, language=manifest.language, embedder=open_embedder(conf), create=True
    ) as collection:
        report = certify_documents(collection.store, paths[0], options)
    print_json(report) if json else show_report(report, name)


async def evaluate_certified(conf: Settings, how: How) -> None:
    """What `eval certified` does; a reranker of the settings reads again: titles only, without `bodies`."""
    from rich.console import Console

    from personable.embed import make_embedder
    from personable.evaluation.certified_run import as_table, run_certified
    from personable.evaluation.liveqa import Remembered, Titles
    from personable.evaluation.recording import open_recording
    from personable.retrieval.rerank import EmbeddingReranker, make_reranker

    async with await open_recording(conf, how.record, how.replay) as kit:
        if conf.reranker != "none":
            kit.reranker = make_reranker(conf.reranker)
        if isinstance(kit.reranker, EmbeddingReranker):
            reads = Remembered if how.bodies else Titles
            kit.reranker = EmbeddingReranker(reads(make_embedder(conf.reranker)))
        tell = Console(stderr=True, quiet=how.json).print
        report = await run_certified(kit, how.data, how.out, how.limit, bodies=how.bodies, tell=tell)
    if how.json:
        print_json(report)
    else:
        print(as_table(report))
