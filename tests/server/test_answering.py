"""The four pipelines by HTTP, with and without a stream, and who may ask for whom."""

import asyncio
from typing import Any

import pytest

from personable.pipelines.replying import NOT_FOUND
from tests.server.conftest import Slow, Start, events

WATER = {"question": "How many liters of water a day against kidney stones?", "collection": "notes"}
BODIES: dict[str, dict[str, Any]] = {
    "answer": WATER,
    "converse": WATER,
    "recommend": {"query": "a chair of oak", "collection": "shop", "k": 2},
    "certify": {"question": "How do I prevent kidney stones?", "collection": "leaflets"},
}


async def test_an_answer_has_its_citation_and_belongs_to_the_keys_person(start: Start) -> None:
    ana = await (await start()).client("ana")
    answer = (await ana.post("/v1/answer", json=WATER)).json()
    assert "2 to 3 liters" in answer["text"]
    assert answer["citations"][0]["passage_id"] == "stones#0"
    assert answer["person"] == "ana"


async def test_each_pipeline_tells_the_same_with_and_without_a_stream(start: Start) -> None:
    builder = await (await start()).client("builder")
    for name, body in BODIES.items():
        plain = await builder.post(f"/v1/{name}", json=body | {"person": "ana"})
        assert plain.status_code == 200, plain.text
        told = await builder.post(f"/v1/{name}", json=body | {"person": "ana", "stream": True})
        assert told.headers["content-type"].startswith("text/event-stream")
        heard = events(told.text)
        assert heard[0][0] == "post"
        assert [kind for kind, _ in heard].count("final") == 1
        assert heard[-1][0] == "final"
        assert set(heard[-1][1]["result"]) == set(plain.json())


async def test_the_text_of_a_stream_is_the_text_of_its_answer(start: Start) -> None:
    ana = await (await start()).client("ana")
    heard = events((await ana.post("/v1/answer", json=WATER | {"stream": True})).text)
    said = "".join(value["text"] for kind, value in heard if kind == "text")
    assert said.strip() == heard[-1][1]["result"]["text"]
    assert said.strip() != NOT_FOUND


async def test_a_conversation_goes_on_in_its_session(start: Start) -> None:
    running = await start()
    ana = await running.client("ana")
    first = (await ana.post("/v1/converse", json=WATER)).json()
    again = WATER | {"question": "and against gout?", "session": first["session"]}
    second = (await ana.post("/v1/converse", json=again)).json()
    assert second["session"] == first["session"]
    assert [turn.question for turn in await running.people.turns("ana", first["session"])] == [
        WATER["question"],
        "and against gout?",
    ]


@pytest.mark.parametrize("name", BODIES)
async def test_a_persons_key_reaches_that_person_only(start: Start, name: str) -> None:
    running = await start()
    ana = await running.client("ana")
    refused = await ana.post(f"/v1/{name}", json=BODIES[name] | {"person": "bob"})
    assert refused.status_code == 403
    assert refused.headers["content-type"] == "application/problem+json"
    assert "its own person" in refused.json()["detail"]


@pytest.mark.parametrize("name", BODIES)
async def test_without_a_key_that_holds_nothing_is_answered(start: Start, name: str) -> None:
    running = await start()
    for key in (None, "pk_wrong"):
        refused = await (await running.client(key)).post(f"/v1/{name}", json=BODIES[name])
        assert refused.status_code == 401
        assert refused.headers["www-authenticate"] == "Bearer"


async def test_an_emergency_text_leaves_also_where_the_collection_cannot_be_opened(start: Start) -> None:
    running = await start()
    builder = await running.client("builder")
    (running.home / "collections" / "leaflets" / "words.json").write_text("{", encoding="utf-8")
    body = {"question": "I have chest pain", "collection": "leaflets"}
    assert (await builder.post("/v1/certify", json=body)).json()["answer"]["text"] == "Call the emergency number now."
    heard = events((await builder.post("/v1/certify", json=body | {"stream": True})).text)
    assert ("text", {"text": "Call the emergency number now."}) in heard
    calm = await builder.post("/v1/certify", json=body | {"question": "How do I prevent kidney stones?"})
    assert calm.status_code == 409


@pytest.mark.parametrize("name", ["answer", "converse"])
async def test_a_certified_collection_is_asked_with_certify_alone(start: Start, name: str) -> None:
    builder = await (await start()).client("builder")
    body = {"question": "I have chest pain", "collection": "leaflets"}
    refused = await builder.post(f"/v1/{name}", json=body)
    assert refused.status_code == 400
    assert "certify" in refused.json()["detail"]
    heard = events((await builder.post(f"/v1/{name}", json=body | {"stream": True})).text)
    assert [kind for kind, _ in heard] == ["final"]
    assert heard[0][1]["problem"]["status"] == 400


