"""Recordings: bit for bit, whole lines, no secrets, helpful when something was not recorded."""

import json
from pathlib import Path

import pytest

from personable.errors import DataError, ModelError, ModelOutputError
from personable.llm import Prompt, RecordedModel, RecordingModel, ScriptedModel, make_model
from personable.llm.tape import request
from tests.contracts.model import PROMPT, Need
from tests.llm.fake_server import fake_server, says

OTHER = PROMPT.model_copy(update={"task": "And Bob?"})


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "deep" / "tape.jsonl"


async def record(path: Path, text: str = "Tea.", prompt: Prompt = PROMPT) -> None:
    await RecordingModel(ScriptedModel(text), path).write(prompt)


async def test_a_reply_is_replayed_bit_for_bit(path: Path):
    reply = await RecordingModel(ScriptedModel("Tee, thé, 茶 🍵", delay=0.01), path).write(PROMPT)
    assert await RecordedModel(path, "scripted").write(PROMPT) == reply


async def test_a_typed_reply_is_replayed_with_its_value(path: Path):
    reply = await RecordingModel(ScriptedModel('{"need": "tea", "score": 0.1}'), path).write(PROMPT, Need)
    replayed = await RecordedModel(path, "scripted").write(PROMPT, Need)
    assert replayed.value == Need(need="tea", score=0.1)
    assert replayed.model_dump() == reply.model_dump()


async def test_a_stream_is_replayed_piece_by_piece(path: Path):
    heard = [piece async for piece in RecordingModel(ScriptedModel("Ada likes tea."), path).stream(PROMPT)]
    assert [piece async for piece in RecordedModel(path, "scripted").stream(PROMPT)] == heard


async def test_an_output_error_is_replayed_with_its_calls(path: Path):
    with pytest.raises(ModelOutputError) as recorded:
        await RecordingModel(ScriptedModel("no"), path).write(PROMPT, Need)
    with pytest.raises(ModelOutputError) as replayed:
        await RecordedModel(path, "scripted").write(PROMPT, Need)
    assert (str(replayed.value), replayed.value.calls) == (str(recorded.value), 2)


async def test_a_passing_failure_is_not_recorded(path: Path):
    with pytest.raises(ModelError):
        await RecordingModel(ScriptedModel(ModelError("away")), path).write(PROMPT)
    assert (await RecordingModel(ScriptedModel("Tea."), path).write(PROMPT)).text == "Tea."


async def test_what_is_recorded_is_not_asked_again(path: Path):
    await record(path)
    silent = ScriptedModel(ModelError("asked again"))
    assert (await RecordingModel(silent, path).write(PROMPT)).text == "Tea."


@pytest.mark.parametrize(
    "change",
    [
        {"model": "m2"},
        {"prompt": PROMPT.model_copy(update={"system": "x"})},
        {"prompt": PROMPT.model_copy(update={"shared": "x"})},
        {"prompt": OTHER},
        {"output": Need},
        {"max_tokens": 5},
        {"parameters": {"temperature": 1.0}},
    ],
)
def test_everything_that_an_answer_depends_on_changes_the_key(change: dict[str, object]):
    usual = {"model": "m", "prompt": PROMPT, "output": None, "max_tokens": None, "parameters": {}}
    assert request(**{**usual, **change}).key() != request(**usual).key()


def test_the_name_of_agent_and_prompt_file_do_not_change_the_key():
    renamed = PROMPT.model_copy(update={"agent": "b", "hash": "1"})
    assert request("m", renamed, None, None, {}).key() == request("m", PROMPT, None, None, {}).key()


def test_the_key_is_the_same_in_every_version():
    key = request("m", Prompt(system="s", shared="é", task="t"), None, 5, {"seed": 1}).key()
    assert key == "596655e33ad342ca5ad3dbc6c1db6ec98bfecbe6a66a50370a731f175f6cfdbd"


def test_a_model_file_may_move_to_another_folder():
    assert request("llamacpp:/a/x.gguf", PROMPT, None, None, {}) == request("llamacpp:b/x.gguf", PROMPT, None, None, {})


async def test_an_unrecorded_request_names_its_key_and_the_nearest_one(path: Path):
    await record(path)
    await record(path, prompt=Prompt(system="other", shared="other", task="other"))
    key = request("scripted", OTHER, None, None, {}).key()
    with pytest.raises(ModelError, match=key[:16]) as raised:
        await RecordedModel(path, "scripted").write(OTHER)
    assert "differs in task ('What does Ada like?', asked 'And Bob?')" in str(raised.value)


async def test_a_long_part_that_differs_is_shown_where_it_does(path: Path):
    await record(path, prompt=PROMPT.model_copy(update={"shared": "x" * 500 + "old"}))
    with pytest.raises(ModelError, match=r"shared from character 500 \('old', asked 'new'\)"):
        await RecordedModel(path, "scripted").write(PROMPT.model_copy(update={"shared": "x" * 500 + "new"}))


async def test_no_recording_is_said_with_its_path(path: Path):
    with pytest.raises(DataError, match=r"no recording at .*tape\.jsonl"):
        RecordedModel(path, "scripted")


async def test_a_torn_last_line_is_dropped_and_recording_goes_on(path: Path):
    await record(path)
    await record(path, "Milk.", OTHER)
    path.write_bytes(path.read_bytes()[:-20])
    await record(path, "Honey.", OTHER)
    model = RecordedModel(path, "scripted")
    assert [(await model.write(prompt)).text for prompt in (PROMPT, OTHER)] == ["Tea.", "Honey."]


async def test_a_damaged_line_is_named(path: Path):
    await record(path)
    path.write_bytes(path.read_bytes() + b"{}\n")
    with pytest.raises(DataError, match=r"tape\.jsonl, line 2"):
        RecordedModel(path, "scripted")


async def test_the_first_record_of_a_request_counts(path: Path):
    await record(path, "Tea.")
    line = json.loads(path.read_text())
    line["reply"]["text"] = "Milk."
    with path.open("a") as file:
        file.write(json.dumps(line) + "\n")
    assert (await RecordedModel(path, "scripted").write(PROMPT)).text == "Tea."


async def test_keys_and_addresses_are_not_recorded(path: Path):
    async with fake_server(says("Tea.")) as server:
        model = make_model("server:fake", url=server.url, key="sk-very-secret")
        await RecordingModel(model, path).write(PROMPT)
    assert "sk-very-secret" not in path.read_text()
    assert "127.0.0.1" not in path.read_text()


async def test_only_the_owner_can_read_a_recording(path: Path):
    await record(path)
    assert path.stat().st_mode & 0o077 == 0
