"""Collections, without a script: what a person sees of them, and what only builders may do."""

from tests.server.conftest import Start
from tests.server.web.conftest import signed_in

SCRIPT = "<script>alert(1)</script>"


async def test_a_person_sees_and_searches_and_changes_nothing(start: Start) -> None:
    running = await start()
    ana = await signed_in(running, "ana")
    listed = (await ana.get("/collections")).text
    assert all(name in listed for name in ("notes", "shop", "leaflets"))
    assert "Upload" not in listed
    shown = (await ana.get("/collections/notes?q=gout")).text
    assert "What is gout?" in shown
    assert "Delete" not in shown
    tries = {
        "upload": {"files": {"files": ("a.md", b"text")}},
        "index": {},
        "delete-document": {"data": {"id": "gout"}},
        "delete": {"data": {"typed": "notes"}},
    }
    for what, given in tries.items():
        assert (await ana.post(f"/collections/notes/{what}", **given)).status_code == 403, what
    assert "notes" in running.app.state.engine.collections()
    assert (await ana.get("/collections/nowhere")).status_code == 404
    assert (await ana.get("/collections/..%2Fnotes")).status_code == 404


async def test_deleting_needs_the_name(start: Start) -> None:
    running = await start()
    builder = await signed_in(running, "builder")
    assert (await builder.post("/collections/notes/delete", data={"typed": "shop"})).status_code == 400
    assert "notes" in running.app.state.engine.collections()
    await builder.post("/collections/notes/delete", data={"typed": "notes"})
    assert "notes" not in running.app.state.engine.collections()


async def test_script_in_names_and_documents_is_shown_as_text(start: Start) -> None:
    running = await start()
    builder = await signed_in(running, "builder")
    text = f"# {SCRIPT}\n\nSteep tea {SCRIPT} for two minutes.\n".encode()
    sent = {"files": [("files", ("<b>tea.md", text)), ("files", ("<img src=x>.pdf", b"%PDF broken"))]}
    job = await builder.post("/collections/guides/upload", **sent)
    assert job.status_code == 200, job.text
    url = f"/collections/guides/jobs/{running.app.state.jobs.all()[0].id}"
    while "hx-get" in (shown := (await builder.get(url)).text):
        pass
    pages = [shown, (await builder.get("/collections/guides?q=tea")).text, (await builder.get("/collections")).text]
    assert "&lt;img src=x&gt;.pdf" in pages[0]
    assert "&lt;script&gt;" in pages[1]
    asked = await builder.post("/ask", data={"question": "How long does tea steep?", "in": "guides"})
    opened = await builder.get("/passage", params={"in": "guides", "id": "<b>tea.md#0"})
    for page in (*pages, asked.text, opened.text):
        assert SCRIPT not in page
        assert "<b>tea" not in page
        assert "<img" not in page


async def test_an_upload_that_cannot_be_taken_says_why(start: Start) -> None:
    builder = await signed_in(await start(), "builder")
    for name, why in (("../a.md", "leads elsewhere"), ("/etc/passwd", "absolute")):
        refused = await builder.post(
            "/collections/guides/upload", files={"files": (name, b"text")}, headers={"HX-Request": "true"}
        )
        assert refused.status_code == 400
        assert why in refused.text
        assert "<html" not in refused.text
