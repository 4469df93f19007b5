import asyncio
import json
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from personable.cli import app
from personable.errors import ConfigurationError, NotFoundError, UsageError
from personable.people.store import People

pytestmark = pytest.mark.slow

ENGINE = ("--embedder", "hash:256")
DEAD = ("--model", "server:dead", "--model-url", "http://127.0.0.1:9/v1")


def personable(
    *arguments: str, home: Path, stdin: str | None = None, **environment: str
) -> subprocess.CompletedProcess[str]:
    import os

    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PERSONABLE_", "OPENAI_"))}
    return subprocess.run(
        [sys.executable, "-c", "from personable.cli import main; main()", *arguments],
        capture_output=True,
        text=True,
        encoding="utf-8",
        input=stdin,
        env=kept | {"PERSONABLE_HOME": str(home), "COLUMNS": "100"} | environment,
        timeout=280,
        check=False,
    )


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    base = tmp_path_factory.mktemp("home")
    documents = base / "my documents 📚"
    documents.mkdir()
    (documents / "gout.md").write_text("# Gout\n\nGout is caused by uric acid crystals.\n", encoding="utf-8")
    (documents / "sleep.txt").write_text("A dark and quiet room helps against poor sleep.\n", encoding="utf-8")
    done = personable("index", str(documents), *ENGINE, "--json", home=base)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["added"] == 2
    return base


def test_ask_prints_the_answer_as_json(home: Path) -> None:
    done = personable("ask", "What causes gout?", *ENGINE, "--json", home=home)
    answer = json.loads(done.stdout)
    assert done.returncode == 0
    assert answer["text"].startswith("Gout is caused by uric acid crystals [1]")
    first = answer["citations"][0]
    assert set(first) >= {"number", "passage_id", "source", "start", "end"}
    assert first["number"] == 1
    assert first["source"].endswith("gout.md")


@pytest.mark.slow
def test_ask_reads_standard_input_and_shows_citations_and_trace(home: Path) -> None:
    done = personable("ask", "-", *ENGINE, "--trace", home=home, stdin="What causes gout?\n")
    assert "[1]" in done.stdout
    assert "gate" in done.stdout
    assert "document ranking" in done.stdout


@pytest.mark.slow
def test_json_with_trace_holds_the_board(home: Path) -> None:
    done = personable("ask", "What causes gout?", *ENGINE, "--json", "--trace", home=home)
    kinds = [post["content"]["kind"] for post in json.loads(done.stdout)["board"]]
    assert kinds[0] == "question"
    assert kinds[-1] == "answer"


@pytest.mark.slow
def test_a_person_from_add_to_forget(home: Path) -> None:
    assert personable("person", "add", "ana", "--name", "Ana", home=home).returncode == 0
    told = personable("person", "tell", "ana", "I have gout", "--json", home=home)
    statement = json.loads(told.stdout)
    shown = json.loads(personable("person", "show", "ana", "--json", home=home).stdout)
    assert [one["text"] for one in shown["statements"]] == ["I have gout"]
    asked = personable("ask", "What should I know?", "--person", "ana", *ENGINE, "--json", home=home)
    assert [used["text"] for used in json.loads(asked.stdout)["used"]] == ["I have gout"]
    assert personable("person", "forget", "ana", statement["id"], home=home).returncode == 0
    shown = json.loads(personable("person", "show", "ana", "--json", home=home).stdout)
    assert shown["statements"] == []


@pytest.mark.slow
def test_compare_shows_both_answers(home: Path) -> None:
    personable("person", "add", "carl", home=home)
    done = personable("ask", "What causes gout?", "--person", "carl", "--compare", *ENGINE, "--json", home=home)
    both = json.loads(done.stdout)
    assert set(both) == {"plain", "personal"}
    assert "plain" in personable("ask", "Why gout?", "--person", "carl", "--compare", *ENGINE, home=home).stdout


@pytest.mark.slow
def test_chat_keeps_a_session(home: Path) -> None:
    personable("person", "add", "dora", home=home)
    done = personable(
        "chat", "--person", "dora", *ENGINE, home=home, stdin="What is gout?\nWhat causes it?\n/trace\n/quit\n"
    )
    assert done.returncode == 0, done.stderr
    assert "What causes it? (gout)" in done.stdout


