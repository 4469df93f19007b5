"""What a run was made with decides whether it is gone on with."""

from __future__ import annotations

from pathlib import Path

from personable.evaluation.made import answering, fingerprint, prompt_version
from personable.settings import Settings


def test_what_answers_depend_on_changes_the_fingerprint_and_nothing_else_does(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path)
    made = fingerprint(settings, "recommend", "a model")
    assert made == fingerprint(settings.model_copy(update={"home": tmp_path / "other"}), "recommend", "a model")
    assert made == fingerprint(
        settings.model_copy(update={"server_rate": 7, "model_parallel": 4}), "recommend", "a model"
    )
    others = [settings.model_copy(update=change) for change in ({"quote_words": 10}, {"model_context": 1024})]
    found = {fingerprint(one, "recommend", "a model") for one in others}
    found |= {fingerprint(settings, "certify", "a model"), fingerprint(settings, "recommend", "another")}
    assert len(found | {made}) == 5


def test_no_secret_and_no_path_is_kept_with_a_run(tmp_path: Path) -> None:
    kept = answering(Settings(home=tmp_path, model_key="secret-key"))
    assert "secret-key" not in str(kept)
    assert str(tmp_path) not in str(kept)
    assert kept["quote_words"] == 40


def test_prompts_of_several_folders_have_one_version() -> None:
    assert len({prompt_version("answer"), prompt_version("baselines"), prompt_version("answer", "baselines")}) == 3
