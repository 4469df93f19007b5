"""Uploading, indexing and deleting by HTTP: what people send, and what nobody should."""

import asyncio
import gzip
import io
import zipfile
from pathlib import Path
from typing import Any

import httpx2 as httpx
import pytest

from personable.embed import make_embedder
from personable.errors import UsageError
from personable.retrieval.corpus import open_collection
from personable.retrieval.report import Progress
from personable.server.indexing import index_uploads
from personable.server.uploads import Uploads, upload_name
from tests.server.conftest import EMBEDDER, LEAFLETS, MANIFEST, Running, Start

Files = list[tuple[str, bytes]]
NEW = "/v1/collections/new"
OATS = b"# Oats\n\nOats are gathered in August. They keep for a year."
RYE = "# Rye 🌾\n\nRye grows on poor soil.".encode()


async def send(client: httpx.AsyncClient, files: Files, path: str = NEW, **fields: str) -> httpx.Response:
    form = [("files", (name, content)) for name, content in files]
    return await client.post(f"{path}/documents", files=form, data=fields)


async def ended(client: httpx.AsyncClient, accepted: httpx.Response) -> dict[str, Any]:
    """The job that a request began, once it ended."""
    assert accepted.status_code == 202, accepted.text
    assert accepted.headers["location"] == f"/v1/jobs/{accepted.json()['id']}"
    for _ in range(3000):
        job: dict[str, Any] = (await client.get(accepted.headers["location"])).json()
        if job["ended"]:
            return job
        await asyncio.sleep(0.01)
    raise AssertionError(f"the job did not end: {job}")


def stored(running: Running, collection: str = "new") -> list[str]:
    folder = running.app.state.engine.settings.home / "uploads" / collection
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


async def test_a_folder_is_uploaded_indexed_searched_and_opened(start: Start) -> None:
    running = await start()
    builder, ana = await running.client("builder"), await running.client("ana")
    files = [("grain/oats.md", OATS), ("grain/old days/rye 🌾.md", RYE), ("grain/.git/config", b"x"), ("~$a.md", b"x")]
    job = await ended(builder, await send(builder, files))
    assert (job["state"], job["report"]["added"], job["done"]) == ("done", 2, job["total"])
    assert [one["reason"] for one in job["report"]["skipped"]] == ["hidden or temporary"] * 2
    assert stored(running) == [".recipe.json", "grain/oats.md", "grain/old days/rye 🌾.md"]
    hit = (await ana.get(f"{NEW}/search", params={"q": "Where does rye grow?"})).json()[0]["passage"]
    assert (hit["document"], hit["source"]) == ("grain/old days/rye 🌾.md",) * 2
    opened = (await ana.get(f"{NEW}/document", params={"id": hit["document"]})).json()
    place = slice(hit["start"] - opened["start"], hit["end"] - opened["start"])
    assert opened["text"][place] == hit["text"]
    assert (await ana.get(f"{NEW}/passage", params={"id": hit["id"]})).json() == hit
    info = (await ana.get(NEW)).json()
    assert (info["kind"], info["documents"], info["embedder"]) == ("documents", 2, "hash:64")
    answer = await ana.post("/v1/answer", json={"question": "When are oats gathered?", "collection": "new"})
    assert "August" in answer.json()["text"]


async def test_a_file_of_the_same_name_takes_the_place_of_the_old_one(start: Start) -> None:
    builder = await (await start()).client("builder")
    await ended(builder, await send(builder, [("oats.md", OATS)]))
    await builder.get(f"{NEW}/search", params={"q": "oats"})
    job = await ended(builder, await send(builder, [("oats.md", OATS.replace(b"August", b"July"))]))
    assert job["report"]["replaced"] == 1
    found = await builder.get(f"{NEW}/search", params={"q": "When are oats gathered?"})
    assert ("July" in found.text, "August" in found.text) == (True, False)


async def test_documents_are_listed_page_by_page(start: Start) -> None:
    builder = await (await start()).client("builder")
    first = (await builder.get("/v1/collections/notes/documents", params={"limit": 4})).json()
    assert [one["id"] for one in first["documents"]] == ["gout", "iron", "milk", "sleep"]
    last = (await builder.get("/v1/collections/notes/documents", params={"limit": 4, "after": first["next"]})).json()
    assert ([one["id"] for one in last["documents"]], last["next"]) == (["stones", "walk"], None)


