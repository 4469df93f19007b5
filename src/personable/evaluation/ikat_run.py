"""`personable eval ikat-ptkb`: rankers of statements on TREC iKAT 2023, with paired intervals."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np

from personable.errors import UsageError
from personable.evaluation.ikat import Asked, Input, Qrels, asked, read_qrels, read_rewrites, read_topics, topics_file
from personable.evaluation.ikat_runfile import Scores, read_run, statement_run, write_run
from personable.evaluation.lines import whole_lines
from personable.evaluation.made import fingerprint
from personable.evaluation.ranking import rank_scores
from personable.evaluation.statistics import bootstrap, paired_bootstrap
from personable.kit import Kit
from personable.pipelines.conversation import StatementRanker
from personable.pipelines.statement_rankers import DEFAULT, open_statement_ranker
from personable.types import Value

MEASURES = ("nDCG@3", "P@3", "R@3", "RR")
JUDGED = {"NIST": "qrels_ptkb_2023_nist.txt", "organisers": "qrels_ptkb_2023_org.txt"}
SEED = 20231113


class Line(Value):
    """One ranker on one judgement set: means with 95 % intervals over `n` turns, and the paired difference in nDCG@3
    of the line `against`, less this one; None for that line itself."""

    judged: str
    input: str
    ranker: str
    n: int
    values: dict[str, tuple[float, float, float]]
    against: str
    gain: tuple[float, float, float] | None = None


async def run_ikat(
    data: Path,
    names: Sequence[str],
    kit: Kit,
    *,
    kind: Input = "automatic",
    limit: int | None = None,
    out: Path | None = None,
    run: Path | None = None,
    tell: Callable[[str], None] = lambda text: None,
) -> list[Line]:
    """Rank the statements of every judged turn of the 2023 test topics in `data` with each named ranker.

    `limit` takes a fixed random sample of the turns that both sets judge. With `out`, each run is written there in the
    track's layout, and with a model its scores turn by turn, so that a run that stopped goes on. `run` is a run file
    that is scored beside them. Raises what the readers and rankers raise, UsageError for nothing to do.
    """
    if not names and run is None:
        raise UsageError("nothing to evaluate: name rankers with --ranker, or a run file with --run")
    topics = read_topics(topics_file(data, "test"))
    judged = {name: read_qrels(data / file) for name, file in JUDGED.items()}
    chosen = _sample(judged, limit)
    turns = asked(topics, chosen, kind, read_rewrites(data) if kind == "recorded" else None)
    found: dict[str, Scores] = {}
    for name in names:
        ranker = open_statement_ranker(name, kit)
        kept = out / f"{_file(ranker.name, kit)}-{kind}.jsonl" if out is not None and kit.model is not None else None
        tell(f"{ranker.name}: {len(turns)} turns, {kind}")
        found[ranker.name] = await _scores(
            ranker, turns, kept, fingerprint(kit.settings, "converse", kit.model.name if kit.model else "")
        )
        if out is not None:
            made = statement_run(ranker.name, turns, found[ranker.name], manual=kind == "manual")
            write_run(made, out / f"{_file(ranker.name, kit)}-{kind}.json")
    if run is not None:
        read = read_run(run, topics)
        if (read.run_type == "manual") != (kind == "manual"):
            raise UsageError(f"{run} is a {read.run_type} run: score it with --input {read.run_type}")
        found[f"{read.run_name} (file)" if read.run_name in found else read.run_name] = read.scores()
    return _lines(judged, chosen, kind, found)


async def order_run(ranker: StatementRanker, one: Asked) -> dict[str, float]:
    """The scores of one turn as metrics read them: all statements, equal ones in their order."""
    scores = await ranker.scores(one.said, [statement.text for statement in one.statements])
    return _strict({statement.id: score for statement, score in zip(one.statements, scores, strict=True)})


def as_table(lines: Sequence[Line]) -> str:
    """The lines as Markdown tables, one a judgement set."""
    parts = []
    for judged in dict.fromkeys(line.judged for line in lines):
        some = [line for line in lines if line.judged == judged]
        heads = " | ".join(MEASURES)
        title = f"{judged}, {some[0].input}, n = {some[0].n}"
        rows = [f"| {title} | {heads} | {some[0].against} less this, nDCG@3 |", "|---" * (len(MEASURES) + 2) + "|"]
        for line in some:
            cells = [_interval(line.values[name]) for name in MEASURES] + [_interval(line.gain)]
            rows.append(f"| {line.ranker} | {' | '.join(cells)} |")
        parts.append("\n".join(rows))
    return "\n\n".join(parts)


def _sample(judged: Mapping[str, Qrels], limit: int | None) -> list[str]:
    turns = list(dict.fromkeys(turn for qrels in judged.values() for turn in qrels))
    if limit is None:
        return turns
    both = [turn for turn in turns if all(turn in qrels for qrels in judged.values())]
    if limit > len(both):
        raise UsageError(f"--limit {limit}: both sets judge {len(both)} turns")
    return [both[at] for at in sorted(np.random.default_rng(SEED).permutation(len(both))[:limit].tolist())]


async def _scores(ranker: StatementRanker, turns: Sequence[Asked], kept: Path | None, made: str) -> Scores:
    """The scores by turn; those that stand in `kept`, `made` alike, are not asked for again, new ones are added."""
    done: Scores = {}
    if kept is not None:
        kept.parent.mkdir(parents=True, exist_ok=True)
        done = {one["turn"]: one["scores"] for one in whole_lines(kept) if one.get("made") == made}
    for one in turns:
        if one.qid in done:
            continue
        given = await ranker.scores(one.said, [statement.text for statement in one.statements])
        done[one.qid] = {statement.id: score for statement, score in zip(one.statements, given, strict=True)}
        if kept is not None:
            with kept.open("a", encoding="utf-8") as file:
                file.write(json.dumps({"turn": one.qid, "scores": done[one.qid], "made": made}) + "\n")
    return {one.qid: done[one.qid] for one in turns}


def _strict(scores: Mapping[str, float]) -> dict[str, float]:
    ranked = sorted(scores, key=lambda id: -scores[id])
    return {id: 1 / place for place, id in enumerate(ranked, 1)}


def _lines(judged: Mapping[str, Qrels], chosen: Sequence[str], kind: str, found: Mapping[str, Scores]) -> list[Line]:
    against = next((name for name in found if name.split(":")[0] == DEFAULT), next(iter(found)))
    lines = []
    for set_, qrels in judged.items():
        part = {turn: qrels[turn] for turn in chosen if turn in qrels}
        measured = {
            name: rank_scores(part, {turn: _strict(one) for turn, one in scores.items()}, MEASURES)
            for name, scores in found.items()
        }
        ours = [measured[against]["nDCG@3"][turn] for turn in part]
        for name, by_measure in measured.items():
            values = {m: bootstrap([by_measure[m][turn] for turn in part])[:3] for m in MEASURES}
            theirs = [by_measure["nDCG@3"][turn] for turn in part]
            gain = None if name == against else paired_bootstrap(ours, theirs)[:3]
            lines.append(
                Line(judged=set_, input=kind, ranker=name, n=len(part), values=values, against=against, gain=gain)
            )
    return lines


def _interval(value: tuple[float, float, float] | None) -> str:
    return "–" if value is None else "{:.3f} [{:.3f}, {:.3f}]".format(*value).replace("0.", ".")


def _file(name: str, kit: Kit) -> str:
    parts = [name] if kit.model is None else [name, Path(kit.model.name).name.removesuffix(".gguf")]
    return "-".join("".join(c if c.isalnum() or c in "+._" else "_" for c in part) for part in parts)
