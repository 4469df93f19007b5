"""Recommendation data: what may be read, how it is measured, and the baselines."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from personable.cli import app
from personable.embed import make_embedder
from personable.errors import DataError, ModelTimeoutError, NotFoundError, UsageError
from personable.evaluation.recsys import HIT, NDCG, Instance, measure, read_recsys
from personable.evaluation.recsys_baselines import baselines
from personable.evaluation.recsys_model import VARIANTS, ablation_table, run_variants, sample
from personable.evaluation.recsys_run import OURS, as_table, prepare, run_ablations, run_recsys
from personable.kit import Kit
from personable.llm.recorded import RecordingModel
from personable.llm.scripted import ScriptedModel
from personable.settings import Settings


def write(folder: Path, name: str, records: list[dict[str, Any]]) -> None:
    folder.mkdir(exist_ok=True)
    (folder / f"{name}.jsonl").write_text("\n".join(map(json.dumps, records)), encoding="utf-8")


def gift_shop(folder: Path, people: int = 40) -> Path:
    """Who buys a colour's first and second things buys its third; times are known."""
    colours = ("red", "blue", "green", "black", "white")
    titles = [f"{colour} {thing}" for colour in colours for thing in ("cup", "plate", "bowl", "jug", "spoon", "fork")]
    write(folder, "items", [{"item": row, "code": f"10{row}C", "title": title} for row, title in enumerate(titles)])
    users, instances = [], []
    for person in range(people):
        first, second = person % 5 * 6, (person + 1) % 5 * 6
        basket = [second, second + 1, second + 2]
        sessions = [{"ts": 10, "items": [first, first + 1, first + 2]}, {"ts": 20, "items": basket}]
        users.append({"user": f"u{person}", "sessions": sessions})
        candidates = [second + 2, *(row for row in range(30) if row not in (first, first + 1, first + 2, *basket))]
        one = {"user": f"u{person}", "ts": 20, "history": [first, first + 1, first + 2], "session": basket[:2]}
        instances.append({**one, "target": second + 2, "candidates": candidates[:20]})
    write(folder, "users", users)
    write(folder, "instances", instances)
    return folder


def test_nothing_from_the_target_on_is_read(tmp_path: Path) -> None:
    data = read_recsys(gift_shop(tmp_path / "shop"))
    for one in data.instances:
        sessions = data.everybody[one.user]
        assert sessions == [list(one.history), list(one.session)]
        assert one.target not in {row for session in sessions for row in session}
    assert data.earlier[0] == [[0, 1, 2]]


def test_later_sessions_of_an_evaluated_person_are_left_out(tmp_path: Path) -> None:
    folder = gift_shop(tmp_path / "shop")
    lines = (folder / "users.jsonl").read_text(encoding="utf-8").splitlines()
    first = json.loads(lines[0])
    first["sessions"].append({"ts": 30, "items": [29]})
    stranger = {"user": "nobody", "sessions": [{"ts": 99, "items": [5]}]}
    write(folder, "users", [first, *map(json.loads, lines[1:]), stranger])
    data = read_recsys(folder)
    assert 29 not in {row for session in data.everybody["u0"] for row in session}
    assert data.everybody["nobody"] == [[5]]