async def test_a_document_is_deleted_with_its_file_and_its_copies(start: Start) -> None:
    running = await start()
    builder = await running.client("builder")
    files = [("a/oats.md", OATS), ("b/oats.md", OATS), ("rye.md", RYE)]
    await ended(builder, await send(builder, files))
    gone = (await builder.delete(f"{NEW}/document", params={"id": "a/oats.md"})).json()
    assert gone == {"document": "a/oats.md", "files": ["a/oats.md", "b/oats.md"]}
    assert stored(running) == [".recipe.json", "rye.md"]
    again = await ended(builder, await builder.post(f"{NEW}/index"))
    assert (again["report"]["added"], again["report"]["unchanged"]) == (0, 1)
    assert "August" not in (await builder.get(f"{NEW}/search", params={"q": "oats August"})).text
    assert (await builder.delete(f"{NEW}/document", params={"id": "a/oats.md"})).status_code == 404


async def test_a_document_of_a_collection_that_another_process_writes_to_keeps_its_file(start: Start) -> None:
    running = await start()
    builder = await running.client("builder")
    await ended(builder, await send(builder, [("oats.md", OATS)]))
    with open_collection(running.home, "new", embedder=make_embedder(EMBEDDER), write=True):
        refused = await builder.delete(f"{NEW}/document", params={"id": "oats.md"})
    assert (refused.status_code, "another process is writing" in refused.json()["detail"]) == (409, True)
    assert stored(running) == [".recipe.json", "oats.md"]
    assert (await builder.delete(f"{NEW}/document", params={"id": "oats.md"})).json()["files"] == ["oats.md"]


async def test_one_record_of_a_file_is_not_deleted_and_the_file_says_so(start: Start) -> None:
    running = await start()
    builder = await running.client("builder")
    rows = b'{"id": "r1", "text": "Oats are sown."}\n{"id": "r2", "text": "Rye is sown."}\n'
    await ended(builder, await send(builder, [("rows.jsonl", rows)]))
    refused = await builder.delete(f"{NEW}/document", params={"id": "r1"})
    assert (refused.status_code, "1 other documents" in refused.json()["detail"]) == (409, True)
    assert stored(running) == [".recipe.json", "rows.jsonl"]


async def test_a_collection_is_deleted_with_its_uploads(start: Start) -> None:
    running = await start()
    builder = await running.client("builder")
    await ended(builder, await send(builder, [("oats.md", OATS)]))
    assert (await builder.delete(NEW)).status_code == 204
    assert stored(running) == []
    assert (await builder.get(NEW)).status_code == 404
    assert (await builder.delete(NEW)).status_code == 404
    assert [one["name"] for one in (await builder.get("/v1/collections")).json()] == ["leaflets", "notes", "shop"]


async def test_items_and_certified_documents_are_uploaded_as_what_they_are(start: Start) -> None:
    builder = await (await start()).client("builder")
    items = b'{"id": "7", "title": "pine desk"}\n{"id": "8", "title": "pine chair"}\n'
    job = await ended(builder, await send(builder, [("items.jsonl", items)], kind="items"))
    assert (job["state"], job["report"]["added"]) == ("done", 2)
    wished = (await builder.post("/v1/recommend", json={"query": "a pine chair", "collection": "new"})).json()
    assert wished["items"][0]["title"] == "pine chair"
    leaflets = [(f"set/leaflets/{name}.md", text.encode()) for name, text in LEAFLETS.items()]
    approved = [("set/leaflets.toml", MANIFEST.encode()), *leaflets]
    job = await ended(builder, await send(builder, approved, "/v1/collections/approved", kind="certified"))
    assert (job["state"], job["report"]["added"]) == ("done", 4)
    asked = {"question": "How do I prevent kidney stones?", "collection": "approved"}
    assert (await builder.post("/v1/certify", json=asked)).json()["certification"]["sources"]


