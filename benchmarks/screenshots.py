"""Pictures of the six pages for docs/page.md: python benchmarks/screenshots.py [--out FOLDER] [--home FOLDER]

A server runs over the demonstration's cards and a small catalogue; a headless Chromium signs in as one of the
demonstration's people, uses each page, and takes it in a wide light window and in a narrow dark one. Printed are how
long the first page took until it could be used, and how many bytes came over the wire.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import shutil
import socket
import tempfile
from base64 import b64decode
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import uvicorn
from playwright.async_api import Browser, Page, async_playwright

from personable.demo import COLLECTION, PEOPLE, cards, certified
from personable.embed import make_embedder
from personable.evaluation.ratings import Rating, Scores, keep_rating, read_ratings, write_ratings
from personable.kit import open_kit
from personable.people.store import People
from personable.retrieval.catalogue import fill, read_items
from personable.retrieval.certifying import certify_documents
from personable.retrieval.corpus import open_collection
from personable.retrieval.report import IndexOptions
from personable.server.app import build_app
from personable.settings import Settings

ITEMS = (
    ("Cast iron pan", "kitchen", 39.0, "A heavy pan that keeps its heat, for vegetables and flat breads."),
    ("Steam basket", "kitchen", 14.5, "Steams vegetables and fish without salt or fat."),
    ("Yogurt maker", "kitchen", 29.9, "Seven jars of plain yogurt over night, as sweet as you like it."),
    ("Fruit press", "kitchen", 24.0, "Presses oranges and other fruit by hand."),
    ("Walking shoes", "outdoors", 89.0, "Light shoes for a long walk to work on any day."),
    ("Rain jacket", "outdoors", 74.9, "Keeps you dry when you walk in the rain."),
    ("Step counter", "outdoors", 19.9, "Counts the steps of each day; no telephone needed."),
    ("Garden chair", "garden", 45.0, "Oak, oiled, folds away in winter."),
    ("Herb garden", "garden", 18.0, "Six herbs in pots, so that food needs less salt."),
    ("Reading lamp", "home", 32.0, "A warm light that does not blind."),
)
WIDE, NARROW = 1100, 390
Use = Callable[[Page], Awaitable[None]]


async def fill_home(home: Path, people: People) -> None:
    """Make collections, people and a report."""
    embedder = make_embedder("minilm")
    with open_collection(home, COLLECTION, embedder=embedder, create=True) as collection:
        collection.index([cards()], IndexOptions())
    with open_collection(home, "certified", embedder=embedder, create=True) as leaflets:
        certify_documents(leaflets.store, certified(), IndexOptions())
    names = ("title", "category", "price", "description")
    lines = [json.dumps({"id": f"item-{n}", **dict(zip(names, item, strict=True))}) for n, item in enumerate(ITEMS)]
    (home / "items.jsonl").write_text("\n".join(lines), encoding="utf-8")
    with open_collection(home, "shop", embedder=embedder, create=True) as shop:
        fill(shop.store, read_items([home / "items.jsonl"]))
    for one in PEOPLE:
        await people.add(one.id, one.name)
        for text in one.statements:
            await people.tell(one.id, text, sensitive=False)
    scores = Scores(q1=1, q2=3, q3=5, q4=4, q5=4, q6=5, q7=5)
    keep_rating(home, Rating(answer="0" * 32, method="default", rater="person", scores=scores))
    write_ratings(read_ratings(home), home / "reports" / "ratings")


@asynccontextmanager
async def served(home: Path) -> AsyncIterator[tuple[str, dict[str, str]]]:
    """A server over `home`: its address, and the keys of the first person and of a builder."""
    async with await open_kit(Settings(home=home, embedder="minilm")) as kit:
        assert kit.people is not None
        if not await kit.people.list():
            await fill_home(home, kit.people)
        keys = {
            "person": (await kit.people.add_key("person", PEOPLE[0].id))[1],
            "builder": (await kit.people.add_key("builder"))[1],
        }
        bound = socket.create_server(("127.0.0.1", 0))
        server = uvicorn.Server(uvicorn.Config(build_app(kit), log_config=None))
        running = asyncio.create_task(server.serve(sockets=[bound]))
        while not server.started:  # noqa: ASYNC110, uvicorn tells it in no other way
            await asyncio.sleep(0.05)
        yield f"http://127.0.0.1:{bound.getsockname()[1]}", keys
        server.should_exit = True
        await running


async def ask(page: Page) -> None:
    await page.get_by_label("Collection").select_option(COLLECTION)
    await page.get_by_label("Your question").fill("I am lactose intolerant. What should I eat?")
    await page.keyboard.press("Enter")
    await page.locator(".turn:not([aria-busy])").last.wait_for()
    await page.locator(".sources").last.wait_for()


async def for_you(page: Page) -> None:
    await page.get_by_label("What you are looking for").fill("something for my walk")
    await page.get_by_role("button", name="Show").click()
    await page.get_by_text("because you asked for").first.wait_for()


async def certify(page: Page) -> None:
    await page.get_by_label("Your question").fill("How can I prevent kidney stones?")
    await page.get_by_role("button", name="Ask").click()
    await page.locator(".source").first.wait_for()


async def search(page: Page) -> None:
    await page.locator(".items .card").first.wait_for()


async def look(page: Page) -> None:
    await page.wait_for_timeout(500)


USES: dict[str, Use] = {
    "ask": ask,
    "you": look,
    "for-you": for_you,
    "certified": certify,
    "benchmarks": look,
    "collections": search,
}


async def sign_in(page: Page, key: str) -> None:
    await page.get_by_label("Your key").fill(key)
    await page.get_by_role("button", name="Sign in").click()
    await page.get_by_role("heading", name="Ask").wait_for()


async def take(
    browser: Browser, address: str, keys: dict[str, str], out: Path, form: str, width: int, scheme: str
) -> None:
    """Sign in, use each page and take it."""
    size: Any = {"width": width, "height": 900}
    chosen: Any = scheme
    context = await browser.new_context(viewport=size, color_scheme=chosen)
    page = await context.new_page()
    tools = await context.new_cdp_session(page)
    await tools.send("Performance.enable", {"timeDomain": "threadTicks"})
    await page.goto(address)
    timing = "performance.getEntriesByType('navigation')[0].domContentLoadedEventEnd"
    parts = "performance.getEntriesByType('navigation').concat(performance.getEntriesByType('resource'))"
    moved = await page.evaluate(f"{parts}.reduce((sum, one) => sum + one.transferSize, 0)")
    measured = {one["name"]: one["value"] for one in (await tools.send("Performance.getMetrics"))["metrics"]}
    worked = 1000 * measured["TaskDuration"]
    usable = await page.evaluate(timing)
    print(f"first page, {width} px: usable after {usable:.0f} ms, {worked:.0f} ms of them work, {moved:,} bytes")
    await sign_in(page, keys["person"])
    for name, use in USES.items():
        if name == "collections":  # a builder sees most of it
            await page.goto(f"{address}/sign-in")
            await sign_in(page, keys["builder"])
        await page.goto(f"{address}/{name}")
        await use(page)
        await page.evaluate("scrollTo(0, 0)")
        file = out / f"{name}-{'wide' if width == WIDE else 'phone'}.{form}"
        taken = await tools.send(
            "Page.captureScreenshot", {"format": form, **({"quality": 80} if form == "webp" else {})}
        )
        file.write_bytes(b64decode(taken["data"]))
        print(f"{file}: {file.stat().st_size:,} bytes")
    await context.close()


async def main(out: Path, home: Path | None, form: str) -> None:
    """Take all of them, from a home that is made for it unless one is there."""
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as fresh:
        async with served(home or Path(fresh)) as (address, keys), async_playwright() as playwright:
            found = shutil.which("chromium")
            browser = await playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
            await take(browser, address, keys, out, form, WIDE, "light")
            await take(browser, address, keys, out, form, NARROW, "dark")
            await browser.close()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("docs/screenshots"))
    parser.add_argument("--home", type=Path, help="a home to keep and to use again")
    parser.add_argument("--form", choices=("webp", "png"), default="webp")
    given = parser.parse_args()
    asyncio.run(main(given.out, given.home, given.form))
