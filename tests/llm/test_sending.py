"""What was sent is known of every call, also of one that was cut off or reached nobody."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import pytest

from personable.errors import ModelError, ModelTimeoutError
from personable.llm import FallbackModel, ScriptedModel
from personable.llm.provider import Limits, ProviderModel
from personable.llm.providers import server
from personable.llm.sending import watched
from tests.contracts.model import PROMPT
from tests.llm.fake_server import Says, fake_server, says


def far(url: str, retries: int = 0, timeout: float = 60) -> ProviderModel:
    """A server on this machine that counts as being elsewhere."""
    limits = Limits(retries=retries, timeout=timeout)
    return ProviderModel("far", server("far", "x", url, "key"), limits, concurrency=1, remote=True)


@contextmanager
def deaf_server() -> Iterator[str]:
    """The address of a server whose queue is full: who connects to it waits."""
    with ExitStack() as opened:
        listening = opened.enter_context(socket.socket())
        listening.bind(("127.0.0.1", 0))
        listening.listen(0)
        for _ in range(4):
            waiting = opened.enter_context(socket.socket())
            waiting.setblocking(False)
            waiting.connect_ex(listening.getsockname())
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/v1"


async def asked(model: ProviderModel, streamed: bool) -> None:
    if streamed:
        _ = [piece async for piece in model.stream(PROMPT)]
    else:
        await model.write(PROMPT)


async def test_only_a_model_elsewhere_that_was_asked_is_named() -> None:
    here, there = ScriptedModel(["a", ModelError("away")], name="here"), ScriptedModel("b", name="there", remote=True)
    model = FallbackModel(here, there)
    with watched() as sent:
        with watched() as first:
            await model.write(PROMPT)
        with watched() as second:
            await asyncio.gather(asyncio.create_task(model.write(PROMPT)))
    assert [(one.calls, one.elsewhere) for one in (first, second, sent)] == [(1, ()), (2, ("there",)), (3, ("there",))]
    assert [one.answered for one in (first, second, sent)] == [(), ("there",), ("there",)]
    assert sent.tokens == first.tokens + second.tokens
    assert sent.tokens.completion == 2


async def test_a_call_that_is_cut_off_was_sent() -> None:
    model = ScriptedModel("a", delay=30, name="there", remote=True)
    with watched() as sent, pytest.raises(TimeoutError):
        await asyncio.wait_for(model.write(PROMPT), 0.05)
    assert (sent.calls, sent.elsewhere, sent.answered) == (1, ("there",), ())


@pytest.mark.slow
@pytest.mark.parametrize("streamed", [False, True])
async def test_a_request_without_a_connection_reached_nobody(streamed: bool) -> None:
    async with fake_server(says("Tea.")) as there:
        url = there.url
    model = far(url)
    with watched() as sent, pytest.raises(ModelError, match="no connection"):
        await asked(model, streamed)
    assert (sent.calls, sent.elsewhere, sent.answered) == (1, (), ())


@pytest.mark.slow
@pytest.mark.parametrize("streamed", [False, True])
async def test_a_request_that_failed_reached_the_model(streamed: bool) -> None:
    async with fake_server(Says(status=500, error="busy")) as there:
        with watched() as sent, pytest.raises(ModelError):
            await asked(far(there.url, 1), streamed)
    assert (sent.calls, sent.elsewhere, sent.answered) == (2, ("far",), ("far",))
    assert len(there.requests) == 2


@pytest.mark.slow
@pytest.mark.parametrize("streamed", [False, True])
async def test_a_reply_was_read_and_its_tokens_count(streamed: bool) -> None:
    async with fake_server(says("Tea.")) as there:
        with watched() as sent:
            await asked(far(there.url), streamed)
    assert (sent.elsewhere, sent.answered) == (("far",), ("far",))
    assert sent.tokens.completion > 0


@pytest.mark.slow
@pytest.mark.parametrize(("pieces", "answered"), [((), ()), (("Tea",), ("far",))])
async def test_the_first_piece_of_a_stream_tells_that_it_was_read(
    pieces: tuple[str, ...], answered: tuple[str, ...]
) -> None:
    async with fake_server(Says(pieces=pieces, hangs=True)) as there:
        with watched() as sent, pytest.raises(TimeoutError):
            await asyncio.wait_for(asked(far(there.url), True), 2)
        assert there.requests
    assert (sent.elsewhere, sent.answered) == (("far",), answered)


@pytest.mark.slow
@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("from_outside", [False, True])
async def test_a_request_cut_off_while_it_connects_may_have_been_sent_and_was_read_by_nobody(
    streamed: bool, from_outside: bool
) -> None:
    with deaf_server() as url, watched() as sent, pytest.raises((ModelTimeoutError, TimeoutError)):
        await asyncio.wait_for(
            asked(far(url, timeout=30 if from_outside else 0.5), streamed), 0.5 if from_outside else 30
        )
    assert (sent.calls, sent.elsewhere, sent.answered) == (1, ("far",), ())
