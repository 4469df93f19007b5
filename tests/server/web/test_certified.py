"""Certified, without a script: the emergency text first, sources in full, and who may rate."""

from pathlib import Path

from personable.evaluation.ratings import read_ratings
from tests.server.conftest import Start
from tests.server.web.conftest import signed_in

ASKED = {"in": "leaflets", "question": "How do I prevent kidney stones?"}
URGENT = {"in": "leaflets", "question": "I have chest pain and kidney stones"}
SCORES = {"q1": "1", "q2": "3", "q3": "5", "q4": "4", "q5": "3", "q6": "5", "q7": "4"}


async def test_a_reply_shows_its_sources_in_full(start: Start) -> None:
    ana = await signed_in(await start(), "ana")
    shown = (await ana.post("/certified", data=ASKED)).text
    assert "Drink 2 to 3 liters of water a day to prevent kidney stones." in shown
    assert "checked when served" in shown
    assert "Dr Example" in shown
    digests = [part.split("</code>")[0] for part in shown.split("<dd><code>")[1:]]
    assert digests
    assert all(len(one) == 64 for one in digests)


async def test_an_emergency_stands_before_all_else(start: Start) -> None:
    ana = await signed_in(await start(), "ana")
    shown = (await ana.post("/certified", data=URGENT, headers={"HX-Request": "true"})).text
    assert shown.index("Call the emergency number now.") < shown.index("kidney stones")
    assert 'class="emergency" role="alert"' in shown


async def test_an_emergency_is_told_also_where_the_collection_cannot_be_opened(start: Start, tmp_path: Path) -> None:
    ana = await signed_in(await start(), "ana")
    (tmp_path / "home" / "collections" / "leaflets" / "passages.sqlite").write_bytes(b"damaged" * 999)
    body = {"collection": "leaflets", "question": URGENT["question"]}
    for told in (await ana.post("/certified", data=URGENT), await ana.post("/v1/certify", json=body)):
        assert told.status_code == 200, told.text
        assert "Call the emergency number now." in told.text
    assert (await ana.post("/certified", data=ASKED)).status_code == 409


async def test_who_was_given_a_reply_rates_it_without_their_name(start: Start, tmp_path: Path) -> None:
    running = await start()
    ana, bob = await signed_in(running, "ana"), await signed_in(running, "bob")
    id = (await ana.post("/certified", data=ASKED)).text.split("/certified/answers/")[1].split("/")[0]
    assert (await bob.post(f"/certified/answers/{id}/rating", data=SCORES)).status_code == 404
    for wrong in ({"q2": "4"}, {"q7": "0"}, {"q1": ""}):
        assert (await ana.post(f"/certified/answers/{id}/rating", data=SCORES | wrong)).status_code == 422
    home = tmp_path / "home"
    assert read_ratings(home) == []
    await ana.post(f"/certified/answers/{id}/rating", data=SCORES)
    assert [one.answer for one in read_ratings(home)] == [id]
    assert "ana" not in (home / "ratings.jsonl").read_text(encoding="utf-8").replace(id, "")
    assert "Can the answer be trusted?" in (await ana.get("/benchmarks")).text