async def test_what_is_no_json_is_of_another_content_type(start: Start) -> None:
    builder = await (await start()).client("builder")
    refused = await builder.post("/v1/answer", content=b"hello", headers={"Content-Type": "text/plain"})
    assert refused.status_code == 415
    assert "application/json" in refused.json()["detail"]


async def test_an_error_ends_a_stream_with_its_problem(start: Start) -> None:
    builder = await (await start()).client("builder")
    body = WATER | {"person": "nobody", "stream": True}
    heard = events((await builder.post("/v1/answer", json=body)).text)
    assert heard[-1][0] == "final"
    assert heard[-1][1]["problem"]["status"] == 404
    assert "nobody" in heard[-1][1]["problem"]["detail"]


async def test_a_client_that_goes_away_stops_the_model(start: Start) -> None:
    model = Slow()
    ana = await (await start(model=model)).client("ana")
    for stream in (True, False):
        asking = asyncio.create_task(ana.post("/v1/answer", json=WATER | {"stream": stream}))
        await model.asked.wait()
        asking.cancel()
        assert await model.given_up(), f"stream={stream}: the model was still asked"
        model.forget()


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"question": ""}, 422),
        ({"question": "   "}, 400),
        ({"question": "x" * 200_001}, 422),
        ({"question": "x" * 1_100_000}, 413),
        ({"question": "hello", "dial": "loud"}, 422),
        ({"question": "hello", "colection": "notes"}, 422),
        ({"question": "hello", "collection": "../notes"}, 400),
        ({"question": "hello", "collection": "nowhere"}, 404),
        ({"question": "hello"}, 400),
        ({"question": "hello", "collection": "notes", "session": "s"}, 400),
    ],
)
async def test_bad_input_is_a_problem(start: Start, body: dict[str, Any], status: int) -> None:
    builder = await (await start()).client("builder")
    refused = await builder.post("/v1/answer", json=body)
    assert refused.status_code == status, refused.text
    assert refused.headers["content-type"] == "application/problem+json"
    assert refused.json()["detail"]
    assert len(refused.text) < 2_000


@pytest.mark.parametrize("body", [b'{"question": "\xff\xfe"}', b'{"question": "\\ud800"}', b"{", b"[]", b"\x00"])
async def test_what_is_no_json_or_no_unicode_is_a_problem(start: Start, body: bytes) -> None:
    builder = await (await start()).client("builder")
    refused = await builder.post("/v1/answer", content=body, headers={"Content-Type": "application/json"})
    assert refused.status_code in (400, 422), refused.text
    assert refused.headers["content-type"] == "application/problem+json"


@pytest.mark.parametrize("turn", ['{"utterance": "\\ud800"}', '{"utterance": "hello", "response": "\\ud800"}'])
async def test_half_a_surrogate_pair_in_a_turn_is_a_problem(start: Start, turn: str) -> None:
    builder = await (await start()).client("builder")
    body = f'{{"question": "hello", "collection": "notes", "turns": [{turn}]}}'
    refused = await builder.post("/v1/converse", content=body, headers={"Content-Type": "application/json"})
    assert refused.status_code == 422, refused.text


async def test_large_headers_are_refused_and_10_kb_are_not(start: Start) -> None:
    builder = await (await start()).client("builder")
    assert (await builder.get("/healthz", headers={"X-Long": "x" * 10_000})).status_code == 200
    assert (await builder.get("/healthz", headers={"X-Long": "x" * 40_000})).status_code == 431


async def test_a_body_without_a_length_is_counted(start: Start) -> None:
    builder = await (await start()).client("builder")

    async def endless() -> Any:
        for _ in range(200):
            yield b" " * 10_000

    refused = await builder.post("/v1/answer", content=endless(), headers={"Content-Type": "application/json"})
    assert refused.status_code == 413


async def test_a_key_may_ask_so_often(start: Start) -> None:
    running = await start(server_rate=3)
    ana, bob = await running.client("ana"), await running.client("bob")
    statuses = [(await ana.post("/v1/answer", json=WATER)).status_code for _ in range(4)]
    assert statuses == [200, 200, 200, 429]
    assert (await bob.post("/v1/answer", json=WATER)).status_code == 200


async def test_wrong_keys_from_one_address_are_slowed_down(start: Start) -> None:
    stranger = await (await start()).client("pk_wrong")
    statuses = [(await stranger.post("/v1/answer", json=WATER)).status_code for _ in range(22)]
    assert statuses[0] == 401
    assert statuses[-1] == 429


async def test_it_is_alive_and_ready_without_a_key(start: Start) -> None:
    nobody = await (await start()).client(None)
    for path in ("/healthz", "/readyz"):
        assert (await nobody.get(path)).json() == {"status": "ok"}