async def test_what_was_indexed_elsewhere_or_otherwise_is_not_overwritten(start: Start) -> None:
    running = await start()
    builder = await running.client("builder")
    for path, kind in (("shop", "items"), ("shop", "documents"), ("notes", "items"), ("leaflets", "certified")):
        refused = await send(builder, [("x.jsonl", b'{"id": "1", "title": "x"}')], f"/v1/collections/{path}", kind=kind)
        assert refused.status_code == 409, (path, kind)
        assert not (running.app.state.engine.settings.home / "uploads" / path).exists()
    assert (await builder.get("/v1/collections/shop")).json()["documents"] == 6
    job = await ended(builder, await send(builder, [("oats.md", OATS)], "/v1/collections/notes"))
    assert job["report"]["added"] == 1
    assert (await builder.get("/v1/collections/notes")).json()["documents"] == 7


async def test_a_manifest_reaches_no_file_that_was_not_uploaded(start: Start, tmp_path: Path) -> None:
    builder = await (await start()).client("builder")
    (tmp_path / "secret.md").write_text("The safe is behind the picture.", encoding="utf-8")
    for number, path in enumerate((str(tmp_path / "secret.md"), "../../../secret.md")):
        manifest = MANIFEST.replace('path = "leaflets"', f"path = '{path}'").encode()
        accepted = await send(builder, [("m.toml", manifest)], f"/v1/collections/c{number}", kind="certified")
        job = await ended(builder, accepted)
        assert (job["state"], job["problem"]["status"]) == ("failed", 400)
        assert "not among the uploaded files" in job["problem"]["detail"]


@pytest.mark.parametrize(
    "name",
    [
        "../x.md",
        "a/../../x.md",
        "/etc/x.md",
        "C:/x.md",
        "C:x.md",
        "a//x.md",
        "./x.md",
        "a\\..\\..\\x.md",
        "nul.md",
        "a/con",
        "x.md.",
        "a\x00.md",
        "a\n.md",
        "x" * 300 + ".md",
        "a/" * 600 + "x.md",
        "",
        "  ",
        "lpt1",
        "\\\\host\\x",
    ],
)
def test_a_name_that_leads_elsewhere_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match="the file name"):
        upload_name(name)


@pytest.mark.parametrize(
    ("name", "kept"),
    [("a\\b.md", "a/b.md"), ("<script>.md", "<script>.md"), ("été 🌾.md", "été 🌾.md"), ("e\u0301.md", "é.md")],
)
def test_a_name_of_any_script_is_kept(name: str, kept: str) -> None:
    assert str(upload_name(name)) == kept


async def test_one_bad_name_keeps_all_files_out(start: Start) -> None:
    running = await start()
    builder = await running.client("builder")
    for bad in ("../../people.db", "/tmp/x.md", "a/../../../x.md"):
        refused = await send(builder, [("oats.md", OATS), (bad, b"x")])
        assert refused.status_code == 400, refused.text
        assert stored(running) == []
    twice = await send(builder, [("oats.md", OATS), ("oats.md", RYE)])
    assert twice.status_code == 400
    clash = await send(builder, [("a", b"x"), ("a/b.md", OATS)])
    assert clash.status_code == 409
    assert stored(running) == []
    assert (await builder.get(NEW)).status_code == 404


def docx_bomb() -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("word/document.xml", b" " * 150_000_000)
    return packed.getvalue()


def docx_of_entities() -> bytes:
    """A DOCX whose few hundred bytes of XML stand for ten billion."""
    names = "".join(f'<!ENTITY a{n} "{f"&a{n - 1};" * 10}">' for n in range(1, 10))
    word = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
    text = f'<!DOCTYPE d [<!ENTITY a0 "lol">{names}]><w:document xmlns:w="{word}"><w:body><w:p><w:r><w:t>&a9;</w:t>'
    packages = "http://schemas.openxmlformats.org/package/2006"
    kind = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument"
    main = f'<Relationship Id="r" Type="{kind}" Target="word/document.xml"/>'
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("[Content_Types].xml", f'<Types xmlns="{packages}/content-types"></Types>')
        archive.writestr("_rels/.rels", f'<Relationships xmlns="{packages}/relationships">{main}</Relationships>')
        archive.writestr("word/document.xml", f"{text}</w:r></w:p></w:body></w:document>")
    return packed.getvalue()


