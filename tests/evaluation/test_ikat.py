"""iKAT: what may be read at a turn, both layouts, judgements, run files, and the evaluation of statement rankers."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from personable.cli import app
from personable.embed import make_embedder
from personable.errors import DataError, NotFoundError, UsageError
from personable.evaluation.ikat import Topic, asked, read_qrels, read_rewrites, read_topics, topics_file
from personable.evaluation.ikat_run import as_table, run_ikat
from personable.evaluation.ikat_runfile import read_run, statement_run, write_run
from personable.kit import Kit
from personable.llm.scripted import ScriptedModel
from personable.pipelines.statement_listwise import StatementOrder
from personable.settings import Settings

SAMPLE = Path(__file__).parents[1] / "data" / "ikat"
OFFICIAL = {
    "number": 0,
    "title": "Tea",
    "ptkb": {"1": "I like tea.", "2": "I live in Bern."},
    "turns": [
        {"turn_id": 1, "utterance": "Tea?", "resolved_utterance": "Tea?", "response": "Yes.", "ptkb_provenance": [1]},
        {"turn_id": 2, "utterance": "Where?", "resolved_utterance": "Where is tea?", "response": "Secret."},
    ],
}


def kit(model: Any = None) -> Kit:
    return Kit(Settings(), embedder=make_embedder("hash:64"), model=model)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return Path(shutil.copytree(SAMPLE, tmp_path / "ikat"))


def official(tmp_path: Path, *topics: dict[str, Any]) -> Path:
    path = tmp_path / "2023_test_topics.json"
    path.write_text(json.dumps(topics), encoding="utf-8")
    return path


def test_a_turn_is_never_given_its_own_response_nor_what_comes_later() -> None:
    for topic in read_topics(SAMPLE / "topics_2023_test.jsonl"):
        for at, turn in enumerate(topic.turns):
            said = topic.said(at)
            assert said.text == turn.utterance
            assert [(one.utterance, one.response) for one in said.turns] == [
                (one.utterance, one.response) for one in topic.turns[:at]
            ]
            assert said.rewrite == ""
            if turn.response not in {one.response for one in topic.turns[:at]}:
                assert turn.response not in said.model_dump_json()


def test_the_official_layout_says_the_same(tmp_path: Path) -> None:
    topic = read_topics(official(tmp_path, OFFICIAL))[0]
    assert topic.number == "0"
    assert [(one.id, one.text) for one in topic.ptkb] == [("1", "I like tea."), ("2", "I live in Bern.")]
    assert topic.qid(1) == "0_2"
    assert topic.turns[0].ptkb_provenance == ["1"]
    assert topic.said(1).turns[0].response == "Yes."
    assert topics_file(tmp_path, "test").name == "2023_test_topics.json"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"ptkb": 3}, r"topics.json: topic 1: ptkb"),
        ({"turns": []}, r"topic 1: turns"),
        ({"turns": [{"turn_id": 1}]}, r"topic 1: turns.0.utterance: Field required"),
        (
            {"turns": [{"turn_id": 1, "utterance": "a"}, {"turn_id": 1, "utterance": "b"}]},
            "turn '1' stands there twice",
        ),
        ({"ptkb": [{"id": "1", "text": "a"}, {"id": 1, "text": "b"}]}, "statement '1' stands there twice"),
    ],
)
def test_faults_of_topics_are_named(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    with pytest.raises(DataError, match=message):
        read_topics(official(tmp_path, OFFICIAL | change))


def test_faults_of_files_are_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="id '0' stands on line 1 already"):
        read_topics(official(tmp_path, OFFICIAL, OFFICIAL))
    broken = tmp_path / "broken.json"
    broken.write_text('[{"number":\n oops}]', encoding="utf-8")
    with pytest.raises(DataError, match=r"broken.json:2: not JSON"):
        read_topics(broken)
    lines = tmp_path / "topics_2023_test.jsonl"
    lines.write_text(json.dumps(OFFICIAL) + '\n{"number": "1"}\n', encoding="utf-8")
    with pytest.raises(DataError, match=r"topics_2023_test.jsonl:2: ptkb: Field required"):
        read_topics(lines)
    with pytest.raises(NotFoundError, match="no topics at"):
        read_topics(tmp_path / "none.jsonl")
    with pytest.raises(NotFoundError, match=r"no topics_2023_train\.jsonl"):
        topics_file(tmp_path, "train")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1_1 0 2\n", r"qrels.txt:1: expected 'turn 0 statement grade'"),
        ("1_1 0 2 yes\n", r"qrels.txt:1: expected"),
        ("1_1 0 2 1\n1_1 0 2 0\n", r"qrels.txt:2: statement 2 of turn 1_1 is judged twice"),
    ],
)
def test_faults_of_judgements_are_named(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "qrels.txt"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match=message):
        read_qrels(path)


def test_rewrites_are_read_only_where_they_are_asked_for(folder: Path) -> None:
    topics = read_topics(folder / "topics_2023_test.jsonl")
    turn = "2-1_2"
    assert asked(topics, [turn])[0].said.rewrite == ""
    assert asked(topics, [turn], "manual")[0].said.rewrite == topics[0].turns[1].resolved_utterance
    assert asked(topics, [turn], "recorded", {turn: "Outdoors in Doha?"})[0].said.rewrite == "Outdoors in Doha?"
    with pytest.raises(UsageError, match="turn 2-1_2 has no recorded rewrite"):
        asked(topics, [turn], "recorded", {})
    with pytest.raises(DataError, match="1 judged turns are in no topic, such as 99_1"):
        asked(topics, ["99_1"])
    line = json.dumps({"qid": turn, "gpt4o": "Outdoors?", "more": []})
    (folder / "llm_rewrites_2023.jsonl").write_text(line + "\n", encoding="utf-8")
    assert read_rewrites(folder) == {turn: "Outdoors?"}
    (folder / "llm_rewrites_2023.jsonl").write_text(f"{line}\n{line}\n", encoding="utf-8")
    with pytest.raises(DataError, match=f"id '{turn}' stands on line 1 already"):
        read_rewrites(folder)


def test_a_run_is_written_in_the_official_layout_and_read_again(tmp_path: Path) -> None:
    topics = [Topic.model_validate(OFFICIAL)]
    run = statement_run(
        "mine", asked(topics, ["0_1", "0_2"]), {"0_1": {"1": 0.2, "2": 0.9}, "0_2": {"1": 0.0}}, manual=True
    )
    write_run(run, tmp_path / "run.json")
    written = json.loads((tmp_path / "run.json").read_text(encoding="utf-8"))
    assert set(written) == {"run_name", "run_type", "turns"}
    assert written["run_type"] == "manual"
    assert written["turns"][0] == {
        "turn_id": "0_1",
        "responses": [
            {
                "rank": 1,
                "text": "",
                "ptkb_provenance": [
                    {"id": "2", "text": "I live in Bern.", "score": 0.9},
                    {"id": "1", "text": "I like tea.", "score": 0.2},
                ],
                "passage_provenance": [],
            }
        ],
    }
    assert read_run(tmp_path / "run.json", topics) == run
    assert run.scores() == {"0_1": {"2": 0.9, "1": 0.2}, "0_2": {"1": 0.0}}


def _turn(id: str = "0_1", *, ranks: tuple[int, ...] = (1,), statements: tuple[tuple[str, float], ...] = ()) -> Any:
    found = [{"id": one, "text": "", "score": score} for one, score in statements]
    return {"turn_id": id, "responses": [{"rank": rank, "text": "", "ptkb_provenance": found} for rank in ranks]}


@pytest.mark.parametrize(
    ("turns", "message"),
    [
        ([_turn("7_1")], "turn '7_1' is in no topic"),
        ([_turn(), _turn()], "turn '0_1' stands there twice"),
        ([_turn(ranks=())], "turns.0.responses"),
        ([_turn(ranks=(2, 1))], "ranks of responses must rise"),
        ([_turn(statements=(("9", 1.0),))], "no statement '9' in the PTKB"),
        ([_turn(statements=(("1", 1.0), ("1", 0.5)))], "a statement stands there twice"),
        ([_turn(statements=(("1", 0.5), ("2", 1.0)))], "scores of statements must not rise"),
        ([_turn(statements=(("1", float("nan")),))], "score"),
    ],
)
def test_faults_of_runs_are_named(tmp_path: Path, turns: list[Any], message: str) -> None:
    path = tmp_path / "run.json"
    path.write_text(json.dumps({"run_name": "a", "run_type": "automatic", "turns": turns}), encoding="utf-8")
    with pytest.raises(DataError, match=message):
        read_run(path, [Topic.model_validate(OFFICIAL)])


def test_a_file_that_is_no_run(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    path.write_text("{", encoding="utf-8")
    with pytest.raises(DataError, match="not a run in JSON"):
        read_run(path, [])
    path.write_text('{"run_name": "a", "run_type": "mixed", "turns": []}', encoding="utf-8")
    with pytest.raises(DataError, match="run_type"):
        read_run(path, [])
    with pytest.raises(NotFoundError, match="no run at"):
        read_run(tmp_path / "none.json", [])


async def test_rankers_are_measured_on_both_sets_with_the_turns_of_each(folder: Path, tmp_path: Path) -> None:
    lines = await run_ikat(folder, ["words", "fused"], kit(), out=tmp_path / "out")
    assert [(line.judged, line.ranker, line.n) for line in lines] == [
        ("NIST", "words", 6),
        ("NIST", "fused:hash:64", 6),
        ("organisers", "words", 5),
        ("organisers", "fused:hash:64", 5),
    ]
    for line in lines:
        assert set(line.values) == {"nDCG@3", "P@3", "R@3", "RR"}
        assert all(0 <= low <= mean <= high <= 1 for mean, low, high in line.values.values())
        assert (line.gain is None) == (line.ranker == line.against == "fused:hash:64")
    topics = read_topics(folder / "topics_2023_test.jsonl")
    run = read_run(tmp_path / "out" / "fused_hash_64-automatic.json", topics)
    again = await run_ikat(folder, ["fused"], kit(), run=tmp_path / "out" / "words-automatic.json")
    assert len(run.turns) == 6
    assert [line.values for line in again if line.ranker == "words"] == [
        line.values for line in lines if line.ranker == "words"
    ]
    assert as_table(lines).count("\n| words |") == 2


async def test_a_perfect_run_measures_one(folder: Path, tmp_path: Path) -> None:
    topics = read_topics(folder / "topics_2023_test.jsonl")
    qrels = read_qrels(folder / "qrels_ptkb_2023_nist.txt")
    scores = {turn: {id: float(grade) for id, grade in found.items()} for turn, found in qrels.items()}
    run = statement_run("perfect", asked(topics, list(qrels)), scores, manual=False)
    write_run(run, tmp_path / "run.json")
    lines = await run_ikat(folder, [], kit(), run=tmp_path / "run.json")
    assert [line.values["nDCG@3"][0] for line in lines] == pytest.approx([1.0, 1.0])
    assert [line.values["RR"][0] for line in lines] == pytest.approx([1.0, 1.0])


async def test_a_run_with_a_model_goes_on_where_it_stopped(folder: Path, tmp_path: Path) -> None:
    model = ScriptedModel(StatementOrder(order=[2, 1]))
    with pytest.raises(UsageError, match="both sets judge 5 turns"):
        await run_ikat(folder, ["cascade"], kit(model), limit=9, out=tmp_path)
    lines = await run_ikat(folder, ["fused", "words"], kit(model), limit=2, out=tmp_path)
    assert {line.n for line in lines} == {2}
    kept = tmp_path / "words-scripted-automatic.jsonl"
    first = kept.read_text(encoding="utf-8").splitlines()
    assert len(first) == 2
    kept.write_text(first[0] + "\n" + first[1][:9], encoding="utf-8")
    await run_ikat(folder, ["words"], kit(model), limit=2, out=tmp_path)
    assert kept.read_text(encoding="utf-8").splitlines() == first, "a torn line is ranked again"
    for name in ("openai:gpt-4.1", "openai:gpt-4.5", "ollama:llama3.2:1b", "ollama:llama3.2:3b"):
        await run_ikat(folder, ["words"], kit(ScriptedModel("", name=name)), limit=2, out=tmp_path)
    assert len(list(tmp_path.glob("words-*-automatic.jsonl"))) == 5, "each model has a file of its own"


async def test_nothing_to_evaluate(folder: Path) -> None:
    with pytest.raises(UsageError, match="nothing to evaluate"):
        await run_ikat(folder, [], kit())


def test_the_command(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PERSONABLE_EMBEDDER", "hash:64")
    common = ["eval", "ikat-ptkb", "--data", str(folder), "--ranker", "words,fused", "--home", str(tmp_path)]
    done = CliRunner().invoke(app, [*common, "--out", str(tmp_path / "out"), "--json"])
    assert done.exit_code == 0, done.output
    lines = json.loads(done.stdout)["lines"]
    assert len(lines) == 4
    assert {line["input"] for line in lines} == {"automatic"}
    manual = CliRunner().invoke(app, [*common, "--out", str(tmp_path / "out"), "--input", "manual"])
    assert "NIST, manual, n = 6" in manual.stdout
    assert json.loads((tmp_path / "out" / "words-manual.json").read_text())["run_type"] == "manual"
    wrong = CliRunner().invoke(app, [*common, "--input", "mixed"])
    assert isinstance(wrong.exception, UsageError)
    given = tmp_path / "out" / "words-manual.json"
    scored = CliRunner().invoke(app, [*common, "--input", "manual", "--run", str(given)])
    assert scored.stdout.count("| words (file) |") == 2, "a run of the same name stands beside the ranker's"
    assert scored.stdout.count("| words |") == 2
    mixed = CliRunner().invoke(app, [*common, "--run", str(given)])
    assert isinstance(mixed.exception, UsageError)
    assert "--input manual" in str(mixed.exception)
