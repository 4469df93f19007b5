"""`index` and `collections`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from personable.cli.options import Embedder, Home, Json, print_json, settings

if TYPE_CHECKING:
    from personable.retrieval.corpus import IndexOptions, IndexReport, Progress

Paths = Annotated[list[Path], typer.Argument(help="Files and folders.")]


def add_to(app: typer.Typer) -> None:
    """Add the commands of this module."""
    app.command()(index)
    app.command()(collections)


def index(
    paths: Paths,
    into: Annotated[str, typer.Option("--into", help="Name of the collection.")] = "default",
    language: Annotated[str | None, typer.Option(help="Of a new collection: two letters, such as en or it.")] = None,
    text_field: Annotated[str | None, typer.Option(help="Field of CSV and JSONL records that holds the text.")] = None,
    title_field: Annotated[str | None, typer.Option(help="Field that holds the title.")] = None,
    id_field: Annotated[str | None, typer.Option(help="Field that holds the id.")] = None,
    items: Annotated[bool, typer.Option("--items", help="The records are items of a catalogue, to recommend.")] = False,
    certified: Annotated[
        bool, typer.Option("--certified", help="PATHS is the manifest of documents that were approved.")
    ] = False,
    json: Json = False,
    embedder: Embedder = None,
    home: Home = None,
) -> None:
    """Read files and folders into a collection; run it again to bring the collection up to date."""
    from personable.errors import UsageError
    from personable.kit import open_embedder
    from personable.retrieval.corpus import IndexOptions, open_collection

    if items and certified:
        raise UsageError("--items and --certified: a collection holds either; name one of them")
    conf = settings(embedder=embedder, home=home, language=language)
    if items:
        from personable.cli.recommending import index_items

        index_items(conf, paths, into, language, json)
        return
    if certified:
        from personable.cli.certifying import index_certified

        index_certified(conf, paths, into, named_embedder=embedder, json=json)
        return
    options = IndexOptions(
        text_field=text_field,
        title_field=title_field,
        id_field=id_field,
        passage_tokens=conf.passage_tokens,
        overlap_tokens=conf.overlap_tokens,
    )
    with open_collection(conf.home, into, language=language, embedder=open_embedder(conf), create=True) as collection:
        report = _index(collection.index, paths, options, quiet=json)
    if json:
        print_json(report)
    else:
        show_report(report, into)


def collections(
    json: Json = False,
    delete: Annotated[str | None, typer.Option("--delete", help="Delete this collection and its files.")] = None,
    home: Home = None,
) -> None:
    """List the collections, or delete one."""
    from personable.retrieval.corpus import delete_collection, list_collections

    conf = settings(home=home)
    if delete is not None:
        delete_collection(conf.home, delete)
    names = list_collections(conf.home)
    if json:
        print_json(names)
    else:
        print("\n".join(names) if names else "no collections yet: personable index PATH…")


def _index(run: Callable[..., IndexReport], paths: list[Path], options: IndexOptions, quiet: bool) -> IndexReport:
    from rich.console import Console
    from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    if quiet:
        return run(paths, options)
    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TextColumn("{task.fields[rate]}"))
    with Bar(*columns, TimeRemainingColumn(), console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("indexing", total=None, rate="")

        def show(progress: Progress) -> None:
            rate = f"{progress.passages / progress.seconds:.0f} passages/s" if progress.seconds else ""
            bar.update(task, completed=progress.done, total=progress.total, rate=rate)

        return run(paths, options, show)


def show_report(report: IndexReport, name: str) -> None:
    """What an indexing run did, and what could not be read."""
    import sys

    print(
        f"{name}: {report.added} added, {report.replaced} replaced, {report.unchanged} unchanged, "
        f"{report.removed} removed; {report.passages} passages written in {report.seconds:.1f} s"
    )
    for failed in report.failed:
        print(f"  failed: {failed.source}: {failed.error}", file=sys.stderr)
    for skipped in report.skipped:
        print(f"  skipped: {skipped.source}: {skipped.reason}", file=sys.stderr)
