"""`personable index --certified` and `personable certify`, as a user runs them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from personable.cli import app
from personable.demo import certified
from personable.errors import DataError, UsageError

pytestmark = pytest.mark.slow

RUN = CliRunner()


@pytest.fixture
def home(tmp_path: Path) -> Path:
    done = RUN.invoke(
        app,
        [
            "index",
            str(certified()),
            "--certified",
            "--into",
            "cards",
            "--embedder",
            "hash:256",
            "--home",
            str(tmp_path),
        ],
    )
    assert done.exit_code == 0, done.output
    assert "49 added" in done.output
    return tmp_path


def test_a_certified_answer_shows_its_sources_with_what_was_approved(home: Path) -> None:
    done = RUN.invoke(app, ["certify", "What is Appendicitis?", "--in", "cards", "--home", str(home)])
    assert done.exit_code == 0, done.output
    assert done.output.startswith("You asked about Appendicitis.")
    assert "version MedQuAD 2019, approved 2019-10-22" in done.output
    assert "sha256" in done.output


def test_a_certified_collection_takes_nothing_else(home: Path) -> None:
    (home / "a.md").write_text("Not approved.", encoding="utf-8")
    (home / "a.jsonl").write_text('{"id": "1", "title": "Cup"}', encoding="utf-8")
    for path, kind in (("a.md", []), ("a.jsonl", ["--items"])):
        into = ["--into", "cards", "--embedder", "hash:256", "--home", str(home)]
        done = RUN.invoke(app, ["index", str(home / path), *kind, *into])
        assert isinstance(done.exception, DataError)
        assert "of their own" in str(done.exception)


def test_an_empty_publisher_leaves_no_comma(tmp_path: Path) -> None:
    (tmp_path / "gout.md").write_text("# Gout\n\nGout is a form of arthritis.\n", encoding="utf-8")
    (tmp_path / "m.toml").write_text(
        'name = "n"\napprover = "Dr Example"\nmedical = false\n'
        '[[documents]]\npath = "gout.md"\nversion = "1"\napproved = 2026-01-15\n',
        encoding="utf-8",
    )
    made = ["index", str(tmp_path / "m.toml"), "--certified", "--into", "c", "--embedder", "hash:64"]
    assert RUN.invoke(app, [*made, "--home", str(tmp_path / "h")]).exit_code == 0
    done = RUN.invoke(app, ["certify", "What is gout?", "--home", str(tmp_path / "h")])
    assert "\n    version 1, approved 2026-01-15 by Dr Example; sha256" in done.output


def test_json_holds_the_certification_and_the_board(home: Path) -> None:
    given = [
        "certify",
        "What is Appendicitis?",
        "--in",
        "cards",
        "--home",
        str(home),
        "--json",
        "--trace",
        "--method",
        "cot",
    ]
    found = json.loads(RUN.invoke(app, given).output)
    assert found["certification"]["method"] == "cot"
    assert found["answer"]["text"].startswith("You asked about Appendicitis.")
    assert {"hydoc", "pragmatics", "certified", "guard"} <= {post["content"]["kind"] for post in found["board"]}


@pytest.mark.parametrize("json_too", [[], ["--json"]])
@pytest.mark.parametrize("broken", ["altered original", "unknown person", "damaged words"])
def test_no_fault_hides_an_emergency_text(home: Path, broken: str, json_too: list[str]) -> None:
    asked = "I have chest pain. What is Appendicitis?"
    given = ["certify", asked, "--in", "cards", "--home", str(home), *json_too]
    folder = home / "collections/cards"
    if broken == "altered original":
        for stored in (folder / "originals").iterdir():
            stored.write_bytes(stored.read_bytes().replace(b"ppendi", b"ppenda"))
    elif broken == "unknown person":
        given += ["--person", "nobody"]
    else:
        (folder / "words.json").write_text("{", encoding="utf-8")
    done = RUN.invoke(app, given)
    assert done.exit_code == 0, done.exception
    text = "This may be an emergency. Call your local emergency number now."
    if json_too:
        found = json.loads(done.output)
        assert found["answer"]["text"] == found["certification"]["emergency"] == text
        assert len(found["answer"]["degraded"]) == 1
    else:
        assert done.output.startswith(text)
        assert done.output.count(text) == 1
        assert "note: answer: " in done.output
    calm = RUN.invoke(app, ["certify", "What is Appendicitis?", *given[2:]])
    assert isinstance(calm.exception, DataError), "without an emergency the fault is an error"


@pytest.mark.parametrize(
    ("given", "error"),
    [
        (["certify", "x", "--method", "magic"], UsageError),
        (["certify", "  "], UsageError),
        (["index", "a.toml", "b.toml", "--certified"], UsageError),
    ],
)
def test_wrong_use_is_named(tmp_path: Path, given: list[str], error: type[Exception]) -> None:
    assert isinstance(RUN.invoke(app, [*given, "--home", str(tmp_path)]).exception, error)


def test_a_collection_that_is_not_certified_is_refused(tmp_path: Path) -> None:
    (tmp_path / "note.md").write_text("Some note.", encoding="utf-8")
    made = ["index", str(tmp_path / "note.md"), "--embedder", "hash:64", "--home", str(tmp_path / "h")]
    assert RUN.invoke(app, made).exit_code == 0
    done = RUN.invoke(app, ["certify", "What is a note?", "--home", str(tmp_path / "h")])
    assert isinstance(done.exception, DataError)
    assert "is not certified" in str(done.exception)
