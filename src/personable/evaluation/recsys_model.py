"""The ablations of ARAG with a language model: a few people, a few candidates, every variant over the same ones.

Each answer is a line of `<out>/<data set>-model.jsonl`, so a run that stopped goes on; lines made by another model, or
with other settings or prompts, stay there and count for nothing.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from personable.board import Board
from personable.errors import UsageError
from personable.evaluation.lines import whole_lines
from personable.evaluation.made import fingerprint
from personable.evaluation.recsys import DEPTH, Instance, RecSys
from personable.evaluation.statistics import bootstrap, paired_bootstrap
from personable.evaluation.working import OneAtATime, for_each
from personable.kit import Kit
from personable.notes import Candidate, CandidatesNote, Deed, DeedsNote, RankingNote
from personable.pipelines.budget import Budget
from personable.pipelines.candidates import given
from personable.pipelines.deeds import Known
from personable.pipelines.recommend import rank
from personable.pipelines.shop import Shop

VARIANTS: dict[str, frozenset[str]] = {
    "without nli and summary": frozenset({"nli", "summary", "understanding"}),
    "without nli": frozenset({"nli"}),
    "full": frozenset(),
    "vanilla": frozenset({"nli", "summary", "understanding"}),
    "numbers": frozenset(),
}
"""What each leaves out. `vanilla` is vanilla RAG: candidates in the order of embedding similarity, and one call that
ranks them; `numbers` asks no model at all."""
SEED = 20250621


class Placed(NamedTuple):
    """Where the target stands, how many candidates left the place that retrieval gave them, the calls that this took,
    and what was done without the model, in words."""

    place: int
    moved: int
    calls: int
    degraded: list[str]


def sample(data: RecSys, people: int, candidates: int) -> list[Instance]:
    """`people` random instances, each with its target and the first `candidates` - 1 negatives, in their order."""
    if candidates < 2:
        raise UsageError("ranking needs at least 2 candidates")
    chosen = np.random.default_rng(SEED).permutation(len(data.instances))[:people]
    return [_cut(data.instances[at], candidates) for at in sorted(chosen.tolist())]


def _cut(one: Instance, count: int) -> Instance:
    negatives = [row for row in one.candidates if row != one.target][: count - 1]
    kept = {one.target, *negatives}
    return one.model_copy(update={"candidates": tuple(row for row in one.candidates if row in kept)})


async def run_variants(
    kit: Kit,
    shop: Shop,
    data: RecSys,
    instances: Sequence[Instance],
    out: Path,
    tell: Callable[[str], None] = lambda text: None,
) -> dict[str, list[Placed]]:
    """What came out for each instance under each of `VARIANTS`; what `out` holds already is not asked again.

    Raises ModelError where the model gives no answer: a stand-in's would be counted as the model's. Where its answer is
    of no use the stand-in's place counts, and the line says so (`degraded`).
    """
    out.mkdir(parents=True, exist_ok=True)
    path = out / f"{data.name}-model.jsonl"
    asked = kit.agents_model or kit.model
    model = asked.name if asked else "numbers"
    made = fingerprint(kit.settings, "recommend", model)
    done = _read(path, made)
    ended = 0

    async def ask(one: Instance) -> None:
        nonlocal ended
        own = replace(kit, agents_model=OneAtATime(asked)) if asked else kit
        for name, without in VARIANTS.items():
            key = (one.user, name, len(one.candidates))
            if key not in done:
                placed = await _place(own, shop, one, name, without)
                line = {"user": one.user, "variant": name, "candidates": len(one.candidates), "made": made}
                with path.open("a", encoding="utf-8") as file:
                    file.write(json.dumps({**line, **placed._asdict()}) + "\n")
                done[key] = placed
        ended += 1
        tell(f"{data.name}: {ended} of {len(instances)} people")

    await for_each(instances, ask, asked.concurrency if asked else 1)
    return {name: [done[one.user, name, len(one.candidates)] for one in instances] for name in VARIANTS}


def ablation_table(name: str, placed: dict[str, list[Placed]]) -> str:
    """Means with 95 % intervals, the paired differences to vanilla, how often the order of retrieval stayed as it was,
    how many calls a person took, and for how many an agent's answer was of no use; as a Markdown table."""
    measures = "nDCG@5 | Hit@5 | less vanilla, nDCG@5 | order kept | calls | of no use"
    rows = [f"| {name}, n = {len(placed['full'])} | {measures} |", f"|{'---|' * 7}"]
    base = [ndcg(one.place) for one in placed["vanilla"]]
    for variant, found in placed.items():
        gains = [ndcg(one.place) for one in found]
        values = (
            bootstrap(gains),
            bootstrap([float(one.place <= DEPTH) for one in found]),
            paired_bootstrap(gains, base),
        )
        kept, lost = sum(not one.moved for one in found), sum(bool(one.degraded) for one in found)
        cells = [f"{value.mean:.3f} [{value.low:.3f}, {value.high:.3f}]" for value in values]
        cells += [str(kept), f"{sum(one.calls for one in found) / len(found):.1f}", str(lost)]
        rows.append(f"| {variant} | {' | '.join(cells)} |")
    return "\n".join(rows)


