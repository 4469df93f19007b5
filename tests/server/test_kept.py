"""Kept answers by HTTP: listed, shown with board and certificate, explained, asked what if, rated."""

from typing import Any

from tests.server.conftest import Start

ANA = "/v1/people/ana/answers"
DAIRY = {"question": "Can I eat yogurt with lactose intolerance?", "collection": "notes", "dial": "on"}
STONES = {"question": "How do I prevent kidney stones?", "collection": "leaflets"}
CHAIR = {"query": "a chair of oak", "collection": "shop", "k": 2}
GOOD = {"q1": 1, "q2": 2, "q3": 4, "q4": 4, "q5": 4, "q6": 5, "q7": 5}


async def test_answers_are_listed_newest_first_page_by_page(start: Start) -> None:
    ana = await (await start()).client("ana")
    made = [(await ana.post("/v1/answer", json=DAIRY)).json()["id"] for _ in range(3)]
    first = (await ana.get(ANA, params={"limit": 2})).json()
    assert [one["id"] for one in first["answers"]] == made[:0:-1]
    last = (await ana.get(ANA, params={"limit": 2, "before": first["next"]})).json()
    assert ([one["id"] for one in last["answers"]], last["next"]) == (made[:1], None)
    assert last["answers"][0]["answer"]["question"] == DAIRY["question"]
    assert (await ana.get(ANA, params={"before": "nothing"})).status_code == 404


async def test_each_kind_of_answer_is_shown_as_it_went_out(start: Start) -> None:
    ana = await (await start()).client("ana")
    plain = (await ana.post("/v1/answer", json=DAIRY)).json()
    certified = (await ana.post("/v1/certify", json=STONES)).json()
    wished = (await ana.post("/v1/recommend", json=CHAIR)).json()
    shown: dict[str, Any] = {}
    for id in (plain["id"], certified["answer"]["id"], wished["id"]):
        shown[id] = (await ana.get(f"{ANA}/{id}")).json()
        assert (await ana.get(f"{ANA}/{id}/board")).json()["posts"]
    assert shown[plain["id"]]["answer"] == plain
    assert shown[certified["answer"]["id"]]["certification"] == certified["certification"]
    assert shown[wished["id"]]["recommendations"] == wished
    judged = await ana.post(f"{ANA}/{wished['id']}/feedback", json={"kind": "thumbs", "value": 1})
    assert judged.status_code == 400
    assert "items" in judged.json()["detail"]


async def test_an_answer_says_why_and_what_if(start: Start) -> None:
    ana = await (await start()).client("ana")
    answer = (await ana.post("/v1/answer", json=DAIRY)).json()
    assert answer["used"]
    why = (await ana.get(f"{ANA}/{answer['id']}/why")).json()
    assert (why["why"]["person"], why["why"]["answer"]) == ("ana", answer["id"])
    assert why["sentences"][0].startswith("ana counted")
    without = {"without": answer["used"][0]["statement"]}
    effect = (await ana.get(f"{ANA}/{answer['id']}/what-if", params=without)).json()
    assert effect["what_if"]["statement"] == without["without"]
    assert effect["sentence"].startswith("Without “I have lactose intolerance”")
    assert (await ana.get(f"{ANA}/{answer['id']}/what-if", params={"without": "x"})).status_code == 404


async def test_answers_of_strangers_are_the_builders(start: Start) -> None:
    running = await start()
    builder, ana = await running.client("builder"), await running.client("ana")
    answer = (await builder.post("/v1/answer", json=DAIRY)).json()
    assert (await builder.get(f"/v1/answers/{answer['id']}")).json()["answer"] == answer
    assert (await builder.get("/v1/answers")).json()["answers"][0]["id"] == answer["id"]
    assert "nobody in particular" in (await builder.get(f"/v1/answers/{answer['id']}/why")).json()["sentences"][0]
    assert (await builder.get(f"{ANA}/{answer['id']}")).status_code == 404
    for path in ("", f"/{answer['id']}", f"/{answer['id']}/board", f"/{answer['id']}/why"):
        assert (await ana.get(f"/v1/answers{path}")).status_code == 403
    theirs = (await ana.post("/v1/answer", json=DAIRY)).json()["id"]
    assert (await builder.get(f"/v1/answers/{theirs}")).status_code == 404


async def test_certified_answers_are_rated_and_builders_see_the_table(start: Start) -> None:
    running = await start()
    ana, builder = await running.client("ana"), await running.client("builder")
    certified = (await ana.post("/v1/certify", json=STONES)).json()["answer"]["id"]
    assert (await ana.post(f"{ANA}/{certified}/rating", json=GOOD)).status_code == 201
    assert (await ana.post(f"{ANA}/{certified}/rating", json=GOOD | {"q1": 2})).status_code == 422
    plain = (await ana.post("/v1/answer", json=DAIRY)).json()["id"]
    assert (await ana.post(f"{ANA}/{plain}/rating", json=GOOD)).status_code == 409
    stranger = (await builder.post("/v1/certify", json=STONES)).json()["answer"]["id"]
    assert (await builder.post(f"/v1/answers/{stranger}/rating", json=GOOD | {"q3": 2})).status_code == 201
    table = {line["question"]: line for line in (await builder.get("/v1/ratings")).json()}
    assert (table["q3"]["n"], table["q3"]["average"]) == (2, 3.0)
    assert (await ana.get("/v1/ratings")).status_code == 403


async def test_what_another_version_stored_is_told_and_breaks_no_list(start: Start) -> None:
    running = await start()
    ana = await running.client("ana")
    await running.people.save_answer("old", "ana", None, "{}", "{}")
    assert [one["answer"] for one in (await ana.get(ANA)).json()["answers"]] == [None]
    for path in ("", "/board", "/why"):
        assert (await ana.get(f"{ANA}/old{path}")).status_code == 409
    judged = await ana.post(f"{ANA}/old/feedback", json={"kind": "thumbs", "value": 1})
    assert judged.status_code == 409
