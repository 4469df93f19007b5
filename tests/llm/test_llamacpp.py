"""llama.cpp in this process. The tests marked `model` need the small generator: `make models-test` assembles it."""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import aclosing
from pathlib import Path

import pytest

from personable.errors import ModelRefusedError
from personable.llm import LanguageModel, Prompt, make_model
from tests.contracts.model import PROMPT, Need

FOLDER = Path(__file__).parents[2] / "models"
SHARED = "Ada Lovelace was a mathematician. She wrote about the Analytical Engine of Charles Babbage. " * 20


@pytest.fixture
async def model() -> AsyncIterator[LanguageModel]:
    pytest.importorskip("xllamacpp")
    found = sorted(FOLDER.glob("qwen2.5-coder-*-instruct-q4_k_m.gguf"))  # the small one first, where both are there
    if not found:
        pytest.skip("no generator: python benchmarks/generator.py --into models")
    path = found[0]
    made = make_model(f"llamacpp:{path}", context=2048, max_tokens=64, timeout=600)
    yield made
    await made.close()


async def test_a_damaged_file_is_a_refusal_and_no_crash(tmp_path: Path):
    pytest.importorskip("xllamacpp")
    path = tmp_path / "x.gguf"
    path.write_bytes(b"GGUF\x03\x00\x00\x00" + os.urandom(5000))
    with pytest.raises(ModelRefusedError, match=r"cannot load .*x\.gguf"):
        await make_model(f"llamacpp:{path}").write(PROMPT)


@pytest.mark.model
@pytest.mark.timeout(900)
async def test_it_writes_and_says_how_many_tokens(model: LanguageModel):
    reply = await model.write(PROMPT)
    assert "tea" in reply.text.lower()
    assert reply.tokens.completion > 0
    assert reply.cost == 0.0
    assert (model.remote, model.concurrency) == (False, 1)


@pytest.mark.model
@pytest.mark.timeout(900)
async def test_a_shared_beginning_is_read_once(model: LanguageModel):
    first = await model.write(Prompt(system="Be brief.", shared=SHARED, task="Who was Ada?"), max_tokens=4)
    second = await model.write(Prompt(system="Be brief.", shared=SHARED, task="Who built it?"), max_tokens=4)
    assert second.tokens.cached > 0.9 * first.tokens.prompt


@pytest.mark.model
@pytest.mark.timeout(900)
async def test_typed_output_holds_the_form(model: LanguageModel):
    reply = await model.write(PROMPT.model_copy(update={"task": "What does Ada need?"}), Need)
    assert isinstance(reply.value, Need)
    assert not reply.repaired


@pytest.mark.model
@pytest.mark.timeout(900)
async def test_a_stream_is_heard_piece_by_piece(model: LanguageModel):
    *pieces, last = [piece async for piece in model.stream(PROMPT)]
    assert len(pieces) > 1
    assert "".join(pieces) == last.text


@pytest.mark.model
@pytest.mark.timeout(900)
async def test_a_stream_that_is_left_frees_the_model(model: LanguageModel):
    long = PROMPT.model_copy(update={"task": "Count from one to one thousand, one number a line."})
    async with aclosing(model.stream(long, max_tokens=1500)) as pieces:
        await anext(pieces)
    reply = await asyncio.wait_for(model.write(PROMPT, max_tokens=4), 120)
    assert reply.text


@pytest.mark.model
@pytest.mark.timeout(900)
async def test_a_prompt_beyond_the_context_is_refused(model: LanguageModel):
    with pytest.raises(ModelRefusedError, match="too long"):
        await model.write(Prompt(system="s", shared="one two " * 1200, task="t"))


@pytest.mark.model
@pytest.mark.timeout(900)
async def test_closed_it_lets_go_and_loads_again_when_asked(model: LanguageModel):
    await model.write(PROMPT, max_tokens=2)
    await model.close()
    assert (await model.write(PROMPT, max_tokens=2)).text


@pytest.mark.model
@pytest.mark.timeout(900)
async def test_its_server_wants_the_key(model: LanguageModel):
    from openai import AsyncOpenAI, AuthenticationError

    await model.write(PROMPT, max_tokens=2)
    client = AsyncOpenAI(base_url=f"{model._server.listening_address}/v1", api_key="guess", max_retries=0)
    with pytest.raises(AuthenticationError):
        await client.chat.completions.create(model="x", messages=[{"role": "user", "content": "hi"}])
    await client.close()
