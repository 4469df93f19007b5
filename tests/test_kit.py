"""Wiring: which parts a kit shares, and what becomes of them when opening it fails."""

import os
from pathlib import Path

import pytest

from personable.errors import NotFoundError
from personable.kit import open_kit, open_people
from personable.llm.fallback import FallbackModel
from personable.settings import Settings, load_settings


@pytest.fixture
def gguf(tmp_path: Path) -> Path:
    pytest.importorskip("xllamacpp")
    (tmp_path / "model.gguf").write_bytes(b"GGUF")
    return tmp_path / "model.gguf"


async def test_a_model_file_that_two_roles_name_is_one_model(tmp_path: Path, gguf: Path) -> None:
    other = os.path.relpath(gguf)
    settings = Settings(home=tmp_path, embedder="hash:64", model=f"llamacpp:{gguf}", agents_model=f"llamacpp:{other}")
    async with await open_kit(settings, people=False) as kit:
        assert kit.model is not None
        assert kit.agents_model is kit.model


async def test_a_fallback_is_the_same_model_where_another_role_names_it(tmp_path: Path, gguf: Path) -> None:
    settings = Settings(
        home=tmp_path,
        embedder="hash:64",
        model="server:main",
        model_url="http://127.0.0.1:1/v1",
        agents_model=f"llamacpp:{gguf}",
        fallback_model=f"llamacpp:{gguf}",
    )
    async with await open_kit(settings, people=False) as kit:
        assert isinstance(kit.model, FallbackModel)
        assert kit.model.second is kit.agents_model


async def test_a_kit_that_cannot_be_opened_raises_and_leaves_nothing_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed = []

    async def close(kit: object) -> None:
        closed.append(kit)

    monkeypatch.setattr("personable.kit.Kit.close", close)
    with pytest.raises(NotFoundError, match="nowhere"):
        await open_kit(Settings(home=tmp_path, embedder="hash:64"), "nowhere")
    assert len(closed) == 1


async def test_people_are_kept_where_the_settings_say(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    elsewhere = tmp_path / "elsewhere" / "them.db"
    monkeypatch.setenv("PERSONABLE_PEOPLE_URL", f"sqlite:///{elsewhere}")
    async with await open_people(load_settings(home=tmp_path / "home")) as people:
        await people.add("ana")
    assert elsewhere.is_file()
    assert not (tmp_path / "home" / "people.db").exists()
    assert "them.db" not in repr(load_settings(home=tmp_path / "home")), "an address may hold a password"
