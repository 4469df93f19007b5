import csv
import json
from pathlib import Path

import pytest

from personable.errors import DataError, NotFoundError
from personable.evaluation.commands import cells_json
from personable.evaluation.logs import Cell, logs_report, score_logs
from personable.evaluation.published import ACCURACY, METHODS, MODEL

PUBLISHED = Path(__file__).parents[3] / "shared" / "data" / "openqa"
here = pytest.mark.skipif(not PUBLISHED.is_dir(), reason="the published outputs are not in ../shared/data/openqa")


@here
def test_all_42_cells_equal_the_recomputed_table() -> None:
    with (PUBLISHED / "table2_recomputed.tsv").open() as file:
        table = [line for line in csv.DictReader(file, delimiter="\t") if line["model"] == MODEL]
    expected = {
        (r["dataset"], int(r["topk"]), r["method"]): (r["n_scored"], r["acc_scored"], r["acc_paper"]) for r in table
    }
    cells = score_logs(PUBLISHED)
    found = {(c.dataset, c.topk, c.method): (str(c.n), f"{c.accuracy:.2f}", f"{c.published:.2f}") for c in cells}
    assert len(cells) == 42
    assert found == expected


@here
def test_the_figure_that_the_logs_do_not_bear_out_is_marked() -> None:
    cells = score_logs(PUBLISHED)
    assert "| nq | 3 | cognitive | 41 | 39.02 | 49.02 | ≠ -10.00 |" in logs_report(cells)
    assert sum(cell.differs for cell in cells) == 8


def small(folder: Path, responses: dict[int, str | None]) -> Path:
    """Logs in which every cell has the same recorded outputs, by index; the gold answer is "gold"."""
    for name in ("nq", "triviaqa", "webq"):
        lines = [
            {"id": f"{name}-{i}", "index": i, "question": "q", "answers": ["Gold"], "passages": ["p"]}
            for i in responses
        ]
        (folder / f"{name}.jsonl").write_text("\n".join(map(json.dumps, lines)))
    records = [
        {
            "model": MODEL,
            "dataset": d,
            "topk": k,
            "id": f"{d}-{i}",
            "index": i,
            "method": m,
            "kind": "answer",
            "response": text,
        }
        for d, k in ACCURACY
        for m in METHODS
        for i, text in responses.items()
    ]
    (folder / "persona_rag_logs.jsonl").write_text("\n".join(map(json.dumps, records)))
    return folder


def test_an_empty_output_counts_as_wrong(tmp_path: Path) -> None:
    cells = score_logs(small(tmp_path, {0: "GOLD rush", 1: "", 2: None, 3: "marigolds"}))
    assert {(cell.n, cell.accuracy) for cell in cells} == {(4, 50.0)}


def test_only_the_first_logged_questions_by_index_are_scored(tmp_path: Path) -> None:
    cells = score_logs(small(tmp_path, {index: "gold" if index < 38 else "" for index in reversed(range(60))}))
    trivia = [cell for cell in cells if cell.dataset == "triviaqa"]
    assert {(cell.n, cell.accuracy) for cell in trivia} == {(38, 100.0)}


def test_json_has_the_five_fields_of_a_cell(tmp_path: Path) -> None:
    found = cells_json(score_logs(small(tmp_path, {0: "gold"})))
    assert found["cells"][0] == {"dataset": "nq", "topk": 3, "method": "vanilla_chatgpt", "n": 1, "accuracy": 100.0}
    assert len(found["cells"]) == 42


def test_a_missing_method_or_gold_answer_is_an_error(tmp_path: Path) -> None:
    folder = small(tmp_path, {0: "gold"})
    logs = folder / "persona_rag_logs.jsonl"
    lines = logs.read_text().splitlines()
    logs.write_text("\n".join(line for line in lines if '"cot"' not in line))
    with pytest.raises(DataError, match="no recorded outputs of cot for nq top-3"):
        score_logs(folder)
    logs.write_text("\n".join(line.replace("nq-0", "nq-9") for line in lines))
    with pytest.raises(DataError, match="'nq-9' has no gold answer"):
        score_logs(folder)


def test_missing_logs_say_how_to_get_them(tmp_path: Path) -> None:
    small(tmp_path, {0: "gold"})
    (tmp_path / "persona_rag_logs.jsonl").unlink()
    with pytest.raises(NotFoundError, match=r"published with PersonaRAG.*--data"):
        score_logs(tmp_path)


def test_rounding_is_not_a_difference() -> None:
    cell = Cell(dataset="nq", topk=3, method="cot", n=41, accuracy=36.585, published=36.58)
    assert not cell.differs
    assert cell.model_copy(update={"published": 36.5}).differs