def ndcg(place: int) -> float:
    """nDCG@5 of one relevant item at `place`, from 1."""
    return float(1 / np.log2(place + 1)) if place <= DEPTH else 0.0


async def _place(kit: Kit, shop: Shop, one: Instance, name: str, without: frozenset[str]) -> Placed:
    note = DeedsNote(history=_deeds(shop, one.history), session=_deeds(shop, one.session))
    candidates = given(shop, note, one.candidates)
    if name == "vanilla":
        candidates = _by_meaning(shop, one, candidates)
    if name == "numbers":
        kit = replace(kit, model=None, agents_model=None)
    board = Board()
    known = Known(note, board.post("person", note).id)
    board.post("retriever", candidates)
    crew = await rank(kit, known, candidates, board, Budget.of(kit.settings), without, strict=True)
    if kit.agents_model is not None and crew.plan != "separate":
        what, setting = "budget", "PERSONABLE_BUDGET_TOKENS and _CALLS"
        if crew.desk is None:  # nothing that could be told to a model was left
            what, setting = "model's context", "PERSONABLE_MODEL_CONTEXT"
        raise UsageError(f"the {what} allows not all agents for {one.user}: raise {setting}")
    ranking = board.latest(RankingNote)
    assert ranking is not None
    read = [candidates.found[number - 1] for number in ranking.order]
    order = [found.item for found in (*read, *candidates.found[len(read) :])]
    moved = sum(number != place for place, number in enumerate(ranking.order, 1))
    return Placed(order.index(shop.items[one.target].id) + 1, moved, board.calls, list(crew.degraded))


def _deeds(shop: Shop, rows: Sequence[int]) -> list[Deed]:
    return [
        Deed(event=str(place), what="bought", item=shop.items[row].id, title=shop.items[row].title, worth=1.0)
        for place, row in enumerate(rows)
    ]


def _by_meaning(shop: Shop, one: Instance, note: CandidatesNote) -> CandidatesNote:
    from personable.evaluation.recsys_baselines import vanilla

    scores = vanilla(shop.shelf, one)

    def score(found: Candidate) -> float:
        return float(scores[shop.rows[found.item]])

    found = [c.model_copy(update={"score": score(c)}) for c in sorted(note.found, key=score, reverse=True)]
    return note.model_copy(update={"found": found})


def _read(path: Path, made: str) -> dict[tuple[str, str, int], Placed]:
    return {
        (one["user"], one["variant"], one["candidates"]): Placed(*(one[name] for name in Placed._fields))
        for one in whole_lines(path)
        if one.get("made") == made
    }
