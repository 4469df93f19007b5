"""Passage ranking on TREC iKAT, for who has the licensed passage text (ClueWeb22): `personable eval ikat-passages`.

Topics and statements are read as `ikat` reads them. Beside them in the folder: `passages.jsonl` with the passages, one
`{id, contents}` or `{id, text}` a line, and `qrels_passages.txt` with the judgements in TREC's layout.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal, get_args

from pydantic import AliasChoices, BaseModel, Field

from personable.board import Board
from personable.embed import Embedder
from personable.errors import UsageError
from personable.evaluation.datasets import Filled
from personable.evaluation.ikat import Asked, asked, read_qrels, read_topics, topics_file
from personable.evaluation.ikat_runfile import Passage as Ranked
from personable.evaluation.ikat_runfile import Response, Run, RunTurn, write_run
from personable.evaluation.lines import find, read_lines, refuse_duplicate
from personable.evaluation.passages import STRATEGIES, Bench, make_ranker
from personable.evaluation.ranking import rank_scores
from personable.evaluation.statistics import Interval, bootstrap, paired_bootstrap
from personable.kit import Kit
from personable.notes import PortraitNote
from personable.pipelines.converse import DEPTH
from personable.pipelines.finding import find as find_passages
from personable.pipelines.gate import gate
from personable.pipelines.passage_ranking import asked as query_of
from personable.pipelines.rewriting import by_rules
from personable.retrieval.hybrid import HybridRetriever, SparseRetriever
from personable.retrieval.store import PassageStore
from personable.types import Hit, Passage, Question, Used

MEASURES = ("nDCG@3", "nDCG@5", "P@3", "RR", "R@100")
DEFAULT = "default"
Kind = Literal["automatic", "manual"]
KINDS: tuple[Kind, ...] = get_args(Kind)
"""Automatic runs read what the person said, rewritten by rules; manual ones a human's rewrite. Never compared."""
HOW = "It holds one passage a line, {id, contents}; the track's passage text needs a licence from its owner."
_COMMIT = 1000


class _Line(BaseModel):
    id: Filled
    text: str = Field(validation_alias=AliasChoices("contents", "text"))


Found = dict[str, list[Hit]]
"""Turn → its passages, best first."""


def index(data: Path, folder: Path, embedder: Embedder | None) -> PassageStore:
    """The passages of `data` as a collection in `folder`, each kept whole under the track's id; unchanged ones stay.

    Raises NotFoundError without the file, DataError for a malformed line or a repeated id.
    """
    path = find(data, "passages.jsonl", HOW)
    store = PassageStore(folder, embedder=embedder, write=True)
    known, seen = store.documents(), dict[str, int]()
    for number, line in read_lines(path, _Line):
        refuse_duplicate(seen, line.id, path, number)
        digest = hashlib.sha256(line.text.encode("utf-8", "replace")).hexdigest()
        if known.get(line.id) != digest:
            store.put(line.id, digest, [Passage(id=line.id, text=line.text)])
        if number % _COMMIT == 0:
            store.commit()
    for gone in known.keys() - seen.keys():
        store.drop(gone)
    store.commit()
    return store


async def run_ikat_passages(
    kit: Kit,
    bench: Bench,
    names: Sequence[str],
    data: Path,
    out: Path,
    tell: Callable[[str], None] = lambda text: None,
) -> str:
    """Rank the judged turns by each strategy, automatic and manual apart; write run files into `out`, return tables.

    The default fuses the personal lists by the gate's strength; the published strategies order the plain rewrite's
    `DEPTH` passages. Raises UsageError for an unknown strategy and what reading, indexing and models raise.
    """
    unknown = [name for name in names if name not in STRATEGIES]
    if unknown:
        raise UsageError(f"no strategy {unknown[0]!r}; there are {', '.join(STRATEGIES)}")
    names = list(dict.fromkeys([DEFAULT, *names]))
    topics, qrels = read_topics(topics_file(data, "test")), read_qrels(find(data, "qrels_passages.txt", HOW))
    store = await asyncio.to_thread(index, data, out / "collection", kit.embedder)
    tables = []
    with store:
        retriever = HybridRetriever(store, kit.embedder) if kit.embedder else SparseRetriever(store)
        kit = replace(kit, retriever=retriever, store=None, reranker=None)
        for kind in KINDS:
            turns, runs = asked(topics, list(qrels), kind), dict[str, Found]()
            for name in names:
                tell(f"{kind}: {name} over {len(turns)} turns")
                runs[name] = {one.qid: await _ranked(kit, bench, name, one) for one in turns}
                write_run(passage_run(f"personable-{name}", runs[name], kind), out / f"{kind}-{name}.json")
            tables.append(_table(kind, qrels, runs))
    return "\n\n".join(tables)


