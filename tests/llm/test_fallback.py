"""The second model stands in for the first one, and says so."""

from contextlib import aclosing

import pytest

from personable.errors import ModelError, ModelOutputError, ModelRefusedError
from personable.llm import FallbackModel, ScriptedModel
from personable.llm.fallback import elsewhere
from tests.contracts.model import PROMPT, Need
from tests.llm.fake_server import fake_server, says

AWAY = ModelRefusedError("no key")


async def test_the_first_model_answers_when_it_can():
    reply = await FallbackModel(ScriptedModel("a", name="one"), ScriptedModel("b", name="two")).write(PROMPT)
    assert (reply.text, reply.model) == ("a", "one")


async def test_the_second_answers_when_the_first_fails_and_the_reply_says_so():
    reply = await FallbackModel(ScriptedModel(AWAY, name="one"), ScriptedModel("b", name="two")).write(PROMPT)
    assert (reply.text, reply.model) == ("b", "two")


async def test_requests_of_the_first_are_counted():
    reply = await FallbackModel(ScriptedModel("no"), ScriptedModel(Need(need="tea"))).write(PROMPT, Need)
    alone = await ScriptedModel(Need(need="tea")).write(PROMPT, Need)
    assert reply.calls == 3
    assert reply.tokens.completion > alone.tokens.completion


async def test_when_both_fail_both_are_named():
    model = FallbackModel(ScriptedModel(AWAY), ScriptedModel(ModelOutputError("nonsense")))
    with pytest.raises(ModelOutputError, match="nonsense; before that, no key"):
        await model.write(PROMPT)
    with pytest.raises(ModelOutputError, match="nonsense; before that, no key"):
        _ = [piece async for piece in model.stream(PROMPT)]


async def test_a_stream_changes_over_before_its_first_piece():
    model = FallbackModel(ScriptedModel(AWAY), ScriptedModel("b c", name="two"))
    *pieces, last = [piece async for piece in model.stream(PROMPT)]
    assert (pieces, last.model) == (["b ", "c"], "two")


async def test_a_stream_that_broke_off_is_not_started_over():
    from personable.llm import make_model

    async with fake_server(says("Ada ", breaks=True)) as server:
        model = FallbackModel(make_model("server:x", url=server.url), ScriptedModel("b"))
        async with aclosing(model.stream(PROMPT)) as pieces:
            assert await anext(pieces) == "Ada "
            with pytest.raises(ModelError):
                await anext(pieces)


def test_what_leaves_for_one_of_them_leaves():
    local, remote = ScriptedModel("a"), ScriptedModel("b", remote=True, concurrency=1)
    assert FallbackModel(local, remote).remote
    assert not FallbackModel(local, local).remote
    assert FallbackModel(local, remote).concurrency == 1


def test_who_may_read_what_is_asked():
    here, there = ScriptedModel("a"), ScriptedModel("b", name="there", remote=True)
    far = ScriptedModel("c", remote=True)
    assert elsewhere(here) == set()
    assert elsewhere(there) == {"there"}
    assert elsewhere(FallbackModel(here, FallbackModel(there, far))) == {"there", "scripted"}


async def test_closing_closes_both():
    one, two = ScriptedModel("a"), ScriptedModel("b")
    await FallbackModel(one, two).close()
    assert one.closed
    assert two.closed
