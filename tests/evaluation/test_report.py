import base64
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from personable.errors import ConfigurationError, NotFoundError, UsageError
from personable.evaluation.commands import Questions, choose, evaluate, report
from personable.evaluation.datasets import Row
from personable.evaluation.outcome import Outcome, System
from personable.evaluation.run import Progress
from personable.types import Tokens

SAMPLE = Path(__file__).parent.parent / "data" / "openqa"


async def first_passage(row: Row, kit: None) -> Outcome:
    return Outcome(
        answer=row.passages[0].text[:200], passages=row.passages, tokens=Tokens(prompt=100), calls=1, seconds=0.5
    )


async def silent(row: Row, kit: None) -> Outcome:
    if row.index == 46:
        raise ValueError("no | <idea>")
    return Outcome(seconds=0.1)


SYSTEMS: dict[str, System[None]] = {"vanilla_rag": first_passage, "silent": silent}


async def evaluated(
    out: Path, settings: dict[str, object] | None = None, **chosen: object
) -> list[tuple[str, Progress]]:
    steps: list[tuple[str, Progress]] = []
    questions = Questions(dataset="nq", **chosen)  # type: ignore[arg-type]
    await evaluate(
        questions,
        SYSTEMS,
        None,
        data=SAMPLE,
        out=out,
        model="none",
        settings=settings or {},  # type: ignore[arg-type]
        progress=lambda name, step: steps.append((name, step)),
    )
    return steps


async def test_each_system_has_its_folder_and_its_progress(tmp_path: Path) -> None:
    steps = await evaluated(tmp_path)
    assert sorted(path.parent.name for path in tmp_path.rglob("results.jsonl")) == ["silent", "vanilla_rag"]
    assert [name for name, step in steps if step.done == step.total] == ["vanilla_rag", "silent"]


async def test_parts_and_limits_have_their_own_folders(tmp_path: Path) -> None:
    await evaluated(tmp_path)
    await evaluated(tmp_path, topk=5, part="even", limit=2)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["nq-top3", "nq-top5-even-first2"]


async def test_other_settings_are_refused(tmp_path: Path) -> None:
    await evaluated(tmp_path, {"prompts": "a"})
    with pytest.raises(ConfigurationError, match=r"settings\.prompts: 'a' there, 'b' now"):
        await evaluated(tmp_path, {"prompts": "b"})


async def test_an_unknown_data_set_or_system_lists_what_there_is(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="'squad'; there are nq, triviaqa, webq, beir and openqa-logs"):
        Questions(dataset="squad").read(SAMPLE)
    with pytest.raises(UsageError, match="'magic'; there are vanilla_rag, silent"):
        choose(["silent", "magic"], SYSTEMS)
    assert list(choose(["silent"], SYSTEMS)) == ["silent"]


@pytest.mark.slow
async def test_the_markdown_report_has_figures_tests_cost_and_failures(tmp_path: Path) -> None:
    await evaluated(tmp_path / "runs")
    text = report([tmp_path / "runs"], tmp_path / "report").markdown.read_text()
    rows = {tuple(cell.strip() for cell in line.split(" | ")[:4]) for line in text.splitlines()}
    assert "## nq top-3" in text
    assert ("| vanilla_rag", "none", "6", "0") in rows
    assert ("| silent", "none", "6", "1") in rows
    assert "**Accuracy: against vanilla_rag, question by question**" in text
    assert re.search(
        r"\| silent \| 6 \| -\d+\.\d \[-\d+\.\d, [-+]\d+\.\d\] \| 0 \| \d \| \d \| \S+ \| McNemar \| 0\.0 \|", text
    )
    assert "| vanilla_rag | 1.0 | 0 | 600 | 0 | 0 | 100 | 0.50 |" in text
    assert r"| silent | nq-0046 | ValueError: no \| <idea> |" in text


@pytest.mark.slow
async def test_the_page_holds_its_plots_and_needs_nothing_else(tmp_path: Path) -> None:
    await evaluated(tmp_path / "runs")
    page = report([tmp_path / "runs"], tmp_path / "report").html.read_text()
    sources = re.findall(r'src="([^"]*)"', page)
    assert len(sources) == 2
    for source in sources:
        kind, data = source.split(",", 1)
        assert kind == "data:image/svg+xml;base64"
        assert ElementTree.fromstring(base64.b64decode(data)).tag.endswith("svg")
    assert not re.search(r'(href|src)="(?!data:)|@import|<script', page)
    assert "no | &lt;idea&gt;" in page


@pytest.mark.slow
async def test_the_same_runs_give_the_same_report(tmp_path: Path) -> None:
    await evaluated(tmp_path / "runs")
    first, second = (report([tmp_path / "runs"], tmp_path / name) for name in ("one", "two"))
    assert first.html.read_bytes() == second.html.read_bytes()
    assert first.markdown.read_bytes() == second.markdown.read_bytes()


@pytest.mark.slow
async def test_an_unfinished_run_is_marked(tmp_path: Path) -> None:
    await evaluated(tmp_path / "runs")
    results = next((tmp_path / "runs").rglob("silent/results.jsonl"))
    results.write_text("".join(results.read_text().splitlines(keepends=True)[:4]))
    text = report([tmp_path / "runs"], tmp_path / "report").markdown.read_text()
    assert "silent is not at its end: 4 of 6 questions asked." in text


def test_a_folder_without_runs_says_how_to_make_one(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="personable eval"):
        report([tmp_path], tmp_path / "report")