def passage_run(name: str, turns: Mapping[str, Sequence[Hit]], kind: Kind) -> Run:
    """A run that ranks passages and says nothing: one response a turn, without text."""
    return Run(
        run_name=name,
        run_type=kind,
        turns=tuple(
            RunTurn(turn_id=turn, responses=(Response(rank=1, passage_provenance=tuple(map(_line, hits))),))
            for turn, hits in turns.items()
        ),
    )


def _line(hit: Hit) -> Ranked:
    return Ranked(id=hit.passage.id, text=hit.passage.text, score=hit.score)


async def _ranked(kit: Kit, bench: Bench, name: str, one: Asked) -> list[Hit]:
    said = one.said
    if not said.rewrite:
        said = said.model_copy(update={"rewrite": by_rules(said.text, said.turns, kit.language)})
    statements = await _statements(kit, query_of(said), one)
    ranker = make_ranker(name, bench, bench.model)
    if name != DEFAULT:
        assert kit.retriever is not None
        return await ranker.rank(said, [s.text for s in statements], await kit.retriever.search(query_of(said), DEPTH))
    portrait = PortraitNote(known=bool(statements), dial="auto", statements=statements)
    strength = gate(said.text, portrait).strength
    found, _ = await find_passages(kit, Question(text=query_of(said)), portrait, strength, Board(), DEPTH)
    return (await ranker.rank(said, [s.text for s in statements], found))[:DEPTH]


async def _statements(kit: Kit, query: str, one: Asked) -> list[Used]:
    """The statements, nearest to the query first; in their own order where no embedder compares them."""
    texts = [statement.text for statement in one.statements]
    near = [0.0] * len(texts) if kit.embedder is None else (await asyncio.to_thread(kit.similar, query, texts)).tolist()
    used = [
        Used(statement=statement.id, text=statement.text, score=max(0.0, score))
        for statement, score in zip(one.statements, near, strict=True)
    ]
    return sorted(used, key=lambda statement: -statement.score)


def _table(kind: Kind, qrels: Mapping[str, Mapping[str, int]], runs: Mapping[str, Found]) -> str:
    """Means with 95 % intervals over the judged turns, and the default less each strategy, paired, in nDCG@3."""
    scored = {
        name: rank_scores(qrels, {turn: {h.passage.id: h.score for h in hits} for turn, hits in run.items()}, MEASURES)
        for name, run in runs.items()
    }
    head = [f"{kind}, n = {len(qrels)}", *MEASURES, "default less this, nDCG@3"]
    rows = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    ours = scored[DEFAULT][MEASURES[0]]
    for name, values in scored.items():
        cells = [_cell(bootstrap([values[measure][turn] for turn in qrels])) for measure in MEASURES]
        theirs = values[MEASURES[0]]
        gain = paired_bootstrap([ours[turn] for turn in qrels], [theirs[turn] for turn in qrels])
        rows.append(f"| {' | '.join([name, *cells, '–' if name == DEFAULT else _cell(gain)])} |")
    return "\n".join(rows)


def _cell(value: Interval) -> str:
    return f"{value.mean:.3f} [{value.low:.3f}, {value.high:.3f}]".replace("0.", ".")
