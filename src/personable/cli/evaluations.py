"""`eval` and `report`."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from personable.cli.conversing import EVALUATIONS, TABLES, How
from personable.cli.options import Embedder, Home, Json, Model, ModelUrl, print_json, run, settings

if TYPE_CHECKING:
    from personable.evaluation.commands import Questions
    from personable.evaluation.run import Progress, Summary
    from personable.settings import Settings

Data = Annotated[Path, typer.Option("--data", help="Folder of the data set.")]


def add_to(app: typer.Typer) -> None:
    """Add the commands of this module."""
    app.command("eval")(evaluate)
    app.command()(report)


def evaluate(
    dataset: Annotated[
        str, typer.Argument(help="nq, triviaqa, webq, beir, recsys, certified, ikat-…, passages-…, judge, openqa-logs.")
    ],
    system: Annotated[list[str] | None, typer.Option("--system", help="A system; may be repeated.")] = None,
    systems: Annotated[str | None, typer.Option("--systems", help="Several systems: A,B,C")] = None,
    data: Data = Path("data"),
    limit: Annotated[int | None, typer.Option(min=1, help="Only the first questions.")] = None,
    part: Annotated[str, typer.Option(help="all, odd or even rows.")] = "all",
    topk: Annotated[int, typer.Option(min=1, max=10, help="Passages of each question.")] = 3,
    split: Annotated[str, typer.Option(help="Of a BEIR folder: which judgements.")] = "test",
    out: Annotated[Path, typer.Option("--out", help="Folder for the runs; a run that stopped goes on.")] = Path("runs"),
    workers: Annotated[int, typer.Option(min=1, max=64, help="Questions at once.")] = 1,
    retry_failed: Annotated[bool, typer.Option("--retry-failed", help="Ask failed questions again.")] = False,
    bodies: Annotated[
        bool, typer.Option("--bodies", help="certified: embed whole cards (an hour), not only their titles.")
    ] = False,
    record: Annotated[Path | None, typer.Option("--record", help="Write each model answer to this file.")] = None,
    replay: Annotated[Path | None, typer.Option("--replay", help="Take model answers from this file only.")] = None,
    ranker: Annotated[str, typer.Option("--ranker", help="ikat-ptkb: rankers of statements, A,B,C")] = "",
    input: Annotated[str, typer.Option("--input", help="ikat-ptkb: automatic, manual or recorded.")] = "automatic",
    run_file: Annotated[Path | None, typer.Option("--run", help="ikat-ptkb: a run to score, too.")] = None,
    json: Json = False,
    model: Model = None,
    model_url: ModelUrl = None,
    embedder: Embedder = None,
    home: Home = None,
) -> None:
    """Run systems over a data set, one line a question; or score the recorded outputs (openqa-logs); or compare
    rankings of items (recsys; with --model the ablations of its agents on --limit people), of passages (passages-nq,
    -triviaqa, -webq, -liveqa, ikat-passages; the systems are strategies) or of a person's statements (ikat-ptkb); or
    respond to conversations (ikat-responses); or try who judges responses on constructed ones (judge); or
    find certified cards for consumers' messages (certified; with --model its hypothetical documents)."""
    from personable.errors import UsageError

    names = [*(system or []), *(systems.split(",") if systems else [])]
    asked = (limit, part, topk, split, workers, retry_failed, bodies, record, replay, ranker, input, run_file, json)
    how = How(dataset, names, data, out, *asked)
    conf = settings(model=model, model_url=model_url, embedder=embedder, home=home)
    ablations = dataset == "recsys" and model is not None
    if dataset == "recsys":
        _takes_all_of(how, ablations)
    if json and (ablations or dataset in TABLES):
        raise UsageError(f"eval {dataset} prints a table only: leave out --json")
    if dataset in EVALUATIONS:
        run(EVALUATIONS[dataset](conf, how))
    elif ablations:
        run(_ablations(conf, how))
    else:
        {"openqa-logs": _logs, "recsys": _recsys, "certified": _certified}.get(dataset, _questions)(conf, how)


def _questions(conf: Settings, how: How) -> None:
    from personable.errors import UsageError
    from personable.evaluation.commands import Questions
    from personable.evaluation.passage_sets import PREFIX, PassageQuestions

    if how.part not in ("all", "odd", "even"):
        raise UsageError(f"--part {how.part}: it is all, odd or even")
    chosen = {"dataset": how.dataset, "topk": how.topk, "part": how.part, "limit": how.limit, "split": how.split}
    kind = PassageQuestions if how.dataset.startswith(PREFIX) else Questions
    questions = kind.model_validate(chosen | {"label": how.data.resolve().name})
    done = run(_evaluate(conf, questions, how, quiet=how.json))
    if how.json:
        print_json({name: summary._asdict() for name, summary in done.items()})
    else:
        for name, summary in done.items():
            print(f"{name}: {summary.questions} questions, {summary.asked} asked now, {summary.failed} failed")
        print(f"personable report {how.out} --out report/ compares them")


