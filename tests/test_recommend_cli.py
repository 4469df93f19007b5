"""The commands around catalogues, from a file of items to recommendations."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from personable.cli import app
from personable.errors import DataError, PersonableError, UsageError

pytestmark = pytest.mark.slow


def invoke(home: Path, *arguments: str) -> str:
    """What the command prints; errors meant for the user are raised."""
    done = CliRunner().invoke(app, [*arguments, "--home", str(home)])
    if isinstance(done.exception, PersonableError):
        raise done.exception
    assert done.exit_code == 0, done.output
    return done.stdout


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PERSONABLE_EMBEDDER", "hash:64")
    titles = ("red ink", "blue ink", "black ink", "oak desk", "oak chair", "wall clock")
    lines = [json.dumps({"id": str(n), "title": title, "price": f"${n + 1}.50"}) for n, title in enumerate(titles)]
    path = tmp_path / "items.jsonl"
    path.write_text("\n".join([*lines, '{"id": "0", "title": "double"}']), encoding="utf-8")
    report = json.loads(invoke(tmp_path, "index", str(path), "--items", "--into", "shop", "--json"))
    assert report["added"] == 6
    assert "used before" in report["failed"][0]["error"]
    invoke(tmp_path, "person", "add", "ana")
    return tmp_path


def test_from_deeds_to_recommendations(home: Path) -> None:
    assert json.loads(invoke(home, "did", "ana", "click", "0", "--json")) == {"recorded": 1}
    shown = invoke(home, "recommend", "--person", "ana", "--from", "shop", "-k", "2")
    assert "1. " in shown
    assert "because you looked at red ink" in shown
    found = json.loads(invoke(home, "recommend", "--person", "ana", "-k", "2", "--max-price", "3", "--json", "--trace"))
    assert [one["item"] for one in found["items"]] == ["1"]
    assert found["items"][0]["price"] == 2.5
    assert [post["content"]["kind"] for post in found["board"]][:3] == ["wish", "deeds", "candidates"]
    again = json.loads(invoke(home, "recommend", "--person", "ana", "-k", "6", "--again", "--json"))
    assert "0" in [one["item"] for one in again["items"]]


def test_a_wish_in_words_and_its_trace(home: Path) -> None:
    shown = invoke(home, "recommend", "a chair of oak", "-k", "1", "--trace")
    assert "oak chair" in shown
    assert "you asked for: a chair of oak" in shown
    assert "retriever candidates" in shown


def test_nothing_fits(home: Path) -> None:
    assert "nothing in the catalogue fits" in invoke(home, "recommend", "--category", "Garden")


def test_what_makes_no_sense_is_refused(home: Path) -> None:
    with pytest.raises(UsageError, match="nothing that one does"):
        invoke(home, "did", "ana", "eat", "0")
    with pytest.raises(DataError, match="weights need"):
        invoke(home, "tune")


def test_a_collection_of_documents_is_no_catalogue(home: Path) -> None:
    (home / "a.md").write_text("Some text about ink.", encoding="utf-8")
    invoke(home, "index", str(home / "a.md"), "--into", "docs")
    with pytest.raises(DataError, match="no item of a catalogue"):
        invoke(home, "recommend", "--from", "docs")
