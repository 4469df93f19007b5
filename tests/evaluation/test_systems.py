from pathlib import Path

import pytest

from personable.errors import ModelError, ModelRefusedError, ModelTimeoutError
from personable.evaluation.baselines import BASELINES
from personable.evaluation.datasets import Row, read_openqa
from personable.evaluation.outcome import Outcome
from personable.evaluation.systems import SYSTEMS
from personable.kit import Kit
from personable.llm.scripted import ScriptedModel
from personable.settings import Settings
from personable.types import Passage

SAMPLE = Path(__file__).parent.parent / "data" / "openqa"
ROW = Row(
    id="q", question="Who sang it?", answers=("SECRET",), passages=(Passage(id="q/1", text="Neil Young sang it."),)
)


def test_answer_is_a_system_beside_the_baselines() -> None:
    assert set(SYSTEMS) == {"answer", *BASELINES}


async def test_answer_quotes_the_rows_own_passages_without_marks(tmp_path: Path) -> None:
    row = read_openqa(SAMPLE, "nq")[0]
    outcome = await SYSTEMS["answer"](row, Kit(Settings(home=tmp_path)))
    assert "Neil Young" in outcome.answer
    assert "[1]" not in outcome.answer
    assert outcome.passages == row.passages
    assert (outcome.calls, outcome.steps) == (0, 0)


async def test_answer_takes_at_most_three_steps_and_never_sees_the_gold_answer(tmp_path: Path) -> None:
    model = ScriptedModel(lambda prompt, output: "Neil Young sang it [1]." if output is None else {})
    outcome: Outcome = await SYSTEMS["answer"](ROW, Kit(Settings(home=tmp_path), model=model, agents_model=model))
    assert outcome.answer == "Neil Young sang it."
    assert 1 <= outcome.steps <= 3 <= outcome.calls
    assert isinstance(outcome.board, dict)
    assert all("SECRET" not in prompt.shared + prompt.task for prompt in model.prompts)


@pytest.mark.parametrize("error", [ModelTimeoutError("too slow"), ModelRefusedError("no key")])
async def test_where_the_model_fails_nothing_is_quoted_in_its_name(tmp_path: Path, error: ModelError) -> None:
    model = ScriptedModel(lambda prompt, output: error if output is None else {})
    kit = Kit(Settings(home=tmp_path), model=model, agents_model=model)
    if isinstance(error, ModelRefusedError):
        with pytest.raises(ModelRefusedError):
            await SYSTEMS["answer"](ROW, kit)
        return
    outcome = await SYSTEMS["answer"](ROW, kit)
    assert outcome.error == "ModelTimeoutError: too slow"
    assert outcome.answer == ""
    assert outcome.calls >= 3, "the agents' calls before were paid for"
    assert outcome.tokens.completion > 0
