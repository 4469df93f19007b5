"""The provider path against a server on loopback: time limits, retries, refusals, cancellation, prefixes, secrets."""

import asyncio
import json
import time
from contextlib import aclosing

import pytest

from personable.errors import ModelError, ModelOutputError, ModelRefusedError, ModelTimeoutError
from personable.llm import LanguageModel, Prompt, make_model
from tests.contracts.model import PROMPT, Need
from tests.llm.fake_server import CACHED, FakeServer, Says, fake_server, says

pytestmark = pytest.mark.slow

JSON = '{"need": "tea"}'


def made(server: FakeServer, **limits: object) -> LanguageModel:
    return make_model("server:fake", url=server.url, **{"timeout": 30, "key": "sk-very-secret", **limits})


@pytest.fixture(autouse=True)
def _short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("personable.llm.retrying.FIRST_PAUSE", 0.001)


async def test_system_shared_and_task_are_sent_in_this_order():
    async with fake_server(says("Tea.")) as server:
        await made(server).write(Prompt(system="RULES", shared="PASSAGES", task="TASK"))
    sent = server.requests[0]["messages"]
    assert [one["role"] for one in sent] == ["system", "user"]
    assert [one["content"] for one in sent] == ["RULES", "PASSAGES\n\nTASK"]


async def test_agents_of_one_question_share_their_beginning_also_with_typed_output_and_repair():
    async with fake_server(says("no"), says(JSON), says("Tea.")) as server:
        model = made(server)
        await model.write(Prompt(system="RULES", shared="PASSAGES", task="A"), Need)
        await model.write(Prompt(system="RULES", shared="PASSAGES", task="B"))
    assert len(server.requests) == 3
    for body in server.requests:
        assert body["messages"][0]["content"] == "RULES"
        assert body["messages"][1]["content"].startswith("PASSAGES\n\n")


async def test_the_form_comes_last_and_the_schema_is_sent_apart():
    async with fake_server(says(JSON)) as server:
        await made(server).write(PROMPT, Need)
    body = server.requests[0]
    assert body["messages"][1]["content"].index('"need": string') > body["messages"][1]["content"].index(PROMPT.task)
    assert body["response_format"]["json_schema"]["schema"]["properties"].keys() == {"need", "queries", "score"}


async def test_openai_gets_no_schema_where_it_would_spoil_the_cache(monkeypatch: pytest.MonkeyPatch):
    async with fake_server(says(JSON)) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        model = make_model("openai:gpt-4o-mini", key="k", timeout=60)
        assert (await model.write(PROMPT, Need)).value == Need(need="tea")
        assert (await model.write(PROMPT.model_copy(update={"shared": ""}), Need)).value == Need(need="tea")
    assert [body["response_format"]["type"] for body in server.requests] == ["json_object", "json_schema"]
    assert '"need": string' in server.requests[0]["messages"][-1]["content"]
    assert '"need": string' not in server.requests[1]["messages"][-1]["content"]
    assert len(server.requests[0]["messages"]) == 2


async def test_a_server_without_schemas_is_asked_without_one_from_then_on():
    refusal = Says(status=400, error="response_format json_schema is not supported")
    async with fake_server(refusal, says(JSON)) as server:
        model = made(server)
        reply = await model.write(PROMPT, Need)
        assert (reply.value, reply.calls) == (Need(need="tea"), 2)
        assert (await model.write(PROMPT, Need)).calls == 1
    assert ["response_format" in body for body in server.requests] == [True, False, False]


async def test_cached_tokens_are_reported():
    async with fake_server(says("Tea.")) as server:
        reply = await made(server).write(PROMPT)
    assert (reply.tokens.prompt, reply.tokens.cached, reply.tokens.completion) == (11, CACHED, 5)


async def test_cached_tokens_are_reported_of_a_stream():
    async with fake_server(says("Tea.")) as server:
        *_, last = [piece async for piece in made(server).stream(PROMPT)]
    assert (last.tokens.prompt, last.tokens.cached, last.tokens.completion) == (11, CACHED, 5)


async def test_max_tokens_is_sent_and_a_cut_answer_says_so():
    async with fake_server(says("Ada likes", finish="length")) as server:
        reply = await made(server, max_tokens=77).write(PROMPT)
        await made(server, max_tokens=77).write(PROMPT, max_tokens=5)
    assert reply.cut == "length"
    assert [body["max_tokens"] for body in server.requests] == [77, 5]


