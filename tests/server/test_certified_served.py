"""Certified texts on every way out of the server: an altered one is refused, one whose approval ended is not shown."""

import os
import shutil
import sqlite3
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from datetime import date
from pathlib import Path
from typing import Any

import httpx2 as httpx
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from personable.embed import make_embedder
from personable.retrieval.certifying import certify_documents
from personable.retrieval.corpus import open_collection
from personable.retrieval.report import IndexOptions
from tests.server.conftest import EMBEDDER, MANIFEST, Start
from tests.server.web.conftest import signed_in

STONES, GOUT = "leaflets/stones.md", "old/gout.md"
OPENED = {
    "document": ("/v1/collections/leaflets/document", {"id": STONES}),
    "passage": ("/v1/collections/leaflets/passage", {"id": STONES}),
    "title": ("/v1/collections/leaflets/passage", {"id": f"{STONES}#title"}),
    "search": ("/v1/collections/leaflets/search", {"q": "kidney stones", "k": "1"}),
}
ALTERED = "'leaflets/stones.md' was altered"
ENDED = "the approval of 'old/gout.md' ended on 2020-06-01"


def alter(home: Path, place: str) -> None:
    """Change the dose in what was certified: in the index, or in the stored file."""
    folder = home / "collections/leaflets"
    if place == "index":
        with closing(sqlite3.connect(folder / "passages.sqlite")) as database:
            change = "UPDATE passage SET text = replace(text, '2 to 3 liters', '9 liters') WHERE id = ?"
            assert database.execute(change, (STONES,)).rowcount == 1
            database.commit()
        return
    (file,) = [path for path in (folder / "originals").iterdir() if b"2 to 3 liters" in path.read_bytes()]
    file.write_bytes(file.read_bytes().replace(b"2 to 3 liters", b"9 liters"))


def certify_old(home: Path) -> None:
    """A collection `old` of two leaflets, of which the approval of the one on gout ended since."""
    source = home.parent / "source"
    (source / "old").mkdir(parents=True)
    (source / "old/gout.md").write_text("# Gout\n\nTreat gout with leeches.\n", encoding="utf-8")
    (source / "new.md").write_text("# Gout today\n\nColchicine helps in acute gout.\n", encoding="utf-8")
    entry = MANIFEST.index("[[documents]]")
    text = MANIFEST[:entry] + "".join(
        f'[[documents]]\npath = "{path}"\nversion = "1"\napproved = 2020-01-15\n{more}'
        for path, more in (("old", "expires = 2020-06-01\n"), ("new.md", ""))
    )
    (source / "old.toml").write_text(text, encoding="utf-8")
    with open_collection(home, "old", embedder=make_embedder(EMBEDDER), create=True) as collection:
        certify_documents(collection.store, source / "old.toml", IndexOptions(), date(2020, 2, 1))


@asynccontextmanager
async def mcp_client(address: str, http: httpx.AsyncClient) -> AsyncIterator[Client]:
    async with Client(streamable_http_client(f"{address}/mcp", http_client=http)) as asked:
        yield asked


@pytest.mark.parametrize("place", ["index", "file"])
@pytest.mark.parametrize("way", OPENED)
async def test_an_altered_text_is_refused_by_every_route_as_by_certify(start: Start, way: str, place: str) -> None:
    running = await start()
    ana = await running.client("ana")
    path, params = OPENED[way]
    assert (await ana.get(path, params=params)).status_code == 200
    alter(running.home, place)
    refused = await ana.get(path, params=params)
    asked = {"question": "How do I prevent kidney stones?", "collection": "leaflets"}
    certified = await ana.post("/v1/certify", json=asked)
    assert (refused.status_code, certified.status_code) == (409, 409)
    assert refused.json()["detail"] == certified.json()["detail"]
    assert ALTERED in refused.json()["detail"]
    other = await ana.get("/v1/collections/leaflets/document", params={"id": "leaflets/gout.md"})
    assert other.json()["text"].startswith("# Gout")


async def test_a_text_whose_approval_ended_is_not_opened_and_search_says_that_it_is_left_out(start: Start) -> None:
    running = await start()
    certify_old(running.home)
    ana = await running.client("ana")
    for name, id in (("document", GOUT), ("passage", GOUT), ("passage", f"{GOUT}#title")):
        refused = await ana.get(f"/v1/collections/old/{name}", params={"id": id})
        assert refused.status_code == 409
        assert refused.json()["detail"].startswith(ENDED)
    found = await ana.get("/v1/collections/old/search", params={"q": "gout leeches", "k": 1})
    assert [hit["passage"]["document"] for hit in found.json()] == ["new.md"], "others take its place"
    assert found.headers["x-left-out"] == "1"
    whole = await ana.get("/v1/collections/leaflets/search", params={"q": "gout"})
    assert "x-left-out" not in whole.headers


