"""For you, without a script: items, reasons, and what becomes of one that the person does not want."""

from tests.server.conftest import Start
from tests.server.web.conftest import signed_in

PART = {"HX-Request": "true"}
WISH = {"in": "shop", "query": "something of oak"}


async def test_items_come_with_reasons_that_lead_to_what_they_stand_on(start: Start) -> None:
    ana = await signed_in(await start(), "ana")
    assert "<html" in (await ana.get("/for-you")).text
    shown = (await ana.post("/for-you", data=WISH, headers=PART)).text
    assert "<html" not in shown
    assert "oak chair" in shown
    assert "because you asked for: something of oak" in shown
    post = shown.split('href="#')[1].split('"')[0]
    assert f'<li id="{post}">' in shown


async def test_what_is_dismissed_is_not_shown_again_to_that_person(start: Start) -> None:
    running = await start()
    ana, bob = await signed_in(running, "ana"), await signed_in(running, "bob")
    said = await ana.post("/for-you/items", data={"in": "shop", "item": "4", "what": "dismissed"}, headers=PART)
    assert "is not shown to you again" in said.text
    assert "oak chair" not in (await ana.post("/for-you", data=WISH, headers=PART)).text
    assert "oak chair" in (await bob.post("/for-you", data=WISH, headers=PART)).text


async def test_what_was_looked_at_is_a_reason_for_others(start: Start) -> None:
    running = await start()
    ana = await signed_in(running, "ana")
    await ana.post("/for-you/items", data={"in": "shop", "item": "3", "what": "looked"}, headers=PART)
    assert [(one.kind, one.item) for one in await running.people.events("ana")] == [("click", "3")]
    shown = (await ana.post("/for-you", data={"in": "shop"}, headers=PART)).text
    assert "because you looked at oak desk" in shown


async def test_bad_input_and_somebody_elses_page_change_nothing(start: Start) -> None:
    running = await start()
    ana, builder = await signed_in(running, "ana"), await signed_in(running, "builder")
    given = {"in": "shop", "item": "4", "what": "dismissed"}
    assert (await ana.post("/for-you/items", data=given | {"item": "<b>"})).status_code == 404
    assert (await ana.post("/for-you/items", data=given | {"what": "bought"})).status_code == 422
    assert (await ana.post("/for-you/items", data=given | {"in": "notes"})).status_code == 409
    assert (await builder.post("/for-you/items", data=given)).status_code == 409
    assert await running.people.events("ana") == []