@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503, 529])
async def test_a_passing_failure_is_tried_again(status: int):
    async with fake_server(Says(status=status, error="busy"), says("Tea.")) as server:
        reply = await made(server).write(PROMPT)
    assert (reply.text, reply.calls) == ("Tea.", 2)


async def test_a_lost_connection_is_tried_again():
    async with fake_server(Says(breaks=True), says("Tea.")) as server:
        assert (await made(server).write(PROMPT)).calls == 2


@pytest.mark.parametrize("streamed", [False, True])
async def test_retries_are_bounded_and_not_multiplied_by_the_library(streamed: bool):
    async with fake_server(Says(status=503, error="busy")) as server:
        model = made(server, retries=2)
        with pytest.raises(ModelError, match="busy") as raised:
            _ = [piece async for piece in model.stream(PROMPT)] if streamed else await model.write(PROMPT)
    assert len(server.requests) == 3
    assert raised.value.calls == 3


@pytest.mark.parametrize("status", [400, 401, 403, 404, 422])
async def test_a_refusal_is_not_tried_again(status: int):
    async with fake_server(Says(status=status, error="not you")) as server:
        with pytest.raises(ModelRefusedError, match="not you"):
            await made(server).write(PROMPT)
    assert len(server.requests) == 1


async def test_exhausted_quota_is_a_refusal_although_it_is_a_429():
    body = '{"error": {"message": "You exceeded your quota", "code": "insufficient_quota"}}'
    async with fake_server(Says(status=429, error="x")) as server:
        server.answer = lambda says, _, writer: quota(body, writer)  # type: ignore[method-assign]
        with pytest.raises(ModelRefusedError, match="quota"):
            await made(server).write(PROMPT)
    assert len(server.requests) == 1