async def test_lists_of_documents_say_which_may_not_be_shown(start: Start) -> None:
    running = await start()
    certify_old(running.home)
    alter(running.home, "index")
    ana = await running.client("ana")
    altered = (await ana.get("/v1/collections/leaflets/documents")).json()["documents"]
    problems = {one["id"]: (one["title"], one["problem"]) for one in altered}
    assert problems["leaflets/gout.md"] == ("Gout", "")
    assert problems[STONES][0] == ""
    assert ALTERED in problems[STONES][1]
    ended = (await ana.get("/v1/collections/old/documents")).json()["documents"]
    assert [one["problem"][: len(ENDED)] for one in ended] == ["", ENDED]


@pytest.mark.parametrize("place", ["index", "file"])
async def test_the_page_shows_no_altered_text(start: Start, place: str) -> None:
    running = await start()
    ana = await signed_in(running, "ana")
    alter(running.home, place)
    for path, params in (
        ("/passage", {"in": "leaflets", "id": STONES}),
        ("/collections/leaflets", {"q": "kidney stones"}),
    ):
        refused = await ana.get(path, params=params)
        assert refused.status_code == 409
        assert "leaflets/stones.md" in refused.text
        assert "was altered" in refused.text
        assert " liters" not in refused.text
    listed = (await ana.get("/collections/leaflets")).text
    assert listed.count("was altered") == 1


async def test_the_page_shows_no_text_whose_approval_ended(start: Start) -> None:
    running = await start()
    certify_old(running.home)
    ana = await signed_in(running, "ana")
    opened = await ana.get("/passage", params={"in": "old", "id": GOUT})
    assert (opened.status_code, "ended on 2020-06-01" in opened.text) == (409, True)
    found = (await ana.get("/collections/old", params={"q": "gout"}, headers={"HX-Request": "true"})).text
    assert "Colchicine" in found
    assert "Left out: the approval of" in found
    listed = (await ana.get("/collections/old")).text
    assert listed.count("ended on 2020-06-01") == 1
    for shown in (opened.text, found, listed):
        assert "leeches" not in shown


async def searched(asked: Client, collection: str) -> Any:
    return await asked.call_tool("search", {"query": "kidney stones, gout", "collection": collection})


async def test_search_by_mcp_refuses_an_altered_text_and_tells_what_it_left_out(start: Start) -> None:
    running = await start()
    certify_old(running.home)
    alter(running.home, "index")
    async with mcp_client(running.address, await running.client("ana")) as asked:
        refused, ended = await searched(asked, "leaflets"), await searched(asked, "old")
    assert refused.is_error
    assert ALTERED in refused.content[0].text
    assert {hit["passage"]["document"] for hit in ended.structured_content["hits"]} == {"new.md"}
    assert ended.structured_content["left_out"] == [ENDED]


async def test_search_by_the_command_line_server_does_so_too(stocked: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    shutil.copytree(stocked, home)
    certify_old(home)
    alter(home, "file")
    arguments = ["-c", "from personable.cli import main; main()", "mcp", "--home", str(home), "--embedder", EMBEDDER]
    async with Client(StdioServerParameters(command=sys.executable, args=arguments, env=dict(os.environ))) as asked:
        refused, ended = await searched(asked, "leaflets"), await searched(asked, "old")
    assert refused.is_error
    assert ALTERED in refused.content[0].text
    assert ended.structured_content["left_out"] == [ENDED]
    assert "leeches" not in ended.content[0].text


async def test_a_collection_that_another_process_deleted_is_not_there_any_more(start: Start) -> None:
    running = await start()
    ana = await running.client("ana")
    bodies = {
        "leaflets": ("/v1/certify", {"question": "How do I prevent kidney stones?", "collection": "leaflets"}),
        "shop": ("/v1/recommend", {"query": "a chair of oak", "collection": "shop"}),
        "notes": ("/v1/answer", {"question": "What is gout?", "collection": "notes"}),
    }
    for path, body in bodies.values():
        assert (await ana.post(path, json=body)).status_code == 200
    for name, (path, body) in bodies.items():
        shutil.rmtree(running.home / "collections" / name)
        gone = await ana.post(path, json=body)
        assert gone.status_code == 404, gone.text
        assert gone.json()["detail"].startswith(f"no collection '{name}'")


async def test_a_collection_that_another_process_made_anew_is_read_anew(
    start: Start, stocked: Path, tmp_path: Path
) -> None:
    running = await start()
    ana = await running.client("ana")
    body = {"query": "oak", "collection": "shop"}
    before = (await ana.post("/v1/recommend", json=body)).json()["items"]
    shop = running.home / "collections/shop"
    shutil.rmtree(shop)
    shutil.copytree(stocked / "collections/notes", shop)
    assert before
    after = await ana.post("/v1/recommend", json=body)
    assert after.status_code == 409
    assert "is no item of a catalogue" in after.json()["detail"]
