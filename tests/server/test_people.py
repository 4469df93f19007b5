"""People by HTTP: made, changed, known, exported, imported, erased; statements, events, sessions, weights and keys."""

import json
from typing import Any

import pytest

from personable.kit import Kit
from personable.pipelines.shop import Shop, open_shop
from tests.server.conftest import Start

ANA = "/v1/people/ana"


async def test_a_person_is_made_changed_and_listed_by_builders_only(start: Start) -> None:
    running = await start()
    builder, ana = await running.client("builder"), await running.client("ana")
    made = await builder.post("/v1/people", json={"id": "carl", "name": "<script>alert(1)</script>"})
    assert (made.status_code, made.json()["dial"]) == (201, "auto")
    assert (await builder.post("/v1/people", json={"id": "carl"})).status_code == 409
    assert [one["id"] for one in (await builder.get("/v1/people")).json()] == ["ana", "bob", "carl"]
    changed = (await ana.patch(ANA, json={"learned": "off", "share_sensitive": True})).json()
    assert (changed["learned"], changed["share_sensitive"], changed["dial"]) == ("off", True, "auto")
    assert (await ana.get(ANA)).json() == changed
    assert (await builder.get("/v1/people/nobody")).status_code == 404
    for refused in (await ana.post("/v1/people", json={"id": "dan"}), await ana.get("/v1/people")):
        assert refused.status_code == 403


@pytest.mark.parametrize("id", ["", "a/b", "..", " ", "x" * 201, "a\nb", 7])
async def test_an_id_that_cannot_stand_in_an_address_is_refused(start: Start, id: Any) -> None:
    builder = await (await start()).client("builder")
    refused = await builder.post("/v1/people", json={"id": id})
    assert refused.status_code in (400, 422)
    assert refused.headers["content-type"] == "application/problem+json"


async def test_a_statement_is_told_edited_undone_and_forgotten(start: Start) -> None:
    ana = await (await start()).client("ana")
    told = (await ana.post(f"{ANA}/statements", json={"text": "I like tea"})).json()
    assert (told["kind"], told["state"]) == ("preference", "confirmed")
    one = f"{ANA}/statements/{told['id']}"
    assert (await ana.patch(one, json={"text": "I like green tea"})).json()["text"] == "I like green tea"
    assert (await ana.post(f"{one}/undo")).json()["statement"]["text"] == "I like tea"
    assert [change["what"] for change in (await ana.get(f"{one}/changes")).json()] == ["told", "edited", "undone"]
    until = "2099-01-31T00:00:00Z"
    assert (await ana.patch(one, json={"valid_to": until})).json()["valid_to"] == until
    kept = (await ana.patch(one, json={"kind": "fact"})).json()
    assert (kept["kind"], kept["valid_to"]) == ("fact", until)
    assert (await ana.patch(one, json={"kind": None, "valid_to": None})).json() == kept | {"valid_to": None}
    assert (await ana.delete(one)).json()["text"] == "I like tea"
    assert (await ana.delete(one)).status_code == 404
    left = await ana.get(f"{ANA}/statements", params={"ended": True})
    assert "tea" not in left.text + (await ana.get(f"{ANA}/changes")).text


async def test_a_proposed_statement_is_confirmed_or_rejected(start: Start) -> None:
    builder = await (await start()).client("builder")
    body = {"statements": [{"text": text, "source": "inferred"} for text in ("I run", "I swim")]}
    made = (await builder.post(f"{ANA}/statements/many", json=body)).json()
    assert [one["state"] for one in made] == ["proposed", "proposed"]
    for one, verb, state in zip(made, ("confirm", "reject"), ("confirmed", "rejected"), strict=True):
        assert (await builder.post(f"{ANA}/statements/{one['id']}/{verb}")).json()["state"] == state
    rejected = (await builder.get(f"{ANA}/statements", params={"state": "rejected"})).json()
    assert [one["text"] for one in rejected] == ["I swim"]
    assert (await builder.get(f"{ANA}/statements", params={"state": "odd"})).status_code == 422


async def test_a_contradicted_statement_ends_and_undoing_brings_it_back(start: Start) -> None:
    ana = await (await start()).client("ana")
    await ana.post(f"{ANA}/statements", json={"text": "I live in Padua"})
    moved = (await ana.post(f"{ANA}/statements", json={"text": "I live in Rome"})).json()
    held = [one["text"] for one in (await ana.get(f"{ANA}/statements")).json()]
    assert "I live in Rome" in held
    assert "I live in Padua" not in held
    assert (await ana.post(f"{ANA}/statements/{moved['id']}/undo")).json() == {"statement": None}
    assert "I live in Padua" in [one["text"] for one in (await ana.get(f"{ANA}/statements")).json()]


