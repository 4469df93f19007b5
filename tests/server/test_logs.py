"""The log: what a line holds, and that nothing that anybody sent or asked is ever in it."""

from __future__ import annotations

import asyncio
import io
import json
import logging
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from personable.llm.base import Prompt
from personable.llm.scripted import ScriptedModel
from personable.server.logs import FIELDS, LEFT_OUT, Lines, chain, set_up
from personable.server.watch import HEADER
from tests.server.conftest import Start

ASK = {"question": "How much water should I drink?", "collection": "notes", "keep": False}


@pytest.fixture
def log() -> Iterator[Callable[[], list[dict[str, Any]]]]:
    """Everything that any logger says, from DEBUG on, as lines of the log."""
    written, root = io.StringIO(), logging.getLogger()
    handler = logging.StreamHandler(written)
    handler.setFormatter(Lines())
    level = root.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    yield lambda: [json.loads(line) for line in written.getvalue().splitlines()]
    root.removeHandler(handler)
    root.setLevel(level)


async def test_a_request_is_one_line(start: Start, log: Callable[[], list[dict[str, Any]]]) -> None:
    running = await start()
    client = await running.client("builder")
    answered = await client.post("/v1/answer", json=ASK)
    assert answered.status_code == 200
    (line,) = [one for one in log() if one["logger"] == "personable.access"]
    (key,) = [one for one in await running.people.keys() if one.scope == "builder"]
    assert {name: line[name] for name in ("level", "message", "method", "route", "status", "key", "whole")} == {
        "level": "info",
        "message": "request",
        "method": "POST",
        "route": "/v1/answer",
        "status": 200,
        "key": key.id,
        "whole": True,
    }
    assert line["request"] == answered.headers[HEADER]
    assert 0 < line["seconds"] < 60
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+00:00", line["time"])


async def test_nothing_that_was_sent_is_in_the_log(start: Start, log: Callable[[], list[dict[str, Any]]]) -> None:
    def fail(prompt: Prompt, output: object) -> str:
        raise RuntimeError(f"zzerror about {prompt.shared} {prompt.task}")

    running = await start(ScriptedModel(fail))
    await running.people.add("zzperson")
    await running.people.tell("zzperson", "I keep zzstatement bees", sensitive=False)
    client = await running.client("builder")
    ask = {**ASK, "question": "zzquestion water stones", "person": "zzperson"}
    failed = await client.post("/v1/answer?zzquery=1", json=ask, headers={"User-Agent": "zzagent"})
    assert (failed.status_code, "zz" in failed.text) == (500, False)
    streamed = await client.post("/v1/answer", json={**ask, "stream": True, "keep": True})
    assert "event: final" in streamed.text
    statuses = [
        (await client.get("/zzpath/zzmore")).status_code,
        (await client.post("/v1/answer", content=b'{"question": "zzbroken')).status_code,
        (await client.post("/v1/answer", json={**ASK, "person": "zznobody", "zzfield": 1})).status_code,
        (await (await running.client("zzkey")).post("/v1/answer", json=ASK)).status_code,
        (await client.post("/v1/answer", content=b"zz" * 600_000)).status_code,
    ]
    assert statuses == [404, 415, 422, 401, 413]
    for secret in running.keys.values():
        assert secret not in json.dumps(log())
    lines = log()
    assert [line for line in lines if "zz" in json.dumps(line)] == []
    (unexpected, *_) = [line for line in lines if line["message"] == "unexpected RuntimeError"]
    assert unexpected["exception"][0]["type"] == "RuntimeError"
    assert any("test_logs.py" in frame for frame in unexpected["exception"][0]["frames"])
    assert {line["route"] for line in lines if line["logger"] == "personable.access"} == {"/v1/answer", "unmatched"}


async def test_a_request_id_is_taken_over_only_where_it_is_short_and_plain(
    start: Start, log: Callable[[], list[dict[str, Any]]]
) -> None:
    client = await (await start()).client()
    plain = "Az09._-" + "x" * 57
    for given, kept in [(plain, True), (plain + "x", False), ("a b", False), ("a\u00e9".encode(), False), ("", False)]:
        returned = (await client.get("/healthz", headers={HEADER: given})).headers[HEADER]  # type: ignore[dict-item]
        assert (returned == given) is kept
        assert kept or re.fullmatch("[0-9a-f]{32}", returned)
    assert next(one["request"] for one in log() if one["logger"] == "personable.access") == plain


async def test_a_client_that_leaves_is_seen(start: Start, log: Callable[[], list[dict[str, Any]]]) -> None:
    client = await (await start(ScriptedModel("x", delay=5.0))).client("builder")
    async with client.stream("POST", "/v1/answer", json={**ASK, "stream": True}) as response:
        async for _ in response.aiter_bytes():
            break
    for _ in range(200):
        found = [one for one in log() if one["logger"] == "personable.access"]
        if found:
            break
        await asyncio.sleep(0.02)
    assert [(one["route"], one["whole"]) for one in found] == [("/v1/answer", False)]


def test_of_other_libraries_only_templates_are_kept() -> None:
    def said(name: str, message: str, *args: object, texts: bool = False) -> str:
        record = logging.LogRecord(name, logging.WARNING, "x.py", 1, message, args, None)
        return json.loads(Lines(texts=texts).format(record))["message"]

    assert said("sqlalchemy.pool", "reset of %r failed", "zz") == "reset of %r failed"
    assert said("asyncio", "Task exception was never retrieved: ValueError('zz')") == LEFT_OUT
    assert said("personable.server", "unexpected %s", "TypeError") == "unexpected TypeError"
    assert said("asyncio", "zz", texts=True) == "zz"


def test_an_exception_is_told_with_its_causes_and_without_their_words() -> None:
    try:
        try:
            raise ExceptionGroup("zz group", [ValueError("zz inner")])
        except ExceptionGroup as error:
            raise RuntimeError("zz outer") from error
    except RuntimeError as error:
        found, whole = chain(error, texts=False), chain(error, texts=True)
    assert [one["type"] for one in found] == ["RuntimeError", "ExceptionGroup", "ValueError"]
    assert "test_logs.py" in found[0]["frames"][-1]
    assert "zz" not in json.dumps(found)
    assert whole[0]["message"] == "zz outer"


def test_an_exception_that_left_a_group_is_told_once() -> None:
    inner = ValueError("zz")
    inner.__cause__ = ExceptionGroup("zz", [inner])
    assert [one["type"] for one in chain(inner, texts=False)] == ["ValueError", "ExceptionGroup"]


def test_setting_up_sends_all_loggers_to_standard_error(capsys: pytest.CaptureFixture[str]) -> None:
    root, kept = logging.getLogger(), [logging.getLogger(name) for name in ("personable", "uvicorn.error")]
    before = (root.handlers[:], root.level, [one.level for one in kept])
    try:
        set_up()
        logging.getLogger("uvicorn.error").info("Started server process [%d]", 7)
        logging.getLogger("personable.access").info("request", extra=dict.fromkeys(FIELDS, 1))
        logging.getLogger("httpx").info("HTTP Request: %s", "zz")
        logging.getLogger("other").warning("odd")
    finally:
        root.handlers[:] = before[0]
        root.setLevel(before[1])
        for one, level in zip(kept, before[2], strict=True):
            one.setLevel(level)
    out, err = capsys.readouterr()
    lines = [json.loads(line) for line in err.splitlines()]
    assert [line["message"] for line in lines] == ["Started server process [7]", "request", LEFT_OUT]
    assert out == ""