async def test_what_cannot_be_read_is_reported_and_the_rest_is_indexed(start: Start) -> None:
    running = await start()
    builder = await running.client("builder")
    files = [
        ("bomb.docx", docx_bomb()),
        ("entities.docx", docx_of_entities()),
        ("bomb.txt.gz", gzip.compress(b"words " * 10_000_000)),
        ("fake.pdf", b"MZ\x90\x00 not a PDF"),
        ("binary.txt", b"\x00\x01\x02" * 100),
        ("empty.md", b""),
        ("program.exe", b"MZ"),
        ("<img src=x onerror=alert(1)>.md", OATS),
    ]
    job = await ended(builder, await send(builder, files))
    assert (job["state"], job["report"]["added"]) == ("done", 1)
    failed = {one["source"]: one["error"] for one in job["report"]["failed"]}
    assert set(failed) == {"bomb.docx", "entities.docx", "bomb.txt.gz", "fake.pdf", "binary.txt"}
    assert "would unpack" in failed["bomb.docx"]
    assert "amplification" in failed["entities.docx"]
    assert "unpacks to more than" in failed["bomb.txt.gz"]
    skipped = {one["source"]: one["reason"] for one in job["report"]["skipped"]}
    assert skipped == {"empty.md": "is empty", "program.exe": "no reader for .exe"}
    assert str(running.app.state.engine.settings.home) not in str(job)


async def test_where_nothing_can_be_read_the_job_fails_and_says_why(start: Start) -> None:
    running = await start()
    builder = await running.client("builder")
    job = await ended(builder, await send(builder, [("program.exe", b"MZ")]))
    assert (job["state"], job["problem"]["status"]) == ("failed", 409)
    assert "no file that can be read" in job["problem"]["detail"]
    assert str(running.app.state.engine.settings.home) not in str(job)
    assert (await builder.get(NEW)).status_code == 404
    job = await ended(builder, await send(builder, [("oats.md", OATS)]))
    assert job["state"] == "done"


async def test_an_upload_that_is_too_large_or_breaks_off_leaves_nothing(start: Start) -> None:
    running = await start(server_upload_bytes=50_000)
    builder = await running.client("builder")
    assert (await send(builder, [("big.md", b"x" * 60_000)])).status_code == 413
    head = b'--b\r\nContent-Disposition: form-data; name="files"; filename="%s"\r\n\r\n'
    whole = head % b"a.md" + OATS + b"\r\n" + head % b"b.md" + RYE
    broken = await builder.post(
        f"{NEW}/documents", content=whole, headers={"Content-Type": "multipart/form-data; boundary=b"}
    )
    assert broken.status_code == 400, broken.text

    async def endless() -> Any:
        yield head % b"a.md"
        for _ in range(100):
            yield b"x" * 1_000

    large = await builder.post(
        f"{NEW}/documents", content=endless(), headers={"Content-Type": "multipart/form-data; boundary=b"}
    )
    assert large.status_code == 413
    plain = await builder.post(f"{NEW}/documents", json={"files": []})
    assert plain.status_code == 415
    assert (await send(builder, [("a.md", OATS)], kind="poems")).status_code == 422
    assert (await builder.post(f"{NEW}/documents", files={"other": ("a.md", OATS)})).status_code == 422
    assert stored(running) == []


