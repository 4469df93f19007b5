"""`personable person …`: what a person's whole life looks like on the command line, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from personable.cli import app
from personable.errors import PersonableError

pytestmark = pytest.mark.slow

LONG = "x" * 1_000_000


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("PERSONABLE_HOME", str(tmp_path / "home"))

    def call(*arguments: str, said: str = "") -> str:
        done = CliRunner().invoke(app, ["person", *arguments], input=said)
        if done.exception is not None and not isinstance(done.exception, SystemExit):
            raise done.exception
        assert done.exit_code == 0, done.output
        return done.stdout

    call("add", "ana", "--name", "Ana")
    return call


def test_a_statement_from_telling_to_undoing(run: Any) -> None:
    first = json.loads(run("tell", "ana", "I live in Rome", "--since", "1899-12-31", "--json"))
    assert first["valid_from"] == "1899-12-31T00:00:00Z"
    second = json.loads(run("tell", "ana", "-", "--json", said="I moved to Trento\n"))
    assert [one["text"] for one in json.loads(run("show", "ana", "--json"))["statements"]] == ["I moved to Trento"]
    assert "I moved to Trent" in run("edit", "ana", second["id"], "I moved to Trent", "--kind", "goal")
    assert json.loads(run("undo", "ana", second["id"], "--json")) == second
    ends = json.loads(run("edit", "ana", second["id"], "--until", "2099-01-31", "--json"))
    assert ends == second | {"valid_to": "2099-01-31T00:00:00Z"}
    assert json.loads(run("edit", "ana", second["id"], "--until", "open", "--json")) == second
    assert json.loads(run("reject", "ana", second["id"], "--json"))["state"] == "rejected"
    assert json.loads(run("confirm", "ana", second["id"], "--json"))["state"] == "confirmed"
    for _ in range(4):
        run("undo", "ana", second["id"])
    assert json.loads(run("undo", "ana", second["id"], "--json")) == {"id": second["id"], "forgotten": True}
    assert [one["id"] for one in json.loads(run("show", "ana", "--json"))["statements"]] == [first["id"]]


def test_what_a_new_statement_ends_is_said_shown_on_demand_and_brought_back(run: Any) -> None:
    old = json.loads(run("tell", "ana", "I live in Rome", "--sensitive", "--json"))
    said = run("tell", "ana", "I moved to Trento")
    assert f"ended: I live in Rome (personable person undo ana {old['id']} brings it back)" in said
    assert "Rome" not in run("show", "ana")
    line = next(line for line in run("show", "ana", "--all").splitlines() if "Rome" in line)
    assert "until 20" in line
    assert "sensitive)" in line
    run("undo", "ana", old["id"])
    assert "I live in Rome" in run("show", "ana")


def test_a_description_has_a_limit(run: Any, tmp_path: Path) -> None:
    (tmp_path / "me.txt").write_text("\n".join(f"I like number {n}." for n in range(201)), "utf-8")
    with pytest.raises(PersonableError, match="201 sentences are too many; write 1 to 200"):
        run("start", "ana", "--from", str(tmp_path / "me.txt"))
    assert json.loads(run("show", "ana", "--json"))["statements"] == []


def test_settings_and_events(run: Any) -> None:
    assert "dial on, learned off, sensitive statements may leave" in run(
        "set", "ana", "--dial", "on", "--learned", "off", "--share-sensitive"
    )
    kept = json.loads(run("set", "ana", "--keep-sensitive", "--json"))
    assert (kept["name"], kept["dial"], kept["learned"], kept["share_sensitive"]) == ("Ana", "on", "off", False)
    assert json.loads(run("events", "ana", "--json")) == []


def test_starting_asks_three_questions(run: Any) -> None:
    asked = run("start", "ana", said="I am vegetarian. I have a small budget.\n\nI like jazz\n")
    assert asked.count("?") == 3
    told = json.loads(run("show", "ana", "--json"))["statements"]
    assert [one["text"] for one in told] == ["I am vegetarian.", "I have a small budget.", "I like jazz"]


def test_starting_takes_a_description(run: Any, tmp_path: Path) -> None:
    (tmp_path / "me.txt").write_text(
        "I am 34 years old. I live in Trento, and I love dogs.\n\n- I cook 🍜\n- אני רצה\n", "utf-8"
    )
    told = json.loads(run("start", "ana", "--from", str(tmp_path / "me.txt"), "--json"))
    texts = ["I am 34 years old.", "I live in Trento, and I love dogs.", "I cook 🍜", "אני רצה"]
    assert [one["text"] for one in told] == texts


@pytest.mark.parametrize("format", ["json", "markdown", "ptkb"])
def test_what_was_exported_is_imported(run: Any, tmp_path: Path, format: str) -> None:
    run("tell", "ana", "I have gout")
    run("tell", "ana", "I like *tea*")
    printed = run("export", "ana", "--format", format)
    (tmp_path / "export").write_text(printed, "utf-8")
    run("erase", "ana", "--yes")
    if format != "json":
        run("add", "ana", "--name", "Ana")
    run("import", "ana", str(tmp_path / "export"))
    assert run("export", "ana", "--format", format) == printed
    assert "I like *tea*" in run("export", "ana", "--format", "ptkb")


@pytest.mark.parametrize(
    ("arguments", "said", "status", "says"),
    [
        (("tell", "bob", "I like tea"), "", 4, "no person 'bob'"),
        (("tell", "ana", " "), "", 2, "empty"),
        (("tell", "ana", "-"), LONG, 2, "at most 2,000"),
        (("tell", "ana", "bell \a"), "", 2, "U\\+0007"),
        (("tell", "ana", "I like tea", "--since", "soon"), "", 2, "write it like 2026-01-31"),
        (("tell", "ana", "I like tea", "--since", "2020-01-01", "--until", "1850-01-01"), "", 2, "before it ends"),
        (("tell", "ana", "I like tea", "--kind", "mood"), "", 2, "choose one of: fact"),
        (("start", "bob", "--from", "-"), "I like tea.", 4, "no person 'bob'"),
        (("start", "ana", "--from", "-"), " \n", 2, "nothing was said"),
        (("start", "ana", "--from", "-"), "I like tea. " + LONG, 2, "at most 2,000"),
        (("start", "ana", "--from", "/no/such/file"), "", 4, "/no/such/file cannot be read"),
        (("edit", "ana", "nothing", "I like tea"), "", 4, "no statement 'nothing'"),
        (("undo", "ana", "a/b'c\"d"), "", 4, "no statement"),
        (("set", "ana", "--dial", "loud"), "", 2, "off, auto, on"),
        (("set", "ana", "--learned", "loud"), "", 2, "ask, use, off"),
        (("export", "ana", "--format", "xml"), "", 2, "json, markdown, ptkb"),
        (("export", "bob", "--format", "ptkb"), "", 4, "no person 'bob'"),
        (("events", "o'b/../\"x"), "", 4, "no person"),
        (("import", "ana", "-"), "", 4, "no statement was found"),
        (("import", "ana", "-"), '{"ptkb": ', 4, "is not JSON"),
        (("import", "ana", "-"), "[" * 100_000, 4, "is not JSON"),
        (("import", "ana", "-"), '{"ptkb": {"1": "I like tea", "2": ""}}', 2, "empty"),
        (("import", "ana", "-"), '{"format": 2, "person": {"id": "eve"}}', 2, "not the export of 'ana'"),
        (("import", "ana", "-"), "- I like tea\n- bell \a\n", 2, "U\\+0007"),
        (("import", "bob", "-"), "- I like tea\n", 4, "no person 'bob'"),
    ],
)
def test_bad_input_is_a_clear_error_and_changes_nothing(
    run: Any, arguments: tuple[str, ...], said: str, status: int, says: str
) -> None:
    before = run("export", "ana")
    with pytest.raises(PersonableError, match=says) as caught:
        run(*arguments, said=said)
    assert caught.value.exit_status == status
    assert run("export", "ana") == before
    assert [one["id"] for one in json.loads(run("list", "--json"))] == ["ana"]


def test_a_file_that_is_not_text_is_refused(run: Any, tmp_path: Path) -> None:
    (tmp_path / "bad").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(PersonableError, match="not UTF-8 text"):
        run("import", "ana", str(tmp_path / "bad"))