async def test_somebody_new_is_asked_and_describes_themselves(start: Start) -> None:
    bob = await (await start()).client("bob")
    assert len((await bob.get("/v1/people/bob/start")).json()) == 3
    told = await bob.post("/v1/people/bob/start", json={"texts": ["I am vegan. I learn Greek.", ""]})
    assert [one["text"] for one in told.json()] == ["I am vegan.", "I learn Greek."]
    assert (await bob.post("/v1/people/bob/start", json={"texts": [" "]})).status_code == 400


async def test_an_export_is_taken_in_again_after_erasing(start: Start) -> None:
    running = await start()
    builder = await running.client("builder")
    held = (await builder.get(f"{ANA}/export")).content
    file = {"file": ("ana.json", held)}
    assert (await builder.post(f"{ANA}/import", files=file)).status_code == 409
    receipt = (await builder.delete(ANA)).json()
    assert receipt["left"] == []
    assert receipt["removed"]["statements"] == 1
    ana = await running.client("ana")
    assert (await ana.get(ANA)).status_code == 401
    back = await builder.post(f"{ANA}/import", files=file)
    assert (back.status_code, back.json()["person"]["id"]) == (201, "ana")
    assert json.loads((await builder.get(f"{ANA}/export")).content) == json.loads(held)
    assert (await builder.post("/v1/people/bob/import", files=file)).status_code == 400


async def test_statements_leave_and_come_as_markdown_and_ptkb(start: Start) -> None:
    running = await start()
    ana, bob = await running.client("ana"), await running.client("bob")
    markdown = await ana.get(f"{ANA}/export", params={"format": "markdown"})
    assert markdown.headers["content-type"].startswith("text/markdown")
    ptkb = await ana.get(f"{ANA}/export", params={"format": "ptkb"})
    assert ptkb.json() == {"ptkb": {"1": "I have lactose intolerance"}}
    for found in (markdown, ptkb):
        taken = await bob.post("/v1/people/bob/import", files={"file": ("ana", found.content)})
        assert [one["text"] for one in taken.json()["statements"]] == ["I have lactose intolerance"]


@pytest.mark.parametrize(
    ("content", "kind", "status"),
    [
        (b'{"ptkb": {"1": "x"}}', "application/json", 415),
        (b"--b\r\nbroken", "multipart/form-data; boundary=b", 400),
        (b"nothing", "multipart/form-data", 400),
        (b"--b--\r\n", "multipart/form-data; boundary=b", 422),
    ],
)
async def test_a_form_that_is_none_is_a_problem(start: Start, content: bytes, kind: str, status: int) -> None:
    ana = await (await start()).client("ana")
    refused = await ana.post(f"{ANA}/import", content=content, headers={"Content-Type": kind})
    assert refused.status_code == status, refused.text
    assert refused.headers["content-type"] == "application/problem+json"


