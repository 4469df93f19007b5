"""What was sent is known of every call, also of one that was cut off or reached nobody."""

from __future__ import annotations

import asyncio

import pytest

from personable.errors import ModelError
from personable.llm import FallbackModel, ScriptedModel
from personable.llm.provider import Limits, ProviderModel
from personable.llm.providers import server
from personable.llm.sending import watched
from tests.contracts.model import PROMPT
from tests.llm.fake_server import Says, fake_server, says


def far(url: str, retries: int = 0) -> ProviderModel:
    """A server on this machine that counts as being elsewhere."""
    return ProviderModel("far", server("far", "x", url, "key"), Limits(retries=retries), concurrency=1, remote=True)


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


async def test_a_call_that_is_cut_off_was_sent() -> None:
    model = ScriptedModel("a", delay=30, name="there", remote=True)
    with watched() as sent, pytest.raises(TimeoutError):
        await asyncio.wait_for(model.write(PROMPT), 0.05)
    assert (sent.calls, sent.elsewhere) == (1, ("there",))


@pytest.mark.slow
@pytest.mark.parametrize("streamed", [False, True])
async def test_a_request_without_a_connection_reached_nobody(streamed: bool) -> None:
    async with fake_server(says("Tea.")) as there:
        url = there.url
    model = far(url)
    with watched() as sent, pytest.raises(ModelError, match="no connection"):
        await asked(model, streamed)
    assert (sent.calls, sent.elsewhere) == (1, ())


@pytest.mark.slow
@pytest.mark.parametrize("streamed", [False, True])
async def test_a_request_that_failed_reached_the_model(streamed: bool) -> None:
    async with fake_server(Says(status=500, error="busy")) as there:
        with watched() as sent, pytest.raises(ModelError):
            await asked(far(there.url, 1), streamed)
    assert (sent.calls, sent.elsewhere) == (2, ("far",))
    assert len(there.requests) == 2