@pytest.mark.slow
def test_a_conversation_is_commanded_survives_faults_and_is_taken_up_again(home: Path) -> None:
    personable("person", "add", "emil", home=home)
    lines = [
        "/why",
        "I have gout. What causes it?",
        "/why",
        "/forget 1",
        "/statements",
        "/confirm 9",
        "/confirm 1",
        "x" * 20_001,
        "/nonsense",
        "/history",
        "/statements",
        "/forget 1",
        "/trace",
        "/statements",
    ]
    done = personable("chat", "--person", "emil", "--session", "mon", *ENGINE, home=home, stdin="\n".join(lines) + "\n")
    assert done.returncode == 0, done.stderr
    said = done.stdout
    assert said.count("nothing was said yet") == 2  # before the first utterance, and after forgetting
    assert "/forget N: N is a number that /statements shows" in said
    assert "heard: I have gout." in said
    assert "1. I have gout. (proposed)" in said
    assert "confirmed: I have gout." in said
    assert "forgotten: I have gout." in said
    assert said.rstrip().endswith("to go on: personable chat --person emil --session mon")
    assert "nothing is known about you" in said
    assert "20000 characters" in done.stderr
    again = personable("chat", "--person", "emil", "--session", "mon", *ENGINE, home=home, stdin="")
    assert "[forgotten]" in again.stdout
    assert "What causes it?" in again.stdout


@pytest.mark.slow
def test_a_conversation_as_lines_of_json_and_a_strangers(home: Path) -> None:
    personable("person", "add", "fay", home=home)
    done = personable("chat", "--person", "fay", "--json", *ENGINE, home=home, stdin="What is gout?\nWhat causes it?\n")
    first, second = map(json.loads, done.stdout.splitlines())
    assert first["session"] == second["session"] != ""
    assert second["found"] is True
    stranger = personable("chat", "--json", *ENGINE, home=home, stdin="What is gout?\nWhat causes it?\n")
    assert [json.loads(line)["session"] for line in stranger.stdout.splitlines()] == [None, None]
    refused = personable("chat", "--session", "mon", *ENGINE, home=home, stdin="")
    assert refused.returncode == 2


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "status", "says"),
    [
        (("ask", " ", *ENGINE), 2, "empty"),
        (("ask", "q", "--dial", "loud", *ENGINE), 2, "off, auto or on"),
        (("ask", "What causes gout?", "--strict", *DEAD, *ENGINE), 5, "127.0.0.1:9"),
        (("ask", "q", "--in", "nowhere", *ENGINE), 4, "nowhere"),
        (("ask", "q", "--in", "../etc", *ENGINE), 2, "../etc"),
        (("ask", "q", "--person", "nobody", *ENGINE), 4, "nobody"),
        (("ask", "q", "--embedder", "hash:64"), 3, "hash:256"),
        (("ask", "q", "--embedder", "nonsense"), 3, "nonsense"),
        (("ask", "q", "--model", "openai:gpt-5-mini", *ENGINE), 3, "OPENAI_API_KEY"),
        (("ask", "q", "--model", "llamacpp:/nowhere.gguf", *ENGINE), 3, "nowhere.gguf"),
        (("index", "/nowhere/at/all", *ENGINE), 4, "/nowhere/at/all"),
        (("person", "show", "nobody"), 4, "nobody"),
        (("person", "tell", "nobody", "x"), 4, "nobody"),
        (("person", "add", "a\x01b"), 2, "control"),
        (("unknown-command",), 2, "unknown-command"),
    ],
)
def test_what_goes_wrong_is_one_line_and_a_status(
    home: Path, arguments: tuple[str, ...], status: int, says: str
) -> None:
    done = personable(*arguments, home=home)
    assert (done.returncode, done.stdout) == (status, "")
    assert says in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.slow
def test_an_empty_home_says_what_to_do(tmp_path: Path) -> None:
    done = personable("ask", "q", home=tmp_path)
    assert done.returncode == 4
    assert "personable index" in done.stderr


@pytest.mark.parametrize("unusable", ["/proc/nowhere", "/etc/passwd"])
@pytest.mark.parametrize(
    "command", ["ask q", "chat", "index .", "collections", "person list", "person add ana", "demo", "eval nq"]
)
def test_a_home_that_cannot_be_used_is_named_by_every_command(command: str, unusable: str) -> None:
    with pytest.raises(ConfigurationError, match=rf"{unusable} cannot be used: .*--home"):
        app([*command.split(), "--home", unusable], standalone_mode=False)