def report(
    runs: Annotated[list[Path], typer.Argument(help="Folders of runs.")],
    out: Annotated[Path, typer.Option("--out", help="Where the report is written.")] = Path("report"),
    baseline: Annotated[str | None, typer.Option(help="The system that others are tested against.")] = None,
    json: Json = False,
) -> None:
    """Compare runs: a page and a Markdown file with intervals, paired tests, cost and plots."""
    from personable.evaluation.commands import report as write

    written = write(runs, out, baseline)
    if json:
        print_json({"html": str(written.html), "markdown": str(written.markdown)})
    else:
        print(f"{written.html}\n{written.markdown}")


def _logs(conf: Settings, how: How) -> None:
    from personable.evaluation.commands import cells_json
    from personable.evaluation.logs import logs_report, score_logs

    cells = score_logs(how.data)
    if how.json:
        print_json(cells_json(cells))
    else:
        print(logs_report(cells))


def _takes_all_of(how: How, recorded: bool) -> None:
    """Raises UsageError for options that `eval recsys` has no use for; it records with a model only."""
    from personable.errors import UsageError

    given = {
        "--systems": how.names,
        "--part": how.part != "all",
        "--topk": how.topk != 3,
        "--split": how.split != "test",
        "--workers": how.workers != 1,
        "--retry-failed": how.retry_failed,
        "--bodies": how.bodies,
        "--ranker": how.rankers,
        "--input": how.input != "automatic",
        "--run": how.run,
        "--record or --replay": not recorded and (how.record or how.replay),
    }
    if idle := [name for name, value in given.items() if value]:
        raise UsageError(f"eval recsys has no use for {', '.join(idle)}: leave it out")


def _recsys(conf: Settings, how: How) -> None:
    from rich.console import Console

    from personable.evaluation.recsys_run import as_table, run_recsys
    from personable.kit import open_embedder

    tell = Console(stderr=True, quiet=how.json).print
    report = run_recsys(how.data, how.out, open_embedder(conf), how.limit, tell)
    if how.json:
        print_json(report)
    else:
        print(as_table(report))


def _certified(conf: Settings, how: How) -> None:
    from personable.cli.certifying import evaluate_certified

    run(evaluate_certified(conf, how))


async def _ablations(conf: Settings, how: How) -> None:
    from rich.console import Console

    from personable.evaluation.recording import open_recording
    from personable.evaluation.recsys_run import run_ablations

    async with await open_recording(conf, how.record, how.replay) as kit:
        print(await run_ablations(how.data, how.out, kit, how.limit or 30, 20, Console(stderr=True).print))


async def _evaluate(conf: Settings, questions: Questions, how: How, *, quiet: bool) -> dict[str, Summary]:
    from personable.evaluation.commands import choose
    from personable.evaluation.commands import evaluate as work
    from personable.evaluation.made import answering, prompt_version
    from personable.evaluation.passage_sets import PassageQuestions
    from personable.evaluation.passages import STRATEGIES, make_bench
    from personable.evaluation.recording import open_recording
    from personable.evaluation.retrieval import RETRIEVAL, over_corpus
    from personable.evaluation.systems import SYSTEMS
    from personable.kit import open_people

    async with await open_people(conf) as people:  # so that erasing a person looks there, too
        for written in (how.out / questions.folder, how.record):
            if written is not None:
                await people.register_run(written)
    over, ranked = questions.dataset == "beir", isinstance(questions, PassageQuestions)
    chosen: dict[str, Any] = choose(how.names, STRATEGIES if ranked else RETRIEVAL if over else SYSTEMS)
    kept: dict[str, Any] = {"prompts": prompt_version("answer", "baselines"), **answering(conf)}
    with _Bars(quiet) as show:
        async with AsyncExitStack() as stack:
            parts: Any = await stack.enter_async_context(await open_recording(conf, how.record, how.replay))
            if over:
                corpus = over_corpus(parts, how.data, how.out / questions.folder)
                parts, about = await stack.enter_async_context(corpus)
                kept |= about
            if ranked:
                parts = make_bench(parts.model, conf.reranker, how.out)
                kept |= parts.settings
            return await work(
                questions,
                chosen,
                parts,
                data=how.data,
                out=how.out,
                model=conf.model,
                settings=kept,
                workers=how.workers,
                retry_failed=how.retry_failed,
                progress=show,
            )


class _Bars:
    """A progress bar on standard error, one line a system."""

    def __init__(self, quiet: bool) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
        from rich.progress import Progress as Bar

        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[rate]}"),
        )
        self._bar = Bar(*columns, console=Console(stderr=True), disable=quiet)
        self._tasks: dict[str, Any] = {}

    def __enter__(self) -> Callable[[str, Progress], None]:
        self._bar.start()
        return self._show

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def _show(self, name: str, step: Progress) -> None:
        if name not in self._tasks:
            self._tasks[name] = self._bar.add_task(name, total=step.total, rate="")
        left = f", {step.left:.0f} s left" if step.left is not None else ""
        rate = f"{step.rate:.2f}/s{left}" if step.rate else ""
        self._bar.update(self._tasks[name], completed=step.done, total=step.total, rate=rate)
