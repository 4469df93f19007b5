"""Metrics: what is counted, under which labels, and that no label names anybody."""

from __future__ import annotations

import asyncio
from typing import Any

from prometheus_client.parser import text_string_to_metric_families

from personable.errors import ModelTimeoutError
from personable.llm.scripted import ScriptedModel
from personable.llm.traced import TracedModel
from tests.pipelines.test_answer import AGENTS
from tests.server.conftest import Start

ASK = {"question": "How much water should I drink, zzquestion?", "collection": "notes", "keep": False}
WRITTEN = "Drink 2 to 3 liters of water a day [1]."


def scripted(line: Any = WRITTEN, delay: float = 0.0) -> TracedModel:
    script = {**AGENTS, "cognitive": line}
    return TracedModel(ScriptedModel(script, name="server:writer", delay=delay))  # type: ignore[arg-type]


async def read(client: Any) -> dict[tuple[str, ...], float]:
    """Samples of /metrics by their name and label values, which stand in the order of the labels' names."""
    answered = await client.get("/metrics")
    assert answered.headers["content-type"].startswith("text/plain; version=0.0.4")
    families = text_string_to_metric_families(answered.text)
    return {(one.name, *one.labels.values()): one.value for family in families for one in family.samples}


async def test_requests_answers_model_calls_and_tokens_are_counted(start: Start) -> None:
    running = await start(scripted())
    client = await running.client("ana")
    result = (await client.post("/v1/answer", json=ASK)).json()
    streamed = await client.post("/v1/answer", json={**ASK, "stream": True})
    assert streamed.status_code == 200
    found = await read(await running.client(None))
    assert found["personable_requests_total", "POST", "/v1/answer", "200"] == 2
    assert found["personable_request_seconds_count", "POST", "/v1/answer"] == 2
    assert found["personable_first_event_seconds_count", "/v1/answer"] == 1
    assert found["personable_first_event_seconds_sum", "/v1/answer"] > 0
    assert found["personable_answer_seconds_count", "ok", "answer"] == 2
    assert found["personable_answers_in_flight", "answer"] == 0
    assert found["personable_model_call_seconds_count", "server:writer", "ok"] == 2 * result["calls"]
    for kind in ("prompt", "completion"):
        assert found["personable_tokens_total", kind, "server:writer"] == 2 * result["tokens"][kind] > 0
    assert found[("personable_search_seconds_count",)] >= 2
    assert found[("process_resident_memory_bytes",)] > 0


async def test_no_label_names_anybody(start: Start) -> None:
    running = await start(scripted())
    await running.people.add("zzperson")
    client = await running.client("builder")
    await client.post("/v1/answer", json={**ASK, "person": "zzperson"})
    await client.get("/zzpath")
    await client.request("ZZMETHOD", "/v1/answer")
    text = (await client.get("/metrics")).text
    assert 'route="unmatched"' in text
    assert "zz" not in text.lower()


async def test_what_fails_is_counted_by_its_type(start: Start) -> None:
    client = await (await start(scripted(ModelTimeoutError("zz")))).client("builder")
    assert (await client.post("/v1/answer", json={**ASK, "strict": True})).status_code == 504
    found = await read(client)
    assert found["personable_requests_total", "POST", "/v1/answer", "504"] == 1
    assert found["personable_answer_seconds_count", "ModelTimeoutError", "answer"] == 1
    assert found["personable_model_call_seconds_count", "server:writer", "ModelTimeoutError"] == 1


async def test_answers_in_flight_go_up_and_down_also_when_the_client_leaves(start: Start) -> None:
    client = await (await start(scripted(delay=5.0))).client("builder")
    async with client.stream("POST", "/v1/answer", json={**ASK, "stream": True}) as response:
        async for _ in response.aiter_bytes():
            break
        assert (await read(client))["personable_answers_in_flight", "answer"] == 1
    for _ in range(200):
        found = await read(client)
        if ("personable_responses_broken_off_total", "/v1/answer") in found:
            break
        await asyncio.sleep(0.02)
    assert found["personable_answers_in_flight", "answer"] == 0
    assert found["personable_responses_broken_off_total", "/v1/answer"] == 1


async def test_two_apps_in_one_process_count_apart(start: Start) -> None:
    from personable.server.app import build_app

    running = await start()
    other = build_app(running.app.state.engine.base)
    await (await running.client(None)).get("/healthz")
    assert b'route="/healthz"' in running.app.state.metrics.text()
    assert b'route="/healthz"' not in other.state.metrics.text()