@pytest.mark.slow
def test_a_home_that_cannot_be_used_is_an_error_of_configuration(tmp_path: Path) -> None:
    done = personable("person", "list", "--home", "/proc/nowhere", home=tmp_path)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (3, "", 1)


@pytest.mark.slow
def test_doctor_reports_a_home_that_cannot_be_used(tmp_path: Path) -> None:
    done = personable("doctor", "--home", "/etc/passwd", "--embedder", "hash:256", "--json", home=tmp_path)
    assert done.returncode == 3
    failed = {row["part"]: row["says"] for row in json.loads(done.stdout) if row["state"] == "failed"}
    assert list(failed) == ["home", "collections", "people"]
    assert all("/etc/passwd" in said for said in failed.values())


@pytest.mark.slow
def test_only_its_owner_may_enter_a_home_that_is_made(tmp_path: Path) -> None:
    (tmp_path / "note.txt").write_text("A note.", encoding="utf-8")
    for name, arguments in (("a", ("person", "list")), ("b", ("index", str(tmp_path / "note.txt"), *ENGINE))):
        assert personable(*arguments, home=tmp_path / name).returncode == 0
        assert stat.S_IMODE((tmp_path / name).stat().st_mode) == 0o700


@pytest.mark.slow
def test_a_terminal_without_unicode_gets_everything_else(tmp_path: Path) -> None:
    (tmp_path / "café.md").write_text("# Café ☕\n\nThe café opens at seven o’clock — daily.\n", encoding="utf-8")
    assert personable("index", str(tmp_path / "café.md"), *ENGINE, home=tmp_path / "home").returncode == 0
    ask = ("ask", "When does the café open?", *ENGINE)
    shown = personable(*ask, "--trace", home=tmp_path / "home", PYTHONIOENCODING="ascii")
    assert (shown.returncode, shown.stderr) == (0, "")
    assert "The caf? opens at seven o?clock ? daily" in shown.stdout
    assert "answer " in shown.stdout.splitlines()[-1]
    dumped = personable(*ask, "--json", home=tmp_path / "home", PYTHONIOENCODING="ascii")
    assert json.loads(dumped.stdout)["text"].startswith("The café opens at seven o’clock — daily")


@pytest.mark.slow
def test_an_unknown_setting_in_the_environment_is_named(home: Path) -> None:
    done = personable("ask", "q", home=home, PERSONABLE_MODLE="x")
    assert (done.returncode, "PERSONABLE_MODLE" in done.stderr) == (3, True)


@pytest.mark.slow
def test_a_failing_file_is_reported_and_the_rest_is_indexed(tmp_path: Path) -> None:
    (tmp_path / "good.txt").write_text("Something worth reading.", encoding="utf-8")
    (tmp_path / "bad.txt").write_bytes(b"\x00\x01\x02" * 500)
    done = personable("index", str(tmp_path / "good.txt"), str(tmp_path / "bad.txt"), *ENGINE, home=tmp_path / "home")
    assert done.returncode == 0
    assert "1 added" in done.stdout
    assert "bad.txt" in done.stderr


@pytest.mark.slow
def test_doctor_tries_each_part(home: Path) -> None:
    done = personable("doctor", "--json", home=home, PERSONABLE_EMBEDDER="hash:256")
    rows = json.loads(done.stdout)
    assert [row["part"] for row in rows] == ["home", "embedder", "collections", "people", "model"]
    assert {row["state"] for row in rows} == {"ok"}


@pytest.mark.slow
def test_doctor_says_that_a_model_does_not_answer(tmp_path: Path) -> None:
    done = personable("doctor", "--json", *DEAD, *ENGINE, home=tmp_path, PERSONABLE_MODEL_RETRIES="0")
    assert done.returncode == 5
    failed = [row for row in json.loads(done.stdout) if row["state"] == "failed"]
    assert [row["part"] for row in failed] == ["model"]
    assert "127.0.0.1:9" in failed[0]["says"]


@pytest.mark.parametrize("command", ["ask q", "chat"])
def test_a_session_without_its_person_is_refused(command: str) -> None:
    with pytest.raises(UsageError, match="--person"):
        app([*command.split(), "--session", "s"], standalone_mode=False)


def test_answers_of_nobody_in_particular_can_be_removed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    async def keep(id: str) -> None:
        async with await People.open(tmp_path / "people.db") as people:
            await people.save_answer(id, None, None, "{}", "[]")

    asyncio.run(keep("a"))
    command = ["forget-answers", "--yes", "--json", "--home", str(tmp_path)]
    app([*command, "--older-than", "1"], standalone_mode=False)
    assert json.loads(capsys.readouterr().out) == {"removed": 0}
    app(command, standalone_mode=False)
    assert json.loads(capsys.readouterr().out) == {"removed": 1}
    asyncio.run(keep("a"))  # the id is free again


