"""You, without a script: statements, settings, export and erasing."""

from tests.server.conftest import Running, Start
from tests.server.web.conftest import signed_in

PART = {"HX-Request": "true"}


async def _proposed(running: Running, text: str = "I drink a lot of tea") -> str:
    told = await running.people.tell("ana", text, source="inferred", cause="Is tea healthy? I drink a lot of tea.")
    return told.id


async def test_what_was_heard_comes_first_with_where_it_came_from(start: Start) -> None:
    running = await start()
    id, ana = await _proposed(running), await signed_in(running, "ana")
    shown = (await ana.get("/you")).text
    assert shown.index("I drink a lot of tea") < shown.index("I have lactose intolerance")
    assert "Is tea healthy? I drink a lot of tea." in shown
    await ana.post(f"/you/statements/{id}/confirm")
    assert "Is this right?" not in (await ana.get("/you")).text
    shown = (await ana.post(f"/you/statements/{id}/undo", headers=PART)).text
    assert "Is this right?" in shown
    assert "<html" not in shown


async def test_statements_are_told_edited_rejected_and_forgotten(start: Start) -> None:
    running = await start()
    ana, people = await signed_in(running, "ana"), running.people
    await ana.post("/you/statements", data={"text": "I like tea", "sensitive": "true"})
    tea = next(one for one in await people.statements("ana") if one.text == "I like tea")
    assert tea.sensitive is True
    await ana.post(f"/you/statements/{tea.id}/edit", data={"text": "I like green tea"})
    assert "I like green tea" in (await ana.get("/you")).text
    await ana.post(f"/you/statements/{tea.id}/reject")
    assert "Rejected and past (1)" in (await ana.get("/you")).text
    await ana.post(f"/you/statements/{tea.id}/forget")
    assert "green tea" not in (await ana.get("/you")).text
    assert (await ana.post(f"/you/statements/{tea.id}/confirm")).status_code == 404
    assert (await ana.post(f"/you/statements/{tea.id}/explode")).status_code == 422


async def test_new_words_are_classified_anew_unless_the_person_unticked_the_box(start: Start) -> None:
    running = await start()
    ana, people = await signed_in(running, "ana"), running.people

    async def edited(text: str, *, was: bool | None, **ticked: str) -> bool | None:
        old = await people.tell("ana", f"I like walking, then {text}", sensitive=was)
        await ana.post(f"/you/statements/{old.id}/edit", data={"text": text, **ticked})
        return next(one.sensitive for one in await people.statements("ana") if one.id == old.id)

    assert await edited("I am HIV positive", was=False) is True
    assert await edited("I like tea", was=False) is None
    assert await edited("I like cake", was=False, sensitive="true") is True
    assert await edited("I like rice", was=None) is False
    assert await edited("I like beans", was=True) is False
    assert await edited("I have gout", was=True, sensitive="true") is True
    mine = next(one for one in await people.statements("ana") if one.text == "I have lactose intolerance")
    await ana.post(f"/you/statements/{mine.id}/edit", data={"text": "I have lactose intolerance."})
    assert [one.sensitive for one in await people.statements("ana") if one.id == mine.id] == [False]


async def test_nobody_reaches_anothers_statements(start: Start) -> None:
    running = await start()
    id, bob = await _proposed(running), await signed_in(running, "bob")
    for deed in ("confirm", "reject", "undo", "forget"):
        refused = await bob.post(f"/you/statements/{id}/{deed}")
        assert refused.status_code == 404
        assert "tea" not in refused.text
    assert (await running.people.statements("ana", ("proposed",)))[0].id == id


async def test_settings_are_kept(start: Start) -> None:
    running = await start()
    ana = await signed_in(running, "ana")
    await ana.post("/you/settings", data={"dial": "off", "learned": "use", "share_sensitive": "true"})
    known = await running.people.get("ana")
    assert (known.dial, known.learned, known.share_sensitive) == ("off", "use", True)
    await ana.post("/you/settings", data={"dial": "on", "learned": "off"})
    assert (await running.people.get("ana")).share_sensitive is False
    assert (await ana.post("/you/settings", data={"dial": "loud", "learned": "off"})).status_code == 422


async def test_an_export_holds_everything(start: Start) -> None:
    ana = await signed_in(await start(), "ana")
    given = await ana.get("/you/export")
    assert "attachment" in given.headers["content-disposition"]
    assert [one["text"] for one in given.json()["statements"]] == ["I have lactose intolerance"]


async def test_erasing_needs_the_id_shows_the_receipt_and_signs_out(start: Start) -> None:
    running = await start()
    ana = await signed_in(running, "ana")
    assert (await ana.post("/you/erase", data={"typed": "bob"})).status_code == 400
    assert [one.id for one in await running.people.list()] == ["ana", "bob"]
    shown = (await ana.post("/you/erase", data={"typed": "ana"})).text
    assert "Digest of this receipt" in shown
    assert "Nothing was found left." in shown
    assert "lactose" not in shown
    assert [one.id for one in await running.people.list()] == ["bob"]
    assert "Your key" in (await ana.get("/you")).text


async def test_a_builder_who_erases_somebody_stays_signed_in(start: Start) -> None:
    running = await start()
    builder = await signed_in(running, "builder")
    await builder.post("/looking-for", data={"person": "bob"})
    assert "Digest of this receipt" in (await builder.post("/you/erase", data={"typed": "bob"})).text
    assert "nobody in particular" in (await builder.get("/ask")).text