def test_sequences_without_times_end_before_the_target(tmp_path: Path) -> None:
    write(tmp_path, "items", [{"item": row, "title": str(row)} for row in range(6)])
    write(tmp_path, "users", [{"user": "a", "sequence": [0, 1, 2]}, {"user": "b", "sequence": [3, 4]}])
    one = {"user": "a", "split": "test", "history": [0], "session": [1], "target": 2, "candidates": [2, 3]}
    write(tmp_path, "instances", [one, {**one, "user": "b", "split": "valid", "history": [], "session": [3]}])
    data = read_recsys(tmp_path)
    assert data.everybody == {"a": [[0, 1]], "b": [[3]]}
    assert data.earlier == [[[0, 1]], [[3]]]
    assert [one.user for one in data.instances] == ["a"]
    with pytest.raises(UsageError, match="split 'train'"):
        read_recsys(tmp_path, split="train")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"target": 29, "candidates": [1, 2]}, "not among the candidates"),
        ({"history": [99]}, "no item 99"),
        ({"candidates": [1]}, "candidates"),
        ({"ts": None}, "has none"),
    ],
)
def test_faults_name_their_line(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    folder = gift_shop(tmp_path / "shop")
    lines = (folder / "instances.jsonl").read_text(encoding="utf-8").splitlines()
    write(folder, "instances", [json.loads(lines[0]) | change])
    with pytest.raises(DataError, match=message):
        read_recsys(folder)


def test_items_are_numbered_from_zero(tmp_path: Path) -> None:
    folder = gift_shop(tmp_path / "shop")
    write(folder, "items", [{"item": 1, "title": "cup"}])
    with pytest.raises(DataError, match=r"items\.jsonl:1: item 1 where 0"):
        read_recsys(folder)


def test_a_folder_without_data_says_what_is_wanted(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match=r"instances\.jsonl"):
        run_recsys(tmp_path, tmp_path, make_embedder("hash:32"))


@pytest.mark.parametrize(
    ("place", "ndcg", "hit"), [(1, 1.0, 1.0), (2, 1 / np.log2(3), 1.0), (5, 1 / np.log2(6), 1.0), (6, 0, 0)]
)
def test_measures_by_place(place: int, ndcg: float, hit: float) -> None:
    one = Instance(user="a", history=(0,), session=(1,), target=2, candidates=tuple(range(2, 12)))
    scores = np.zeros(12)
    scores[3 : 3 + place - 1] = 2.0
    scores[2] = 1.0
    measured = measure([one], lambda _: scores, 12)
    assert measured["1+99"] == {NDCG: [pytest.approx(ndcg)], HIT: [hit]}


def test_what_the_person_had_is_no_rival_in_the_whole_catalogue() -> None:
    one = Instance(user="a", history=(0,), session=(1,), target=2, candidates=(3, 2))
    measured = measure([one], lambda _: np.array([9.0, 9.0, 1.0, 0.0, 5.0]), 5)
    assert measured["1+99"][NDCG] == [1.0]
    assert measured["all"][NDCG] == [pytest.approx(1 / np.log2(3))]


def test_equal_scores_do_not_favour_the_target() -> None:
    one = Instance(user="a", history=(), session=(0,), target=9, candidates=tuple(range(1, 10)))
    assert measure([one], lambda _: np.zeros(10), 10)["1+99"][HIT] == [0.0]


def test_a_whole_evaluation(tmp_path: Path) -> None:
    gift_shop(tmp_path / "data", 40)
    report = run_recsys(tmp_path, tmp_path / "runs", make_embedder("hash:64"))
    lines = {(line.protocol, line.system): line for line in report.lines}
    assert {line.dataset for line in report.lines} == {"data"}
    trial = report.weights["data"].trial
    assert trial is not None
    assert trial.n == 40
    ours, popular = lines["1+99", OURS], lines["1+99", "popularity"]
    assert ours.n == 40
    assert ours.ndcg[0] > popular.ndcg[0]
    assert popular.ndcg_gain is not None
    assert popular.ndcg_gain[0] == pytest.approx(ours.ndcg[0] - popular.ndcg[0])
    assert popular.ndcg_gain[1] > 0
    table = as_table(report)
    assert "| data, 1+99, n = 40 | nDCG@5 |" in table
    assert "| knn-baskets | " in table


def test_baselines_count_everybody_also_where_few_are_evaluated(tmp_path: Path) -> None:
    data = read_recsys(gift_shop(tmp_path / "data"), limit=1)
    shop = prepare(data, tmp_path / "runs", make_embedder("hash:64"))
    found = baselines(data, shop.shelf)
    assert len(data.instances) == 1
    assert found["popularity"](data.instances[0]).sum() == sum(
        len({*all[0], *all[1]}) for all in data.everybody.values()
    )
    assert found["knn-session"](data.instances[0]).sum() > 0


def test_a_limit_changes_nothing_that_weights_are_fitted_on(tmp_path: Path) -> None:
    folder = gift_shop(tmp_path / "data")
    assert read_recsys(folder, limit=1).earlier == read_recsys(folder).earlier


def test_an_item_without_text_is_named(tmp_path: Path) -> None:
    folder = gift_shop(tmp_path / "data")
    write(folder, "items", [{"item": row, "title": "" if row == 2 else f"thing {row}"} for row in range(30)])
    with pytest.raises(DataError, match="1 items without text, the first 2"):
        prepare(read_recsys(folder), tmp_path / "runs", make_embedder("hash:64"))


async def test_ablations_rank_the_same_candidates_and_go_on_where_they_stopped(tmp_path: Path) -> None:
    gift_shop(tmp_path / "data", 40)
    data = read_recsys(tmp_path / "data")
    embedder = make_embedder("hash:64")
    shop = prepare(data, tmp_path / "runs", embedder)
    some = sample(data, 3, 8)
    assert [len(one.candidates) for one in some] == [8, 8, 8]
    assert all(one.target in one.candidates for one in some)
    answers: dict[str, Any] = {"understanding": {}, "nli": {}, "summary": {}, "ranker": {"order": [8]}}
    kit = Kit(Settings(home=tmp_path), embedder=embedder, model=ScriptedModel(answers))
    placed = await run_variants(kit, shop, data, some, tmp_path / "out")
    places = {name: [one.place for one in found] for name, found in placed.items()}
    assert {name: len(found) for name, found in places.items()} == dict.fromkeys(VARIANTS, 3)
    asked = [place % 8 + 1 for place in places["numbers"]]
    assert places["full"] == places["without nli"] == asked, "the model put the last one first"
    moved = {name: {one.moved for one in found} for name, found in placed.items()}
    assert moved == {name: {0} if name == "numbers" else {8} for name in VARIANTS}, "all stand one place lower"
    silent = Kit(Settings(home=tmp_path), embedder=embedder, model=ScriptedModel(ModelTimeoutError("asked again")))
    assert await run_variants(silent, shop, data, some, tmp_path / "out") == placed
    kept = tmp_path / "out/data-model.jsonl"
    kept.write_text(kept.read_text(encoding="utf-8") + '{"user": "u', encoding="utf-8")
    assert await run_variants(silent, shop, data, some, tmp_path / "out") == placed, "a torn line is asked again"
    with pytest.raises(ModelTimeoutError):
        await run_variants(silent, shop, data, some, tmp_path / "elsewhere")
    babbling = replace(kit, model=ScriptedModel({**answers, "ranker": {"order": []}}))
    useless = await run_variants(babbling, shop, data, some, tmp_path / "useless")
    assert all(1 <= one.place <= 8 for one in useless["vanilla"])
    assert [all(one.degraded for one in found) for found in useless.values()] == [
        name != "numbers" for name in VARIANTS
    ]
    small = replace(kit, settings=Settings(home=tmp_path, budget_calls=1))
    with pytest.raises(
        UsageError, match=r"budget allows not all agents for u\d+: raise PERSONABLE_BUDGET_TOKENS and _CALLS"
    ):
        await run_variants(small, shop, data, some, tmp_path / "small")
    table = ablation_table("data", placed).splitlines()
    assert table[0].startswith("| data, n = 3 | nDCG@5 |")
    cells = {row.split(" | ")[0].strip("| "): row.strip("| ").split(" | ")[-3:] for row in table[2:]}
    assert cells["full"] == ["0", "4.0", "0"]
    assert cells["vanilla"] == ["0", "1.0", "0"]
    assert cells["numbers"] == ["3", "0.0", "0"]
    assert ablation_table("data", useless).splitlines()[-1].endswith(" | 3 | 0.0 | 0 |")
    assert ablation_table("data", useless).splitlines()[-2].endswith(" | 3 | 1.0 | 3 |")


async def test_candidates_that_the_context_does_not_hold_follow_in_the_order_of_retrieval(tmp_path: Path) -> None:
    data = read_recsys(gift_shop(tmp_path / "data"))
    embedder = make_embedder("hash:64")
    shop = prepare(data, tmp_path / "runs", embedder)
    one = sample(data, 1, 20)[0]
    some = [one.model_copy(update={"user": f"u{at}", "target": row}) for at, row in enumerate(one.candidates)]
    answers: dict[str, Any] = {"understanding": {}, "nli": {}, "summary": {}, "ranker": {"order": [2]}}
    kit = Kit(Settings(home=tmp_path, model_context=1200), embedder=embedder, model=ScriptedModel(answers))
    placed = await run_variants(kit, shop, data, some, tmp_path / "out")
    assert all("of 20 candidates" in str(found.degraded) for found in placed["full"])
    by_number = [found.place for found in placed["numbers"]]
    assert sorted(by_number) == list(range(1, 21))
    swapped = {1: 2, 2: 1}
    assert [found.place for found in placed["full"]] == [swapped.get(place, place) for place in by_number]
    smaller = replace(kit, settings=Settings(home=tmp_path, model_context=1100))
    with pytest.raises(UsageError, match=r"context allows not all agents for u0: raise PERSONABLE_MODEL_CONTEXT"):
        await run_variants(smaller, shop, data, some, tmp_path / "smaller")


def test_a_recording_gives_the_table_of_the_ablations_again_without_the_model(tmp_path: Path) -> None:
    data, out, tape = gift_shop(tmp_path / "data"), tmp_path / "out", tmp_path / "calls.jsonl"
    answers: dict[str, Any] = {"understanding": {}, "nli": {}, "summary": {}, "ranker": {"order": [20]}}
    named = "server:fake"
    settings = Settings(home=tmp_path, model=named)
    model = RecordingModel(ScriptedModel(answers, name=named), tape)
    kit = Kit(settings, embedder=make_embedder("hash:64"), model=model)
    table = asyncio.run(run_ablations(data, out, kit, 3, 20))
    common = ["--data", str(data), "--limit", "3", "--embedder", "hash:64", "--home", str(tmp_path / "home")]
    asked = ["eval", "recsys", *common, "--model", named, "--replay", str(tape), "--out", str(tmp_path / "again")]
    done = CliRunner().invoke(app, asked)
    assert done.exit_code == 0, done.output
    assert table in done.stdout
    assert "| full | " in table


@pytest.mark.parametrize(
    "idle", [["--systems", "bogus"], ["--part", "odd"], ["--workers", "3"], ["--replay", "none.jsonl"]]
)
def test_options_that_do_nothing_here_are_refused(tmp_path: Path, idle: list[str]) -> None:
    done = CliRunner().invoke(app, ["eval", "recsys", "--data", str(tmp_path), "--out", str(tmp_path / "runs"), *idle])
    assert isinstance(done.exception, UsageError)
    assert idle[0] in str(done.exception)


def test_too_few_people_are_told_as_a_fault_of_the_data_set(tmp_path: Path) -> None:
    data = read_recsys(gift_shop(tmp_path / "data", people=9))
    with pytest.raises(DataError, match=r"data is too small to evaluate on, .*: 9 people .* weights need 30") as raised:
        prepare(data, tmp_path / "home", make_embedder("hash:64"))
    assert "record more" not in str(raised.value)


def test_a_folder_whose_name_no_catalogue_can_have_is_named(tmp_path: Path) -> None:
    data = read_recsys(gift_shop(tmp_path / "My Data!"))
    with pytest.raises(UsageError, match=r"My Data! is named as the folder is; rename the folder: "):
        prepare(data, tmp_path / "home", make_embedder("hash:64"))
    assert not (tmp_path / "home").exists()


def test_items_named_by_another_field_are_refused(tmp_path: Path) -> None:
    data = gift_shop(tmp_path)
    records = [json.loads(line) for line in (data / "items.jsonl").read_text(encoding="utf-8").splitlines()]
    write(data, "items", [one | {"asin": f"B{number}"} for number, one in enumerate(records)])
    with pytest.raises(DataError, match="item 'B0' is no number"):
        prepare(read_recsys(data), tmp_path / "home", make_embedder("hash:64"))