@pytest.mark.slow
def test_doctor_fails_where_a_part_fails(home: Path) -> None:
    done = personable("doctor", "--json", home=home, PERSONABLE_EMBEDDER="hash:64")
    assert done.returncode == 3
    assert [row["part"] for row in json.loads(done.stdout) if row["state"] == "failed"] == ["collections"]


def test_starting_imports_nothing_heavy() -> None:
    heavy = {"numpy", "pydantic", "pydantic_ai", "onnxruntime", "faiss", "tantivy", "sqlalchemy", "jinja2", "openai"}
    code = "import sys, personable.cli; print(sorted(m for m in sys.modules if '.' not in m))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60).stdout
    assert not heavy & set(loaded.replace("'", "").strip("[]\n").split(", "))


@pytest.mark.embedder
@pytest.mark.slow
def test_the_demo_answers_two_people_differently(tmp_path: Path) -> None:
    done = personable("demo", "--json", "--home", str(tmp_path), home=tmp_path)
    assert done.returncode == 0, done.stderr
    maria, walter = json.loads(done.stdout).values()
    assert maria["text"] != walter["text"]
    assert "pregnant" in maria["used"][0]["text"]
    assert "hemodialysis" in walter["used"][0]["text"]
    assert maria["citations"]
    assert walter["citations"]


@pytest.mark.slow
def test_erasing_prints_a_receipt_and_fails_where_something_is_left(tmp_path: Path) -> None:
    told, data = "I am allergic to marigold", Path(__file__).parent / "data" / "openqa"
    ran = personable(
        *("eval", "nq", "--system", "vanilla_rag", "--data", str(data), "--limit", "1"),
        *("--out", str(tmp_path / "runs"), *ENGINE),
        home=tmp_path / "home",
    )
    assert ran.returncode == 0, ran.stderr
    for left, status in ((False, 0), (True, 4)):
        personable("person", "add", "ana", home=tmp_path / "home")
        assert personable("person", "tell", "ana", told, home=tmp_path / "home").returncode == 0
        if left:
            (tmp_path / "runs" / "nq-top3-first1" / "note.txt").write_text(told, encoding="utf-8")
        done = personable("person", "erase", "ana", "--yes", home=tmp_path / "home")
        receipt = json.loads(done.stdout)
        assert done.returncode == status, done.stderr
        assert [place["kind"] for place in receipt["places"]] == ["home", "run"]
        assert receipt["removed"]["people"] == 1
        assert told not in done.stdout + done.stderr
        assert len(receipt["left"]) == left
        assert ("not everything is gone: look at" in done.stderr) is left


@pytest.mark.slow
def test_feedback_teaches_and_is_taken_back(home: Path) -> None:
    personable("person", "add", "fay", home=home)
    asked = personable("ask", "What is gout, and what helps against poor sleep?", "-p", "fay", "--dial", "on",
                       *ENGINE, "--json", home=home)  # fmt: skip
    id = json.loads(asked.stdout)["id"]
    done = personable("feedback", id, "--up", "1", "--json", home=home)
    change = json.loads(done.stdout)["change"]
    assert done.returncode == 0, done.stderr
    assert change["reason"].startswith("thumbs up for “")
    listed = personable("person", "weights", "fay", "--history", home=home)
    assert change["id"] in listed.stdout
    told = json.loads(personable("person", "weights", "fay", "--json", home=home).stdout)
    assert told["version"] == change["id"]
    assert told["words"][0].startswith("Results come in the usual order")
    assert personable("person", "weights", "fay", "--undo", home=home).returncode == 0
    assert personable("person", "weights", "fay", "--undo", home=home).returncode == 2
    assert personable("person", "weights", "fay", "--to", change["id"], home=home).returncode == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nope", "--up"], "no answer 'nope'"),
        (["nope"], "say one thing"),
        (["nope", "--up", "--down"], "say one thing"),
    ],
)
def test_feedback_that_makes_no_sense_is_an_error(
    home: Path, arguments: list[str], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PERSONABLE_HOME", str(home))
    with pytest.raises((UsageError, NotFoundError), match=message):
        app(["feedback", *arguments], standalone_mode=False)
