"""The scripted model says what it was told to, to whom it was told to."""

import asyncio

import pytest

from personable.errors import ModelError, ModelOutputError, ModelTimeoutError
from personable.llm import Prompt, ScriptedModel
from tests.contracts.model import PROMPT, Need


def asked(agent: str) -> Prompt:
    return PROMPT.model_copy(update={"agent": agent})


async def test_lines_are_said_one_a_call_and_then_it_fails():
    model = ScriptedModel(["one", "two"])
    assert [(await model.write(PROMPT)).text for _ in range(2)] == ["one", "two"]
    with pytest.raises(ModelError, match="has 2 lines"):
        await model.write(PROMPT)


async def test_a_line_is_found_by_agent_then_by_output_then_the_rest():
    model = ScriptedModel({"profile": "by agent", "Need": {"need": "by output"}, "": "the rest"})
    assert (await model.write(asked("profile"))).text == "by agent"
    assert (await model.write(asked("other"), Need)).value == Need(need="by output")
    assert (await model.write(asked("other"))).text == "the rest"


async def test_an_agent_without_a_line_is_an_error_that_names_it():
    with pytest.raises(ModelError, match="no line for 'digest'; it has 'profile'"):
        await ScriptedModel({"profile": "x"}).write(asked("digest"))


async def test_a_value_is_sent_as_json_and_read_back():
    assert (await ScriptedModel(Need(need="tea")).write(PROMPT, Need)).value == Need(need="tea")


async def test_a_function_sees_prompt_and_output():
    model = ScriptedModel(lambda prompt, output: f'{{"need": "{prompt.agent} {output.__name__}"}}')
    assert (await model.write(asked("x"), Need)).value == Need(need="x Need")


async def test_prompts_are_kept_with_those_of_repairs():
    model = ScriptedModel(["no", '{"need": "tea"}'])
    await model.write(PROMPT, Need)
    assert model.prompts[0] == PROMPT
    assert model.prompts[1].shared == PROMPT.shared
    assert "need: " in model.prompts[1].task or "no JSON" in model.prompts[1].task


async def test_an_error_in_the_script_is_raised():
    with pytest.raises(ModelOutputError, match="scripted failure"):
        await ScriptedModel(ModelOutputError("scripted failure")).write(PROMPT)


async def test_a_delay_beyond_the_time_limit_is_a_time_out():
    with pytest.raises(ModelTimeoutError):
        await ScriptedModel("late", delay=5, timeout=0.01).write(PROMPT)


async def test_max_tokens_cuts_the_line():
    reply = await ScriptedModel("tea " * 100).write(PROMPT, max_tokens=3)
    assert (len(reply.text), reply.cut) == (12, "length")


async def test_delays_run_side_by_side_up_to_the_concurrency():
    model, loop = ScriptedModel("x", delay=0.2, concurrency=2), asyncio.get_running_loop()
    began = loop.time()
    await asyncio.gather(*(model.write(PROMPT) for _ in range(4)))
    assert loop.time() - began >= 0.4
