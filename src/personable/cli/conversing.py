"""The parts of `eval` that are about conversations: statements, passages and responses of TREC iKAT, and the judge."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast, get_args

from personable.cli.options import print_json

if TYPE_CHECKING:
    from personable.settings import Settings


class How(NamedTuple):
    """What `eval` was told: `names` are systems or strategies, `rankers` a list with commas, `run` a run file."""

    dataset: str
    names: list[str]
    data: Path
    out: Path
    limit: int | None
    part: str
    topk: int
    split: str
    workers: int
    retry_failed: bool
    bodies: bool
    record: Path | None
    replay: Path | None
    rankers: str
    input: str
    run: Path | None
    json: bool


async def _statements(conf: Settings, how: How) -> None:
    from rich.console import Console

    from personable.errors import UsageError
    from personable.evaluation.ikat import Input
    from personable.evaluation.ikat_run import as_table, run_ikat
    from personable.evaluation.recording import open_recording

    if how.input not in get_args(Input):
        raise UsageError(f"--input {how.input}: it is automatic, manual or recorded")
    names = [name for name in how.rankers.split(",") if name]
    kind = cast(Input, how.input)
    async with await open_recording(conf, how.record, how.replay) as kit:
        tell = Console(stderr=True, quiet=how.json).print
        lines = await run_ikat(how.data, names, kit, kind=kind, limit=how.limit, out=how.out, run=how.run, tell=tell)
    if how.json:
        print_json({"lines": [line.model_dump(mode="json") for line in lines]})
    else:
        print(as_table(lines))


async def _passages(conf: Settings, how: How) -> None:
    from rich.console import Console

    from personable.evaluation.ikat_passages import run_ikat_passages
    from personable.evaluation.passages import make_bench
    from personable.evaluation.recording import open_recording

    async with await open_recording(conf, how.record, how.replay) as kit:
        bench = make_bench(kit.model, conf.reranker, how.out)
        print(await run_ikat_passages(kit, bench, how.names, how.data, how.out, Console(stderr=True).print))


async def _responses(conf: Settings, how: How) -> None:
    from rich.console import Console

    from personable.evaluation.ikat_responses import run_ikat_responses
    from personable.evaluation.recording import open_recording
    from personable.kit import open_model

    async with await open_recording(conf, how.record, how.replay) as kit:
        judge = open_model(conf, conf.judge_model) if conf.judge_model else kit.model
        print(await run_ikat_responses(kit, judge, how.data, how.out, Console(stderr=True).print))


async def _judge(conf: Settings, how: How) -> None:
    from personable.errors import UsageError
    from personable.evaluation.datasets import read_openqa
    from personable.evaluation.judging import construct, try_judge
    from personable.kit import open_model

    if how.record or how.replay:
        raise UsageError("eval judge asks its model anew each time: leave out --record and --replay")
    model = open_model(conf, conf.judge_model or conf.model)
    rows = [row for name in how.names or ["nq"] for row in read_openqa(how.data, name, 3)[: how.limit]]
    try:
        print(await try_judge(model, construct(rows)))
    finally:
        if model is not None:
            await model.close()


EVALUATIONS: dict[str, Callable[[Settings, How], Coroutine[Any, Any, None]]] = {
    "ikat-ptkb": _statements,
    "ikat-passages": _passages,
    "ikat-responses": _responses,
    "judge": _judge,
}
TABLES = ("ikat-passages", "ikat-responses", "judge")
"""Those that print a table and nothing else."""
