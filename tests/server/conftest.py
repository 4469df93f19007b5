"""A home with documents, a catalogue and certified leaflets, and a real server over it on a free port."""

import asyncio
import json
import shutil
import socket
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2 as httpx
import pytest
import uvicorn

from personable.embed import make_embedder
from personable.kit import open_kit
from personable.llm.scripted import ScriptedModel
from personable.people.store import People
from personable.retrieval.catalogue import fill, read_items
from personable.retrieval.certifying import certify_documents
from personable.retrieval.corpus import open_collection
from personable.retrieval.report import IndexOptions
from personable.server.app import build_app
from personable.settings import Settings
from tests.conftest import PASSAGES

EMBEDDER = "hash:64"
ITEMS = ("red ink", "blue ink", "black ink", "oak desk", "oak chair", "wall clock")
MANIFEST = """\
name = "Kidney leaflets"
approver = "Dr Example"
[[emergency]]
phrases = ["chest pain"]
text = "Call the emergency number now."
[[documents]]
path = "leaflets"
version = "1"
approved = 2026-01-15
"""
LEAFLETS = {
    "stones": "# Kidney stones\n\nDrink 2 to 3 liters of water a day to prevent kidney stones. Stones may come back.\n",
    "gout": "# Gout\n\nGout is a painful form of arthritis. Uric acid crystals cause gout.\n",
    "milk": "# Lactose intolerance\n\nPeople with lactose intolerance cannot digest milk sugar. Yogurt may help.\n",
    "iron": "# Iron\n\nPregnant women need more iron. Lentils are rich in iron.\n",
}


@dataclass
class Running:
    """A server that runs, its store of people, and the secrets of keys by name: admin, builder, ana, bob."""

    address: str
    people: People
    keys: dict[str, str]
    app: Any
    server: uvicorn.Server
    home: Path
    clients: AsyncExitStack = field(default_factory=AsyncExitStack)

    async def client(self, key: str | None = "admin", **more: Any) -> httpx.AsyncClient:
        """A client with one of the keys; None sends none."""
        headers = {"Authorization": f"Bearer {self.keys.get(key, key)}"} if key else {}
        made = httpx.AsyncClient(base_url=self.address, headers=headers, timeout=60, **more)
        return await self.clients.enter_async_context(made)


class Slow(ScriptedModel):
    """A model that takes long: `asked` once it was asked, `left` once whoever asked gave it up."""

    def __init__(self) -> None:
        super().__init__("2 to 3 liters [1].", delay=30)
        self.forget()

    def forget(self) -> None:
        self.asked, self.left = asyncio.Event(), asyncio.Event()

    async def given_up(self) -> bool:
        """Whether who asked gave it up within ten seconds."""
        try:
            await asyncio.wait_for(self.left.wait(), 10)
        except TimeoutError:
            return False
        return True

    async def _answer(self, *given: Any) -> Any:
        self.asked.set()
        try:
            return await super()._answer(*given)
        except asyncio.CancelledError:
            self.left.set()
            raise


Start = Callable[..., Coroutine[Any, Any, Running]]


@pytest.fixture(scope="session")
def stocked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with the collections notes, shop and leaflets; to be copied."""
    home, source = tmp_path_factory.mktemp("home"), tmp_path_factory.mktemp("source")
    embedder = make_embedder(EMBEDDER)
    with open_collection(home, "notes", embedder=embedder, create=True) as notes:
        for passage in PASSAGES:
            notes.store.put(passage.document, "digest", [passage])
        notes.store.commit()
    lines = [json.dumps({"id": str(n), "title": title, "price": n + 1.5}) for n, title in enumerate(ITEMS)]
    (source / "items.jsonl").write_text("\n".join(lines), encoding="utf-8")
    with open_collection(home, "shop", embedder=embedder, create=True) as shop:
        fill(shop.store, read_items([source / "items.jsonl"]))
    (source / "leaflets").mkdir()
    for name, text in LEAFLETS.items():
        (source / "leaflets" / f"{name}.md").write_text(text, encoding="utf-8")
    (source / "leaflets.toml").write_text(MANIFEST, encoding="utf-8")
    with open_collection(home, "leaflets", embedder=embedder, create=True) as leaflets:
        certify_documents(leaflets.store, source / "leaflets.toml", IndexOptions())
    return home


@pytest.fixture
async def start(stocked: Path, tmp_path: Path) -> AsyncIterator[Start]:
    """Starts a server: `await start(model=…, setting=…)`; it is stopped at the end of the test."""
    async with AsyncExitStack() as running:

        async def begin(model: Any = None, **settings: Any) -> Running:
            home = tmp_path / "home"
            shutil.copytree(stocked, home, dirs_exist_ok=True)
            conf = Settings(home=home, **{"embedder": EMBEDDER, "server_rate": 100_000, **settings})
            kit = await running.enter_async_context(await open_kit(conf))
            kit.model = kit.agents_model = model
            assert kit.people is not None
            for person in ("ana", "bob"):
                await kit.people.add(person)
            await kit.people.tell("ana", "I have lactose intolerance", sensitive=False)
            keys = {scope: (await kit.people.add_key(scope))[1] for scope in ("admin", "builder")}
            keys |= {person: (await kit.people.add_key("person", person))[1] for person in ("ana", "bob")}
            bound = socket.create_server(("127.0.0.1", 0))
            app = build_app(kit)
            server = uvicorn.Server(uvicorn.Config(app, log_config=None, timeout_graceful_shutdown=5))
            task = asyncio.create_task(server.serve(sockets=[bound]))
            while not server.started:
                await asyncio.sleep(0.01)
                if task.done():
                    task.result()
            found = Running(f"http://127.0.0.1:{bound.getsockname()[1]}", kit.people, keys, app, server, home)

            async def end() -> None:
                await found.clients.aclose()
                server.should_exit = True
                await task

            running.push_async_callback(end)
            return found

        yield begin


def events(body: str) -> list[tuple[str, Any]]:
    """The server-sent events of a stream: name and value."""
    found = []
    for block in body.split("\n\n"):
        lines = dict(line.split(": ", 1) for line in block.splitlines() if not line.startswith(":"))
        if lines:
            found.append((lines["event"], json.loads(lines["data"])))
    return found
