from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from personable.cli import app
from personable.embed import make_embedder
from personable.errors import DataError, NotFoundError, UsageError
from personable.evaluation.ikat_passages import index, run_ikat_passages
from personable.evaluation.passages import Bench
from personable.kit import Kit
from personable.retrieval.rerank import EmbeddingReranker
from personable.settings import Settings

EMBEDDER = make_embedder("hash:256")
TOPIC = {
    "number": "9-1",
    "title": "Food",
    "ptkb": [{"id": "1", "text": "I cannot digest milk"}, {"id": "2", "text": "I have a dog"}],
    "turns": [
        {
            "turn_id": 1,
            "utterance": "What should I eat for breakfast?",
            "resolved_utterance": "What breakfast is good without milk?",
            "response": "Porridge.",
        },
        {
            "turn_id": 2,
            "utterance": "And is it healthy?",
            "resolved_utterance": "Is porridge healthy?",
            "response": "A secret gold answer.",
        },
    ],
}
PASSAGES = {
    "clueweb22-a:1": "Porridge with water is a good breakfast for people who cannot digest milk.",
    "clueweb22-a:2": "Breakfast with milk and cereals.",
    "clueweb22-b:0": "Porridge is healthy, as oats are rich in fibre.",
    "clueweb22-c:7": "Ships cross the sea.",
}


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "ikat"
    folder.mkdir()
    (folder / "topics_2023_test.jsonl").write_text(json.dumps(TOPIC) + "\n")
    lines = [{"id": id, ("contents" if n % 2 else "text"): text} for n, (id, text) in enumerate(PASSAGES.items())]
    (folder / "passages.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    (folder / "qrels_passages.txt").write_text(
        "9-1_1 0 clueweb22-a:1 3\n9-1_1 0 clueweb22-a:2 0\n9-1_2 0 clueweb22-b:0 2\n"
    )
    return folder


def parts(home: Path) -> tuple[Kit, Bench]:
    return Kit(Settings(home=home), embedder=EMBEDDER), Bench([EMBEDDER], EmbeddingReranker(EMBEDDER))


async def test_topics_are_ranked_scored_and_written_automatic_and_manual_apart(data: Path, tmp_path: Path) -> None:
    kit, bench = parts(tmp_path)
    tables = await run_ikat_passages(kit, bench, ["pairwise-statements", "given"], data, tmp_path / "out")
    automatic, manual = tables.split("\n\n")
    assert automatic.startswith("| automatic, n = 2 | nDCG@3 | nDCG@5 | P@3 | RR | R@100 | default less this, nDCG@3 |")
    assert manual.startswith("| manual, n = 2 |")
    assert [line.split(" | ")[0] for line in manual.splitlines()[2:]] == [
        "| default",
        "| pairwise-statements",
        "| given",
    ]
    assert "| given | 1.000 [1.000, 1.000] | 1.000 [1.000, 1.000] | .333 [.333, .333] |" in manual
    written = sorted(path.name for path in (tmp_path / "out").glob("*.json"))
    assert written == [
        f"{kind}-{name}.json"
        for kind in ("automatic", "manual")
        for name in ("default", "given", "pairwise-statements")
    ]


async def test_the_run_file_has_the_layout_of_the_track(data: Path, tmp_path: Path) -> None:
    kit, bench = parts(tmp_path)
    await run_ikat_passages(kit, bench, [], data, tmp_path / "out")
    run = json.loads((tmp_path / "out" / "manual-default.json").read_text())
    assert (run["run_name"], run["run_type"]) == ("personable-default", "manual")
    assert [turn["turn_id"] for turn in run["turns"]] == ["9-1_1", "9-1_2"]
    (response,) = run["turns"][0]["responses"]
    assert set(response) == {"rank", "text", "ptkb_provenance", "passage_provenance"}
    first = response["passage_provenance"][0]
    assert (first["id"], first["text"]) == ("clueweb22-a:1", PASSAGES["clueweb22-a:1"])
    scores = [line["score"] for line in response["passage_provenance"]]
    assert scores == sorted(scores, reverse=True)
    assert "secret" not in json.dumps(run)


async def test_an_automatic_run_reads_neither_the_human_rewrite_nor_its_own_response(
    data: Path, tmp_path: Path
) -> None:
    kit, bench = parts(tmp_path)
    runs = []
    for turn in TOPIC["turns"]:  # type: ignore[attr-defined]
        changed = (
            json.dumps(TOPIC).replace(turn["resolved_utterance"], "ships").replace("A secret gold answer.", "ships")
        )
        for at, text in enumerate((json.dumps(TOPIC), changed)):
            (data / "topics_2023_test.jsonl").write_text(text + "\n")
            await run_ikat_passages(kit, bench, [], data, tmp_path / f"out{at}")
            runs.append((tmp_path / f"out{at}" / "automatic-default.json").read_text())
    assert len(set(runs)) == 1


def test_a_changed_collection_is_indexed_again(data: Path, tmp_path: Path) -> None:
    with index(data, tmp_path / "c", None) as store:
        assert set(store.documents()) == set(PASSAGES)
    (data / "passages.jsonl").write_text(json.dumps({"id": "clueweb22-a:1", "text": "New text."}) + "\n")
    with index(data, tmp_path / "c", None) as store:
        assert set(store.documents()) == {"clueweb22-a:1"}


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"id": "x"}', r"passages.jsonl:1: contents: Field required"),
        ("no json", "not a JSON object"),
        ('{"id": "x", "text": "a"}\n{"id": "x", "text": "b"}', "ids must be unique"),
    ],
)
def test_a_malformed_collection(data: Path, tmp_path: Path, line: str, message: str) -> None:
    (data / "passages.jsonl").write_text(line + "\n")
    with pytest.raises(DataError, match=message):
        index(data, tmp_path / "c", None)


async def test_without_the_licensed_text(data: Path, tmp_path: Path) -> None:
    (data / "passages.jsonl").unlink()
    kit, bench = parts(tmp_path)
    with pytest.raises(NotFoundError, match="needs a licence"):
        await run_ikat_passages(kit, bench, [], data, tmp_path / "out")
    with pytest.raises(UsageError, match="no strategy 'best'; there are given"):
        await run_ikat_passages(kit, bench, ["best"], data, tmp_path / "out")


def test_the_command_prints_the_tables(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PERSONABLE_RERANKER", "hash:64")
    arguments = ["eval", "ikat-passages", "--systems", "pointwise", "--embedder", "hash:64"]
    arguments += ["--data", str(data), "--out", str(tmp_path / "out"), "--home", str(tmp_path / "home")]
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 0, done.output
    assert "| automatic, n = 2 |" in done.output
    assert "| pointwise |" in done.output


def test_the_command_ranks_given_passages(tmp_path: Path) -> None:
    arguments = ["eval", "passages-nq", "--systems", "given", "--data", "tests/data/openqa"]
    arguments += ["--out", str(tmp_path / "out"), "--home", str(tmp_path / "home"), "--embedder", "hash:64"]
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 0, done.output
    assert (tmp_path / "out/passages-nq/given/results.jsonl").read_text().count("\n") > 1
