from pathlib import Path

import pytest
from pydantic import BaseModel

from personable.errors import DataError, UsageError
from personable.evaluation.baselines import BASELINES
from personable.evaluation.commands import Questions, evaluate
from personable.evaluation.recording import open_recording
from personable.evaluation.runfile import comparable
from personable.kit import Kit
from personable.llm.base import LanguageModel, Prompt
from personable.llm.scripted import ScriptedModel
from personable.settings import Settings

SAMPLE = Path(__file__).parent.parent / "data" / "openqa"
QUESTIONS = Questions(dataset="nq", limit=3)


def settings(home: Path, **more: str) -> Settings:
    return Settings(home=home, embedder="hash:16", model="server:one", **more)  # type: ignore[arg-type]


async def run(kit: Kit, out: Path, system: str = "guideline") -> list[dict[str, object]]:
    async with kit:
        await evaluate(
            QUESTIONS, {system: BASELINES[system]}, kit, data=SAMPLE, out=out, model="server:one", settings={}
        )
    return comparable(out / QUESTIONS.folder / system)


async def test_a_recorded_run_is_replayed_bit_for_bit_without_its_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Prompt] = []

    def script(prompt: Prompt, output: type[BaseModel] | None) -> str:
        asked.append(prompt)
        return f"[1] answer {len(asked)}"

    def made(*_: object, **__: object) -> LanguageModel:
        return ScriptedModel(script, name="server:one")

    tape = tmp_path / "tape.jsonl"
    with monkeypatch.context() as patched:
        patched.setattr("personable.kit.open_model", made)
        first = await run(await open_recording(settings(tmp_path), record=tape), tmp_path / "first")
    spoken = len(asked)
    again = await run(await open_recording(settings(tmp_path), replay=tape), tmp_path / "again")
    assert spoken >= 3
    assert len(asked) == spoken
    assert again == first
    assert {record["outcome"]["answer"] for record in again} != {""}  # type: ignore[index]


async def test_a_request_that_was_not_recorded_fails_and_is_named(tmp_path: Path) -> None:
    (tmp_path / "tape.jsonl").touch()
    found = await run(await open_recording(settings(tmp_path), replay=tmp_path / "tape.jsonl"), tmp_path / "out")
    assert [str(record["outcome"]["error"])[:10] for record in found] == ["ModelError"] * 3  # type: ignore[index]
    assert "holds no answer to request" in str(found[0]["outcome"])


async def test_what_cannot_be_recorded_or_replayed_is_refused(tmp_path: Path) -> None:
    tape = tmp_path / "tape.jsonl"
    with pytest.raises(UsageError, match="not both"):
        await open_recording(settings(tmp_path), tape, tape)
    with pytest.raises(UsageError, match="quote asks no model"):
        await open_recording(Settings(home=tmp_path, embedder="hash:16"), record=tape)
    with pytest.raises(DataError, match="no recording"):
        await open_recording(settings(tmp_path), replay=tape)