async def quota(body: str, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 429 X\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n" + body.encode())
    await writer.drain()


async def test_retry_after_is_waited_for():
    async with fake_server(Says(status=429, error="slow", headers={"Retry-After": "1"}), says("Tea.")) as server:
        began = time.monotonic()
        await made(server).write(PROMPT)
    assert time.monotonic() - began >= 1.0


async def test_a_retry_after_beyond_the_time_limit_is_not_waited_for():
    async with fake_server(Says(status=429, error="slow down", headers={"Retry-After": "3600"})) as server:
        with pytest.raises(ModelError, match="slow down"):
            await made(server).write(PROMPT)
    assert len(server.requests) == 1


async def test_a_server_that_hangs_is_a_time_out_and_is_hung_up_on():
    async with fake_server(says("Tea.", hangs=True)) as server:
        with pytest.raises(ModelTimeoutError, match=r"did not answer within 0\.3 s"):
            await made(server, timeout=0.3).write(PROMPT)
        await asyncio.wait_for(server.left.wait(), 10)


async def test_the_time_limit_holds_for_retries_together():
    async with fake_server(Says(status=503, error="busy", headers={"retry-after-ms": "200"})) as server:
        with pytest.raises(ModelError):
            await made(server, timeout=1, retries=10).write(PROMPT)
    assert len(server.requests) <= 6


async def test_a_stream_that_stalls_is_a_time_out():
    async with fake_server(says("Ada ", hangs=True)) as server:
        pieces = made(server, timeout=0.5).stream(PROMPT)
        assert await anext(pieces) == "Ada "
        with pytest.raises(ModelTimeoutError):
            await anext(pieces)
        await asyncio.wait_for(server.left.wait(), 10)


async def test_a_cancelled_call_hangs_up():
    async with fake_server(says("Tea.", hangs=True)) as server:
        call = asyncio.ensure_future(made(server).write(PROMPT))
        await server.asked.wait()
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        await asyncio.wait_for(server.left.wait(), 10)


async def test_a_stream_that_is_left_hangs_up_and_gives_its_place_back():
    async with fake_server(says("Ada ", hangs=True), says("Tea.")) as server:
        model = made(server, concurrency=1)
        async with aclosing(model.stream(PROMPT)) as pieces:
            assert await anext(pieces) == "Ada "
        await asyncio.wait_for(server.left.wait(), 10)
        assert (await model.write(PROMPT)).text == "Tea."


async def test_a_stream_that_breaks_off_is_an_error_and_not_said_twice():
    async with fake_server(says("Ada ", breaks=True), says("Tea.")) as server:
        pieces = made(server).stream(PROMPT)
        assert await anext(pieces) == "Ada "
        with pytest.raises(ModelError, match="broke off"):
            await anext(pieces)
    assert len(server.requests) == 1


async def test_a_stream_that_repeats_itself_is_stopped():
    pieces = ("Ada likes tea. ", *["and tea "] * 10_000)
    async with fake_server(Says(pieces=pieces, pause=0.0001)) as server:
        *heard, last = [piece async for piece in made(server).stream(PROMPT)]
        await asyncio.wait_for(server.left.wait(), 10)
    assert last.cut == "repetition"
    assert last.text == "Ada likes tea. and tea"
    assert len(heard) < 100


async def test_no_more_calls_than_allowed_are_under_way():
    async with fake_server(says("Tea.", pause=0.05)) as server:
        model = made(server, concurrency=2)
        await asyncio.gather(*(model.write(PROMPT) for _ in range(6)))
    assert server.most_at_once == 2


async def test_waiting_for_a_place_is_not_counted_against_the_time_limit():
    async with fake_server(says("Tea.", pause=0.4)) as server:
        model = made(server, concurrency=1, timeout=2)
        replies = await asyncio.gather(*(model.write(PROMPT) for _ in range(7)))
    assert len(replies) == 7


async def test_a_prompt_beyond_the_context_is_refused_before_it_is_sent():
    async with fake_server(says("Tea.")) as server:
        with pytest.raises(ModelRefusedError, match=r"too long.*model_context is 1000"):
            await made(server, context=1000).write(Prompt(system="s", shared="word " * 4000, task="t"))
    assert server.requests == []


async def test_a_server_that_finds_the_prompt_too_long_is_understood():
    error = "request (5015 tokens) exceeds the available context size (4096 tokens), try increasing it"
    async with fake_server(Says(status=400, error=error)) as server:
        with pytest.raises(ModelRefusedError, match="too long for model"):
            await made(server).write(PROMPT)


@pytest.mark.parametrize("body", ["<html>Welcome</html>", "{}", '{"choices": []}', '{"choices": [{"ind', "", "null"])
async def test_something_that_is_no_model_server_is_a_clear_error(body: str):
    async with fake_server(Says(body=body)) as server:
        with pytest.raises(ModelError):
            await made(server).write(PROMPT)


async def test_nobody_listening_is_said_with_the_address():
    with pytest.raises(ModelError, match=r"no connection to model 'server:x' at http://127\.0\.0\.1:9/v1"):
        await make_model("server:x", url="http://127.0.0.1:9/v1", retries=0).write(PROMPT)


@pytest.mark.parametrize("status", [401, 400, 500])
async def test_a_key_that_the_server_repeats_is_not_shown(status: int):
    async with fake_server(Says(status=status, error="bad key sk-very-secret")) as server:
        with pytest.raises(ModelError) as raised:
            await made(server, retries=0).write(PROMPT)
    assert "sk-very-secret" not in str(raised.value)
    assert server.headers[0]["authorization"] == "Bearer sk-very-secret"


async def test_a_failing_second_request_counts_the_first():
    async with fake_server(says("no"), Says(status=400, error="enough")) as server:
        with pytest.raises(ModelRefusedError) as raised:
            await made(server).write(PROMPT, Need)
    assert raised.value.calls == 2


async def test_tokens_of_both_requests_are_counted():
    async with fake_server(says("no"), says(JSON)) as server:
        reply = await made(server).write(PROMPT, Need)
    assert (reply.tokens.prompt, reply.tokens.completion, reply.calls) == (22, 10, 2)


async def test_the_second_request_shows_a_bounded_part_of_the_bad_answer():
    async with fake_server(says("".join(f"no {n} " for n in range(20_000))), says(JSON)) as server:
        await made(server).write(PROMPT, Need)
    assert len(json.dumps(server.requests[1])) < 10_000


async def test_text_of_lone_surrogates_can_be_stored():
    async with fake_server(says("tea \ud83d")) as server:
        assert (await made(server).write(PROMPT)).text.encode() == "tea �".encode()


def test_one_model_works_in_one_event_loop_after_another():
    async def both(model: LanguageModel, server: FakeServer) -> str:
        return (await model.write(PROMPT)).text

    async def once(model: LanguageModel | None) -> LanguageModel:
        async with fake_server(says("Tea.")) as server:
            if model is None:
                model = made(server)
            else:
                model._provider = made(server)._provider  # type: ignore[attr-defined]
            assert await both(model, server) == "Tea."
            assert await both(model, server) == "Tea."
            return model

    model = asyncio.run(once(None))
    asyncio.run(once(model))


async def test_output_errors_show_what_was_wrong():
    async with fake_server(says('{"need": "tea", "score": 7}')) as server:
        with pytest.raises(ModelOutputError, match="score: input should be less than or equal to 1"):
            await made(server).write(PROMPT, Need)
