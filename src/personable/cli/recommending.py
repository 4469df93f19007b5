"""`recommend`, `tune` and `did`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from personable.cli.answers import Person
from personable.cli.options import Embedder, Home, Json, Model, ModelUrl, print_json, run, settings, typed

if TYPE_CHECKING:
    from personable.people.events import EventKind
    from personable.retrieval.catalogue import Wanted
    from personable.retrieval.choice import Fusion
    from personable.settings import Settings
    from personable.types import Recommendations, Wish

Catalogue = Annotated[str | None, typer.Option("--from", help="The catalogue; not needed where there is only one.")]


def add_to(app: typer.Typer) -> None:
    """Add the commands of this module."""
    app.command()(recommend)
    app.command()(tune)
    app.command()(did)


def recommend(
    query: Annotated[str, typer.Argument(help="What is wished for; may be left out.")] = "",
    person: Person = None,
    catalogue: Catalogue = None,
    k: Annotated[int, typer.Option("-k", min=1, max=50, help="How many items.")] = 5,
    session: Annotated[str | None, typer.Option(help="The current session; else the person's latest.")] = None,
    category: Annotated[
        str | None, typer.Option(help="Only this category: any name on an item's paths of categories.")
    ] = None,
    max_price: Annotated[float | None, typer.Option(min=0, help="Only up to this price.")] = None,
    out_of_stock: Annotated[bool, typer.Option("--out-of-stock", help="Also what is out of stock.")] = False,
    again: Annotated[bool, typer.Option("--again", help="Also what the person turned to before.")] = False,
    trace: Annotated[bool, typer.Option("--trace", help="Show the whole board.")] = False,
    json: Json = False,
    model: Model = None,
    model_url: ModelUrl = None,
    embedder: Embedder = None,
    home: Home = None,
) -> None:
    """Recommend items of a catalogue for a person, with reasons."""
    from personable.people.checks import checked_id
    from personable.retrieval.catalogue import Wanted
    from personable.types import Wish

    conf = settings(model=model, model_url=model_url, embedder=embedder, home=home)
    if session is not None:
        checked_id(session, "session")
    wish = Wish(person=person, session=session, query=typed(query), k=k, again=again)
    wanted = Wanted(category=category, dearest=max_price, in_stock=not out_of_stock)
    run(_recommend(conf, catalogue, wish, wanted, trace=trace, json=json))


def tune(catalogue: Catalogue = None, json: Json = False, embedder: Embedder = None, home: Home = None) -> None:
    """Fit a catalogue's weights to what people chose so far, and keep the fit where it proves better than none."""
    fusion = run(_tune(settings(embedder=embedder, home=home), catalogue))
    if json:
        print_json(fusion)
        return
    print(fusion.verdict)
    for name, weight in fusion.weights.items():
        print(f"  {name}\t{weight:.3f}")


def did(
    person: Annotated[str, typer.Argument(help="The person's id.")],
    kind: Annotated[str, typer.Argument(help="click, dwell, rating, thumbs or purchase.")],
    items: Annotated[list[str], typer.Argument(help="Ids of items, in the order in which it happened.")],
    session: Annotated[str | None, typer.Option(help="The session in which it happened.")] = None,
    value: Annotated[float | None, typer.Option(help="Seconds of a dwell, 1 to 5 of a rating, -1 or 1 thumbs.")] = None,
    catalogue: Catalogue = None,
    json: Json = False,
    home: Home = None,
) -> None:
    """Record what a person did with items of a catalogue: with the only one, or with each that holds them."""
    from personable.cli.people import with_people
    from personable.errors import UsageError
    from personable.people.events import Event, misvalued
    from personable.retrieval.corpus import choose_catalogue, unknown_items

    kinds: tuple[EventKind, ...] = ("click", "dwell", "rating", "thumbs", "purchase")
    chosen = next((one for one in kinds if one == kind), None)
    if chosen is None:
        raise UsageError(f"{kind!r} is nothing that one does with an item; choose one of: {', '.join(kinds)}")
    if wrong := misvalued(chosen, value):  # also of a value that is no number, which no event takes
        raise UsageError(wrong)
    conf = settings(home=home)
    shop = choose_catalogue(conf.home, catalogue)
    given = {"person": person, "kind": chosen, "session": session, "value": value, "collection": shop}
    events = [Event.model_validate({**given, "item": item}) for item in items]
    count = with_people(conf, lambda people: people.record_many(events))
    print_json({"recorded": count}) if json else print(f"{count} recorded")
    for item in unknown_items(conf.home, shop, items) if shop else ():
        print(f"note: the catalogue {shop} holds no item {item!r}; it counts once it does", file=sys.stderr)


async def _recommend(
    conf: Settings, catalogue: str | None, wish: Wish, wanted: Wanted, *, trace: bool, json: bool
) -> None:
    from personable.board import Board
    from personable.cli.showing import show_trace
    from personable.kit import open_kit
    from personable.pipelines.recommend import recommend as work
    from personable.pipelines.shop import open_shop
    from personable.retrieval.corpus import choose_collection

    board = Board()
    async with await open_kit(conf, choose_collection(conf.home, catalogue, "--from")) as kit:
        result = await work(kit, await open_shop(kit), wish, wanted=wanted, board=board)
    if json:
        posts = [post.model_dump(mode="json") for post in board.all()]
        print_json(result.model_dump(mode="json") | ({"board": posts} if trace else {}))
        return
    _show(result)
    if trace:
        show_trace(board)


def _show(result: Recommendations) -> None:
    from personable.cli.showing import assembled, console, styled

    screen = console()
    if not result.items:
        screen.print(styled("nothing in the catalogue fits"))
    for one in result.items:
        price = "" if one.price is None else f"  {one.price:.2f}"
        screen.print(assembled((f"{one.place}. ", "bold"), one.title, (f"  {one.item}{price}", "dim")), soft_wrap=True)
        for reason in one.reasons:
            screen.print(assembled(("   ", "dim"), (reason.text, "dim")), soft_wrap=True)
    for what in result.degraded:
        screen.print(styled(f"note: {what}", "yellow"), soft_wrap=True)
    screen.print(styled(f"recommendation {result.id}", "dim"))


async def _tune(conf: Settings, catalogue: str | None) -> Fusion:
    from personable.kit import open_kit
    from personable.pipelines.shop import learn_weights
    from personable.retrieval.corpus import choose_collection

    async with await open_kit(conf, choose_collection(conf.home, catalogue, "--from")) as kit:
        return await learn_weights(kit)


def index_items(conf: Settings, paths: list[Path], name: str, language: str | None, json: bool) -> None:
    """Make the catalogue `name` mirror the items of `paths`, and show what changed."""
    from personable.cli.collections import show_report
    from personable.kit import open_embedder
    from personable.retrieval.catalogue import fill, read_items
    from personable.retrieval.corpus import open_collection

    stock = read_items(paths)
    with open_collection(conf.home, name, language=language, embedder=open_embedder(conf), create=True) as shop:
        report = fill(shop.store, stock)
    print_json(report) if json else show_report(report, name)