async def test_a_second_job_on_a_collection_is_refused_with_the_first(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    running = await start()
    builder = await running.client("builder")
    await ended(builder, await send(builder, [("oats.md", OATS)]))
    asyncio_thread, go = asyncio.get_running_loop(), asyncio.Event()

    def slow(*_: Any) -> Any:
        asyncio.run_coroutine_threadsafe(go.wait(), asyncio_thread).result(30)
        raise UsageError("stopped by the test")

    monkeypatch.setattr("personable.server.routes.documents.index_uploads", slow)
    first = await builder.post(f"{NEW}/index")
    for second in (
        await builder.post(f"{NEW}/index"),
        await send(builder, [("rye.md", RYE)]),
        await builder.delete(NEW),
        await builder.delete(f"{NEW}/document", params={"id": "oats.md"}),
    ):
        assert (second.status_code, second.headers["location"]) == (409, f"/v1/jobs/{first.json()['id']}")
    assert (await builder.get("/v1/jobs")).json()[0]["state"] == "running"
    assert "not at its end" in (await builder.get(NEW)).json()["problem"]
    go.set()
    assert (await ended(builder, first))["problem"]["detail"] == "stopped by the test"
    assert stored(running) == [".recipe.json", "oats.md"]
    assert (await builder.get(NEW)).json()["problem"] == ""


async def test_a_collection_whose_indexing_was_killed_says_so_until_it_is_indexed(start: Start) -> None:
    running = await start()
    builder = await running.client("builder")
    await ended(builder, await send(builder, [("oats.md", OATS)]))
    marker = Uploads(running.home, "new").marker
    marker.touch()  # as a killed server leaves it
    (info,) = [one for one in (await builder.get("/v1/collections")).json() if one["name"] == "new"]
    assert "not at its end" in info["problem"]
    await ended(builder, await builder.post(f"{NEW}/index"))
    assert (await builder.get(NEW)).json()["problem"] == ""
    marker.touch()
    assert (await builder.delete(NEW)).status_code == 204
    assert not marker.exists()


async def test_only_builders_upload_index_delete_and_see_jobs(start: Start) -> None:
    running = await start()
    ana, nobody = await running.client("ana"), await running.client(None)
    for client, status in ((ana, 403), (nobody, 401)):
        requests = [
            send(client, [("x.md", OATS)]),
            client.post("/v1/collections/notes/index"),
            client.delete("/v1/collections/notes"),
            client.delete("/v1/collections/notes/document", params={"id": "gout"}),
            client.get("/v1/jobs"),
            client.get("/v1/jobs/x"),
        ]
        assert [(await one).status_code for one in requests] == [status] * len(requests)
    assert (await ana.get("/v1/collections/notes")).json()["documents"] == 6


async def test_unknown_names_are_not_found_and_impossible_ones_refused(start: Start) -> None:
    builder = await (await start()).client("builder")
    for path in ("nowhere", "nowhere/search?q=x", "notes/document?id=x", "notes/passage?id=x", "nowhere/documents"):
        assert (await builder.get(f"/v1/collections/{path}")).status_code == 404, path
    assert (await builder.post("/v1/collections/nowhere/index")).status_code == 404
    assert (await builder.get("/v1/jobs/nothing")).status_code == 404
    for name in ("..%2Fnotes", ".hidden", "a b", "%00"):
        assert (await builder.get(f"/v1/collections/{name}")).status_code in (400, 404), name
        assert (await send(builder, [("a.md", OATS)], f"/v1/collections/{name}")).status_code in (400, 404, 405), name


async def test_what_was_uploaded_is_the_builders_and_not_a_persons_left_over(start: Start) -> None:
    running = await start()
    builder = await running.client("builder")
    said = "I collect stamps from Liechtenstein"
    await builder.post("/v1/people/ana/statements", json={"text": said})
    line = f'{{"answer": "{said}", "rater": "x", "scores": "y", "id": "1", "text": "{said}"}}\n'.encode()
    await ended(builder, await send(builder, [("rows.jsonl", line)]))
    receipt = (await builder.delete("/v1/people/ana")).json()
    assert receipt["left"] == []
    assert any(one["file"].endswith("rows.jsonl") for one in receipt["documents"])
    assert "rows.jsonl" in stored(running)
    home = running.app.state.engine.settings.home
    assert (home / "uploads" / "new" / "rows.jsonl").read_bytes() == line


@pytest.mark.parametrize("kind", ["items", "certified"])
async def test_items_and_certified_documents_tell_how_far_they_are_and_stop(
    start: Start, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    running = await start()
    builder = await running.client("builder")
    module = {"items": "catalogue", "certified": "certifying"}[kind]
    monkeypatch.setattr(f"personable.retrieval.{module}.EVERY", 1)
    told: list[Progress] = []

    def stop(progress: Progress) -> None:
        told.append(progress)
        raise UsageError("enough")

    items = [("items.jsonl", b'{"id": 1, "title": "Cup"}\n{"id": 2, "title": "Mug"}\n')]
    leaflets = [("leaflets.toml", MANIFEST.encode())]
    leaflets += [(f"leaflets/{name}.md", text.encode()) for name, text in LEAFLETS.items()]
    files = items if kind == "items" else leaflets
    assert (await ended(builder, await send(builder, files, kind=kind)))["state"] == "done"
    with pytest.raises(UsageError, match="enough"):
        await asyncio.to_thread(index_uploads, running.app.state.engine, Uploads(running.home, "new"), stop)
    (progress,) = told
    assert progress.total == sum(len(content) for _, content in files)
    assert 0 < progress.done < progress.total