async def test_a_file_that_is_too_large_to_take_in_is_refused(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("personable.server.routes.people.LARGEST_IMPORT", 100)
    ana = await (await start()).client("ana")
    refused = await ana.post(f"{ANA}/import", files={"file": ("f", b"- I like tea\n" * 50)})
    assert refused.status_code == 413
    assert len((await ana.get(f"{ANA}/statements")).json()) == 1


@pytest.mark.parametrize("raw", [b"\xff\xfe\x00", b'{"format": 2, "person": {"id": "ana"}}', b"[1]", b"no list"])
async def test_a_file_that_cannot_be_taken_in_is_a_problem(start: Start, raw: bytes) -> None:
    ana = await (await start()).client("ana")
    refused = await ana.post(f"{ANA}/import", files={"file": ("f", raw)})
    assert refused.status_code in (409, 422), refused.text


async def test_deeds_with_items_become_events(start: Start) -> None:
    ana = await (await start()).client("ana")
    made = await ana.post(f"{ANA}/events", json={"kind": "purchase", "items": ["3", "4"], "session": "s"})
    assert [one["item"] for one in made.json()] == ["3", "4"]
    assert [one["id"] for one in (await ana.get(f"{ANA}/events", params={"session": "s"})).json()] == [
        one["id"] for one in made.json()
    ]
    for wrong in ({"kind": "rating", "value": 9}, {"kind": "thumbs"}, {"kind": "query"}, {"kind": "click", "value": 1}):
        assert (await ana.post(f"{ANA}/events", json={"items": ["3"]} | wrong)).status_code == 422


async def test_sessions_and_their_turns_are_listed(start: Start) -> None:
    ana = await (await start()).client("ana")
    body = {"question": "How many liters of water against kidney stones?", "collection": "notes"}
    session = (await ana.post("/v1/converse", json=body)).json()["session"]
    opened = (await ana.post(f"{ANA}/sessions", json={"id": "later"})).json()
    sessions = (await ana.get(f"{ANA}/sessions")).json()
    assert [(one["id"], one["turns"]) for one in sessions] == [(opened["id"], 0), (session, 1)]
    turns = (await ana.get(f"{ANA}/turns", params={"session": session})).json()
    assert [one["question"] for one in turns] == [body["question"]]


async def test_feedback_moves_weights_which_are_told_and_taken_back(start: Start) -> None:
    ana = await (await start()).client("ana")
    body = {"question": "What helps against lactose intolerance, stones or gout?", "collection": "notes"}
    answer = (await ana.post("/v1/answer", json=body)).json()
    assert (await ana.get(f"{ANA}/weights")).json()["values"] == {}
    judged = await ana.post(f"{ANA}/answers/{answer['id']}/feedback", json={"kind": "thumbs", "value": 1, "passage": 1})
    assert judged.status_code == 201
    learnt = (await ana.get(f"{ANA}/weights")).json()
    assert learnt["version"] == judged.json()["change"]["id"]
    assert learnt["words"]
    assert len((await ana.get(f"{ANA}/weights/history")).json()) == 1
    assert (await ana.post(f"{ANA}/weights/undo")).json()["values"] == {}
    back = await ana.post(f"{ANA}/weights/roll-back", json={"to": learnt["version"]})
    assert back.json()["values"] == judged.json()["change"]["values"]
    for wrong in ({"kind": "thumbs", "value": 3}, {"kind": "click"}, {"kind": "click", "passage": 99}):
        assert (await ana.post(f"{ANA}/answers/{answer['id']}/feedback", json=wrong)).status_code == 400


async def test_keys_are_made_listed_and_revoked_by_admins_only(start: Start) -> None:
    running = await start()
    admin, builder = await running.client("admin"), await running.client("builder")
    made = (await admin.post("/v1/keys", json={"scope": "person", "person": "ana", "days": 1})).json()
    fresh = await running.client(made["secret"])
    assert (await fresh.get(ANA)).status_code == 200
    listed = await admin.get("/v1/keys", params={"person": "ana"})
    assert made["key"] in listed.json()
    assert made["secret"] not in listed.text
    assert (await admin.delete(f"/v1/keys/{made['key']['id']}")).status_code == 204
    assert (await fresh.get(ANA)).status_code == 401
    assert (await admin.delete(f"/v1/keys/{made['key']['id']}")).status_code == 404
    assert (await admin.post("/v1/keys", json={"scope": "admin", "person": "ana"})).status_code == 400
    for refused in (await builder.get("/v1/keys"), await builder.post("/v1/keys", json={"scope": "admin"})):
        assert refused.status_code == 403


async def test_who_was_erased_or_turned_the_dial_off_counts_for_others_no_more(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    running = await start()
    builder, engine = await running.client("builder"), running.app.state.engine

    async def counted() -> float:
        return float((await engine.shop("shop"))[1].shelf.visits.popular.sum())

    for person in ("ana", "bob", "carl"):
        await builder.post("/v1/people", json={"id": person})
        await builder.post(f"/v1/people/{person}/events", json={"kind": "purchase", "items": ["0"]})
    assert await counted() == 3
    await builder.patch(ANA, json={"name": "Ana"})
    assert (await engine.shop("shop"))[1] is (await engine.shop("shop"))[1]
    await builder.patch(ANA, json={"dial": "off"})
    assert await counted() == 2
    await builder.delete("/v1/people/bob")
    assert await counted() == 1

    async def slow(kit: Kit) -> Shop:
        shop = await open_shop(kit)
        await engine.erase("carl")
        monkeypatch.undo()
        return shop

    engine._forget_visits()
    monkeypatch.setattr("personable.server.engine.open_shop", slow)
    assert await counted() == 1
    assert await counted() == 0
