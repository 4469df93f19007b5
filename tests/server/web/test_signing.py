"""Signing in and out, CSRF, for whom one looks, and headers that keep others out."""

import pytest

from tests.server.conftest import Start
from tests.server.web.conftest import signed_in

ALL = ("/ask", "/you", "/for-you", "/certified", "/collections", "/collections/notes", "/benchmarks")


async def test_a_key_is_exchanged_for_a_login_that_scripts_and_other_sites_cannot_use(start: Start) -> None:
    running = await start()
    nobody = await running.client(None)
    refused = await nobody.post("/sign-in", data={"key": "pk_wrong"})
    assert refused.status_code == 401
    assert "unknown, revoked or expired" in refused.text
    let_in = await nobody.post("/sign-in", data={"key": running.keys["ana"]})
    cookie = let_in.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    assert running.keys["ana"] not in cookie
    assert (await nobody.get("/ask")).status_code == 200


async def test_wrong_keys_are_slowed_down(start: Start) -> None:
    nobody = await (await start()).client(None)
    statuses = [(await nobody.post("/sign-in", data={"key": "pk_wrong"})).status_code for _ in range(22)]
    assert statuses[0] == 401
    assert statuses[-1] == 429


async def test_another_site_cannot_sign_somebody_in(start: Start) -> None:
    running = await start()
    nobody = await running.client(None)
    crossed = {"Sec-Fetch-Site": "cross-site"}
    refused = await nobody.post("/sign-in", data={"key": running.keys["ana"]}, headers=crossed)
    assert refused.status_code == 403
    assert "set-cookie" not in refused.headers


@pytest.mark.parametrize("path", ALL)
async def test_without_a_login_a_page_leads_to_where_one_signs_in(start: Start, path: str) -> None:
    nobody = await (await start()).client(None)
    sent = await nobody.get(path)
    assert (sent.status_code, sent.headers["location"]) == (303, "/sign-in")
    part = await nobody.get(path, headers={"HX-Request": "true"})
    assert (part.status_code, part.headers["HX-Redirect"]) == (401, "/sign-in")


async def test_who_was_signed_out_elsewhere_is_told(start: Start) -> None:
    running = await start()
    ana = await signed_in(running, "ana")
    for key in await running.people.keys("ana"):
        await running.people.revoke_key(key.id)
    assert "not signed in any more" in (await ana.get("/you")).text


async def test_signing_out_ends_the_login(start: Start) -> None:
    ana = await signed_in(await start(), "ana")
    token = ana.cookies["personable_login"]
    assert "Your key" in (await ana.post("/sign-out")).text
    ana.cookies.set("personable_login", token)
    assert "not signed in any more" in (await ana.get("/ask")).text


async def test_what_changes_anything_needs_the_logins_token(start: Start) -> None:
    running = await start()
    ana = await signed_in(running, "ana")
    token = ana.headers.pop("X-CSRF-Token")
    for given in ({}, {"csrf": "wrong"}):
        refused = await ana.post("/you/statements", data={"text": "I like tea"} | given)
        assert refused.status_code == 403
        assert "I like tea" not in [one.text for one in await running.people.statements("ana")]
    await ana.post("/you/statements", data={"text": "I like tea", "csrf": token})
    assert "I like tea" in [one.text for one in await running.people.statements("ana")]


async def test_a_builder_chooses_for_whom_they_look_and_a_person_does_not(start: Start) -> None:
    running = await start()
    builder = await signed_in(running, "builder")
    assert "nobody in particular" in (await builder.get("/ask")).text
    assert "choose first" in (await builder.get("/you")).text
    await builder.post("/looking-for", data={"person": "ana"})
    assert "I have lactose intolerance" in (await builder.get("/you")).text
    assert (await builder.post("/looking-for", data={"person": "nobody"})).status_code == 404

    bob = await signed_in(running, "bob")
    assert "looking-for" not in (await bob.get("/you")).text
    assert (await bob.post("/looking-for", data={"person": "ana"})).status_code == 403
    bob.cookies.set("personable_for", "ana")
    shown = (await bob.get("/you")).text
    assert "Nothing yet" in shown
    assert "lactose" not in shown


async def test_a_form_that_was_shown_for_somebody_else_does_nothing(start: Start) -> None:
    running = await start()
    builder = await signed_in(running, "builder")
    await builder.post("/looking-for", data={"person": "ana"})
    assert '<input type="hidden" name="shown_for" value="ana">' in (await builder.get("/you")).text
    await builder.post("/looking-for", data={"person": "bob"})
    before = await running.people.export("bob")
    shown = {"shown_for": "ana"}
    told = {"text": "I am pregnant", **shown}
    for path, form in (
        ("/you/statements", told),
        ("/you/settings", {"dial": "off", "learned": "off", **shown}),
        ("/you/erase", {"typed": "bob", **shown}),
        ("/ask", {"question": "I am pregnant. How do I prevent kidney stones?", "in": "notes", **shown}),
    ):
        refused = await builder.post(path, data=form)
        assert refused.status_code == 409, path
        assert "shown for somebody else" in refused.text
    assert (await running.people.export("bob"))["statements"] == before["statements"]
    assert (await builder.post("/you/statements", data=told | {"shown_for": "bob"})).status_code == 200
    assert (await builder.post("/looking-for", data={"person": "ana"})).status_code == 200


async def test_an_emergency_is_told_also_with_a_form_shown_for_somebody_else(start: Start) -> None:
    running = await start()
    builder = await signed_in(running, "builder")
    await builder.post("/looking-for", data={"person": "bob"})
    asked = {"in": "leaflets", "question": "I have chest pain", "shown_for": "ana"}
    told = await builder.post("/certified", data=asked)
    assert "Call the emergency number now." in told.text
    assert await running.people.events("bob") == []


async def test_pages_let_nothing_in_from_elsewhere(start: Start) -> None:
    ana = await signed_in(await start(), "ana")
    for path in (*ALL, "/sign-in", "/static/app.js", "/passage?in=notes&id=none"):
        headers = (await ana.get(path)).headers
        assert "default-src 'self'" in headers["content-security-policy"]
        assert "frame-ancestors 'none'" in headers["content-security-policy"]
        assert "unsafe" not in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "same-origin"
    assert (await ana.get("/ask")).headers["cache-control"] == "no-store"
    assert (await ana.get("/static/conftest.py")).status_code == 404


async def test_nobody_is_signed_in_by_another_sites_form(start: Start) -> None:
    running = await start()
    nobody = await running.client(None)
    refused = await nobody.post(
        "/sign-in", data={"key": running.keys["ana"]}, headers={"Origin": "http://evil.example"}
    )
    assert refused.status_code == 403
    assert "set-cookie" not in refused.headers
    own = await nobody.post("/sign-in", data={"key": running.keys["ana"]}, headers={"Origin": running.address})
    assert own.status_code == 303
