from pathlib import Path

import pytest

from personable.errors import ConfigurationError
from personable.settings import load_settings


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PERSONABLE_HOME", str(tmp_path))
    return tmp_path


def test_arguments_beat_environment_beats_file_beats_defaults(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert load_settings().passages == 5
    (home / "settings.toml").write_text("passages = 6\ncandidates = 60\n", encoding="utf-8")
    assert load_settings().passages == 6
    monkeypatch.setenv("PERSONABLE_PASSAGES", "7")
    assert (load_settings().passages, load_settings().candidates) == (7, 60)
    assert load_settings(passages=8).passages == 8


def test_the_home_comes_from_the_environment(home: Path) -> None:
    assert load_settings().home == home


def test_a_misspelt_setting_in_the_file_is_named(home: Path) -> None:
    (home / "settings.toml").write_text("pasages = 6\n", encoding="utf-8")
    with pytest.raises(ConfigurationError, match="pasages"):
        load_settings()


def test_a_misspelt_variable_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PERSONABLE_PASAGES", "6")
    with pytest.raises(ConfigurationError, match="PERSONABLE_PASAGES"):
        load_settings()


def test_a_value_out_of_bounds_is_named_with_where_to_look(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PERSONABLE_PASSAGES", "0")
    with pytest.raises(ConfigurationError, match=r"'passages'.*PERSONABLE_PASSAGES"):
        load_settings()


def test_a_file_that_is_no_toml_is_named(home: Path) -> None:
    (home / "settings.toml").write_text("passages = = 6", encoding="utf-8")
    with pytest.raises(ConfigurationError, match=r"settings\.toml"):
        load_settings()


def test_settings_that_cannot_be_read_are_named(home: Path) -> None:
    (home / "settings.toml").symlink_to("/proc/self/mem")
    with pytest.raises(ConfigurationError, match=r"settings\.toml cannot be read"):
        load_settings()


def test_a_key_never_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PERSONABLE_MODEL_KEY", "sk-secret")
    assert "sk-secret" not in repr(load_settings()) + load_settings().model_dump_json()
