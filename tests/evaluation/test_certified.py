"""Certified retrieval data: what is read, how weights are chosen, and the run from files to table."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel
from typer.testing import CliRunner

from personable.cli import app
from personable.embed import make_embedder
from personable.errors import ConfigurationError, DataError, ModelTimeoutError, NotFoundError
from personable.evaluation.certified_fit import combinations, gains, left_out
from personable.evaluation.certified_run import BASELINE, DEFAULT, as_table, run_certified
from personable.evaluation.hydocs import SOURCES
from personable.evaluation.liveqa import Titles, read_liveqa
from personable.evaluation.ranking import rank_scores
from personable.kit import Kit
from personable.llm.base import Prompt
from personable.llm.scripted import ScriptedModel
from personable.notes import HydocNote, PragmaticsNote
from personable.retrieval.cards import Weights
from personable.settings import Settings
from personable.types import Hit, Passage

pytestmark = pytest.mark.slow

NAMES = ("gout", "asthma", "shingles", "anemia", "migraine", "psoriasis")
KINDS = {"information": "What is", "treatment": "What are the treatments for", "causes": "What causes"}


def write(folder: Path) -> Path:
    folder.mkdir(exist_ok=True)
    cards = [
        {
            "id": f"{name}-{kind}",
            "question": f"{words} {name} ?",
            "focus": name,
            "qtype": kind,
            "answer": f"About {name}.",
        }
        for name in NAMES
        for kind, words in KINDS.items()
    ]
    questions: list[dict[str, Any]] = [
        {
            "id": f"Q{n}",
            "subject": name,
            "message": "Hello, my aunt is ill. How is it treated?",
            "nlm_summary": f"treatments for {name}",
        }
        for n, name in enumerate(NAMES)
    ]
    questions.append({"id": "QX", "subject": None, "message": "When does the train leave?"})
    qrels = [f"Q{n} 0 {name}-treatment 3\nQ{n} 0 {name}-causes 0" for n, name in enumerate(NAMES)]
    (folder / "medquad_cards.jsonl").write_text("\n".join(map(json.dumps, cards)), encoding="utf-8")
    (folder / "liveqa_dev_questions.jsonl").write_text("\n".join(map(json.dumps, questions)), encoding="utf-8")
    (folder / "qrels_liveqa_dev_cards.txt").write_text("\n".join(qrels), encoding="utf-8")
    return folder


def kit(home: Path, model: Any = None) -> Kit:
    return Kit(Settings(home=home), embedder=make_embedder("hash:256"), model=model, agents_model=model)


async def evaluate(tmp_path: Path, model: Any = None, limit: int | None = None, bodies: bool = True) -> Any:
    data = write(tmp_path / "data")
    return await run_certified(
        kit(tmp_path, model), data, tmp_path / "out", limit, bodies=bodies, tell=lambda text: None
    )


def test_only_questions_with_a_relevant_card_are_measured(tmp_path: Path) -> None:
    data = read_liveqa(write(tmp_path / "data"))
    assert [one.id for one in data.questions] == [f"Q{n}" for n in range(6)]
    assert [one.id for one in data.unanswered] == ["QX"]
    assert data.questions[0].whole == "gout\nHello, my aunt is ill. How is it treated?"
    assert data.unanswered[0].whole == "When does the train leave?"


def test_missing_and_malformed_files_are_named(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="medquad_cards"):
        read_liveqa(tmp_path)
    folder = write(tmp_path / "data")
    (folder / "qrels_liveqa_dev_cards.txt").write_text("Q0 0 gout-treatment\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"qrels_liveqa_dev_cards\.txt:1: expected four fields"):
        read_liveqa(folder)
    (folder / "qrels_liveqa_dev_cards.txt").write_text("Q0 0 gout-treatment 0\n", encoding="utf-8")
    with pytest.raises(DataError, match="no question"):
        read_liveqa(folder)


@pytest.mark.parametrize("bodies", [True, False])
async def test_a_run_compares_the_systems_and_finds_what_the_subject_line_names(tmp_path: Path, bodies: bool) -> None:
    report = await evaluate(tmp_path, bodies=bodies)
    rows = {row.system: row for row in report.rows}
    assert rows[DEFAULT].measures["P@3"][0] == pytest.approx(1 / 3), "one of the three cards about it is relevant"
    assert rows[BASELINE].gains is None
    assert rows[BASELINE].measures["P@3"][0] < 0.3, "the message alone names no illness"
    assert rows[DEFAULT].gains is not None
    assert rows[DEFAULT].gains["P@3"][0] > 0.05
    assert {"zero-shot", "cot", "default, with HyDoc"} <= rows.keys()
    assert (report.refused, report.refused_unanswered) == (0.0, 1.0)
    assert set(report.similarity) == {"the message itself", *SOURCES}
    table = as_table(report)
    assert f"| {DEFAULT} | " in table
    assert "n = 6; HyDocs by numbers" in table


async def test_a_run_with_a_model_goes_on_where_it_stopped(tmp_path: Path) -> None:
    written: list[str] = []

    def script(prompt: Prompt, output: type[BaseModel] | None) -> Any:
        if output is not HydocNote:
            return PragmaticsNote()
        if len(written) == 4:
            return ModelTimeoutError("too slow")
        written.append(prompt.shared)
        return HydocNote(text="Treatments for gout.")

    with pytest.raises(ModelTimeoutError):
        await evaluate(tmp_path, ScriptedModel(script), limit=2)
    file = tmp_path / "out/hydocs-scripted.jsonl"
    assert len(file.read_text(encoding="utf-8").splitlines()) == 4
    file.write_text(file.read_text(encoding="utf-8")[:-20], encoding="utf-8")  # killed while it wrote
    written.clear()
    model = ScriptedModel(lambda prompt, output: HydocNote(text="x") if output is HydocNote else PragmaticsNote())
    report = await evaluate(tmp_path, model, limit=2)
    assert report.model == "scripted"
    assert len([prompt for prompt in model.prompts if prompt.agent == "hydoc"]) == 3
    assert len(file.read_text(encoding="utf-8").splitlines()) == 6


async def test_it_needs_an_embedder(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="embedder"):
        await run_certified(Kit(Settings(home=tmp_path)), tmp_path, tmp_path, None, bodies=True, tell=lambda text: None)


def hit(id: str, **features: float) -> Hit:
    named = {name.replace("_", " "): value for name, value in features.items()}
    return Hit(passage=Passage(id=id, text=id, document=id), score=0.0, features=named)


def test_a_question_plays_no_part_in_the_weights_it_is_ranked_with() -> None:
    candidates = {
        q: [hit("right", title_meaning=1.0, kind=0.0), hit("wrong", title_meaning=0.9, kind=1.0)] for q in "abc"
    }
    candidates["d"] = [hit("right", title_meaning=0.9, kind=1.0), hit("wrong", title_meaning=1.0, kind=0.0)]
    qrels = {q: {"right": 1} for q in "abcd"}
    run = left_out(candidates, qrels)
    assert max(run["d"], key=lambda id: run["d"][id]) == "wrong", "the others say that the kind does not count"
    assert max(run["a"], key=lambda id: run["a"][id]) == "right"


def test_gains_are_those_of_the_reference_implementation() -> None:
    some = combinations(hydoc=False)[:5]
    candidates = {"q": [hit(str(n), title_words=(n * 7 % 11) / 11, kind=n % 2, name=n / 20) for n in range(20)]}
    qrels = {"q": {str(n): n % 4 for n in range(0, 20, 3)} | {"elsewhere": 2}}
    table = gains(candidates, qrels, some)
    for column, weights in enumerate(some):
        found = candidates["q"]
        run = {"q": {one.passage.document: weights.score(one.features) - n * 1e-9 for n, one in enumerate(found)}}
        measures = rank_scores(qrels, run, ["nDCG@10", "P@3", "R@50"])
        assert table[0, column] == pytest.approx(sum(value["q"] for value in measures.values()) / 3)
    assert Weights(values={"kind": 2.0}).score({"kind": 1.0}) == 2.0


def test_vectors_of_titles_stand_for_passages() -> None:
    inner = make_embedder("hash:64")
    titles = Titles(inner)
    assert (titles.passages(["Gout\nlong text"]) == inner.passages(["Gout"])).all()
    assert titles.passages([]).shape == (0, 64)


def test_the_command_prints_the_report_with_a_reranker_beside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PERSONABLE_RERANKER", "hash:32")
    given = ["eval", "certified", "--data", str(write(tmp_path / "data")), "--out", str(tmp_path / "out"), "--json"]
    done = CliRunner().invoke(app, [*given, "--embedder", "hash:64", "--home", str(tmp_path)])
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert {"zero-shot, reranked", f"{DEFAULT}, reranked"} <= {row["system"] for row in found["rows"]}
    assert found["model"] == "numbers"
