import asyncio
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from personable.errors import ConfigurationError, DataError, ModelRefusedError, ModelTimeoutError, UsageError
from personable.evaluation.datasets import Row
from personable.evaluation.outcome import Outcome
from personable.evaluation.run import Progress, run
from personable.evaluation.runfile import RunFile, comparable, read_records, runs_under
from tests.evaluation import scripted_run
from tests.evaluation.scripted_run import ROWS, identity, parity

SCRIPT = Path(scripted_run.__file__)


async def whole(folder: Path, workers: int = 1) -> RunFile:
    file = RunFile.open(folder, identity())
    await run(parity, 0.0, ROWS, file, workers=workers)
    return file


async def test_every_question_gets_a_line_sorted_by_id(tmp_path: Path) -> None:
    await whole(tmp_path, workers=8)
    lines = (tmp_path / "results.jsonl").read_text().splitlines()
    assert [line.split('"')[3] for line in lines] == [row.id for row in ROWS]


async def test_a_failed_question_is_recorded_and_stays(tmp_path: Path) -> None:
    file = RunFile.open(tmp_path, identity())
    summary = await run(parity, 0.0, ROWS, file)
    assert summary == (40, 40, 1)
    assert read_records(tmp_path)["q-07"].outcome.error == "ModelTimeoutError: seven takes for ever"
    assert await run(parity, 0.0, ROWS, RunFile.open(tmp_path, identity())) == (40, 0, 1)


