"""What calls took is added up, also of those that gave nothing of use."""

from __future__ import annotations

import pytest

from personable.errors import ModelOutputError
from personable.llm import ScriptedModel
from personable.llm.base import Reply, also, charged
from personable.llm.counted import Counted
from personable.types import Tokens
from tests.contracts.model import PROMPT, Need


async def test_every_call_counts() -> None:
    inner = ScriptedModel(["tea", '{"need": "tea"}', "no", "no"])
    counted = Counted(inner)
    spent = (await counted.write(PROMPT)).tokens + (await counted.write(PROMPT, Need)).tokens
    assert (counted.calls, counted.tokens) == (2, spent)
    with pytest.raises(ModelOutputError) as failed:
        await counted.write(PROMPT, Need)
    assert failed.value.tokens
    assert (counted.calls, counted.tokens) == (4, spent + failed.value.tokens)
    assert counted.tokens.completion > spent.completion


async def test_a_stream_counts_once_it_ends() -> None:
    counted = Counted(ScriptedModel("green tea"))
    *_, reply = [piece async for piece in counted.stream(PROMPT)]
    assert isinstance(reply, Reply)
    assert (counted.calls, counted.tokens) == (1, reply.tokens)


def test_a_price_that_is_not_known_leaves_the_sum_unknown() -> None:
    free, unknown = Reply[Need](text="", model="a", cost=0.0), Reply[Need](text="", model="b")
    priced = Reply[Need](text="", model="c", cost=0.5, tokens=Tokens(prompt=3, completion=1))
    assert also(priced, free).cost == 0.5
    assert also(priced, unknown).cost is None
    error = charged(ModelOutputError("no"), priced, priced)
    assert (error.calls, error.cost, error.tokens) == (2, 1.0, Tokens(prompt=6, completion=2))