async def test_failures_are_asked_again_only_when_wanted(tmp_path: Path) -> None:
    await whole(tmp_path)
    asked = []

    async def mended(row: Row, kit: None) -> Outcome:
        asked.append(row.id)
        return Outcome(answer="odd")

    assert await run(mended, None, ROWS, RunFile.open(tmp_path, identity()), retry_failed=True) == (40, 1, 0)
    assert asked == ["q-07"]
    assert read_records(tmp_path)["q-07"].outcome.answer == "odd"
    assert len(read_records(tmp_path)) == 40


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 4])
def test_killed_in_the_middle_and_resumed_the_file_is_the_same(tmp_path: Path, workers: int) -> None:
    folder = tmp_path / "killed"
    command = [sys.executable, str(SCRIPT), str(folder), str(workers)]
    process = subprocess.Popen([*command, "0.05"])
    _wait_for_lines(folder, 5)
    os.kill(process.pid, signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    before = {id: record.outcome.seconds for id, record in read_records(folder).items()}
    assert 5 <= len(before) < 40

    subprocess.run([*command, "0"], check=True)
    asyncio.run(whole(tmp_path / "whole"))
    assert comparable(folder) == comparable(tmp_path / "whole")
    after = {id: record.outcome.seconds for id, record in read_records(folder).items()}
    assert before.items() <= after.items()  # what was answered was not asked again


async def test_a_torn_last_line_is_cut_off_and_asked_again(tmp_path: Path) -> None:
    await whole(tmp_path / "whole")
    torn = await whole(tmp_path / "torn")
    content = torn.results.read_bytes()
    for cut in (1, 20, len(content.splitlines()[-1])):
        torn.results.write_bytes(content[:-cut])
        assert "q-39" not in read_records(tmp_path / "torn")
        file = RunFile.open(tmp_path / "torn", identity())
        assert await run(parity, 0.0, ROWS, file) == (40, 1, 1)
        assert comparable(tmp_path / "torn") == comparable(tmp_path / "whole")


async def test_damage_in_the_middle_names_file_and_line(tmp_path: Path) -> None:
    file = await whole(tmp_path)
    lines = file.results.read_text().splitlines()
    file.results.write_text("\n".join([lines[0], lines[1][:30], *lines[2:]]) + "\n")
    with pytest.raises(DataError, match=r"results\.jsonl:2: "):
        RunFile.open(tmp_path, identity())


@pytest.mark.parametrize(
    ("other", "says"),
    [
        (identity(system="other"), "system: 'scripted' there, 'other' now"),
        (identity(model="gpt"), "model: 'none' there, 'gpt' now"),
        (identity(budget="2"), "settings.budget: None there, '2' now"),
        (identity().model_copy(update={"digest": "00"}), "digest: "),
    ],
)
async def test_a_run_of_something_else_is_not_gone_on_with(tmp_path: Path, other: object, says: str) -> None:
    file = await whole(tmp_path)
    content = file.results.read_bytes()
    with pytest.raises(ConfigurationError) as error:
        RunFile.open(tmp_path, other)  # type: ignore[arg-type]
    assert says in str(error.value)
    assert file.results.read_bytes() == content


async def test_results_of_an_unknown_run_are_left_alone(tmp_path: Path) -> None:
    await whole(tmp_path)
    (tmp_path / "run.json").unlink()
    with pytest.raises(DataError, match=r"no run\.json"):
        RunFile.open(tmp_path, identity())


@pytest.mark.parametrize("error", [ModelRefusedError("wrong key"), ConfigurationError("no model")])
@pytest.mark.parametrize("grouped", [False, True])
async def test_what_no_question_survives_stops_the_run_and_keeps_the_rest(
    tmp_path: Path, error: Exception, grouped: bool
) -> None:
    async def system(row: Row, kit: None) -> Outcome:
        if row.index == 5:
            raise ExceptionGroup("agents", [ValueError(), error]) if grouped else error
        return Outcome(answer="x")

    with pytest.raises(type(error)):
        await run(system, None, ROWS, RunFile.open(tmp_path, identity()))
    assert sorted(read_records(tmp_path)) == [f"q-0{i}" for i in range(5)]


@pytest.mark.parametrize(
    "answer",
    [
        lambda: 1 / 0,
        lambda: {}["x"],
        lambda: Outcome(scores={"a": float("nan")}),
        lambda: Outcome(answer="\ud800"),
        lambda: _raise(ExceptionGroup("agents", [ModelTimeoutError("slow"), ValueError("odd")])),
    ],
)
async def test_a_fault_that_one_question_brings_about_is_its_failure(tmp_path: Path, answer) -> None:  # type: ignore[no-untyped-def]
    async def system(row: Row, kit: None) -> Outcome:
        return answer() if row.index == 3 else Outcome(answer="x")

    assert await run(system, None, ROWS, RunFile.open(tmp_path, identity())) == (40, 40, 1)
    assert read_records(tmp_path)["q-03"].failed


async def test_no_more_than_the_workers_are_under_way(tmp_path: Path) -> None:
    now = most = 0

    async def system(row: Row, kit: None) -> Outcome:
        nonlocal now, most
        now += 1
        most = max(most, now)
        await asyncio.sleep(0.001)
        now -= 1
        return Outcome()

    await run(system, None, ROWS, RunFile.open(tmp_path, identity()), workers=3)
    assert most == 3


async def test_progress_counts_what_an_earlier_session_did(tmp_path: Path) -> None:
    await run(parity, 0.0, ROWS[:10], RunFile.open(tmp_path, identity()))
    steps: list[Progress] = []
    await run(parity, 0.0, ROWS, RunFile.open(tmp_path, identity()), progress=steps.append)
    assert (steps[0].done, steps[0].total, steps[0].failed, steps[0].left) == (10, 40, 1, None)
    assert [step.done for step in steps] == list(range(10, 41))
    assert steps[-1].left == 0


async def test_fewer_than_one_worker_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="0 workers"):
        await run(parity, 0.0, ROWS, RunFile.open(tmp_path, identity()), workers=0)


async def test_two_processes_on_one_run_lose_nothing(tmp_path: Path) -> None:
    first, second = RunFile.open(tmp_path, identity()), RunFile.open(tmp_path, identity())
    await run(parity, 0.0, ROWS[:20], first)
    await run(parity, 0.0, ROWS[20:], second)
    assert len(read_records(tmp_path)) == 40


async def test_runs_are_found_below_a_folder_once(tmp_path: Path) -> None:
    await whole(tmp_path / "a" / "b")
    assert [run.folder for run in runs_under([tmp_path, tmp_path / "a"])] == [tmp_path / "a" / "b"]
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match="no runs under"):
        runs_under([tmp_path / "empty"])


def _wait_for_lines(folder: Path, count: int) -> None:
    results, deadline = folder / "results.jsonl", time.monotonic() + 60
    while not results.is_file() or results.read_bytes().count(b"\n") < count:
        assert time.monotonic() < deadline, "the run wrote nothing in a minute"
        time.sleep(0.005)


def _raise(error: Exception) -> Outcome:
    raise error
