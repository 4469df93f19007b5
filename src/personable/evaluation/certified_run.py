"""`personable eval certified`: finding certified documents for consumers' messages, against judged cards."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from personable.errors import ConfigurationError
from personable.evaluation.certified_fit import as_run, fit, left_out
from personable.evaluation.hydocs import Hydocs, similarities, write_hydocs
from personable.evaluation.liveqa import Consumer, LiveQA, index_cards, read_liveqa
from personable.evaluation.ranking import rank_scores
from personable.evaluation.statistics import bootstrap, paired_bootstrap
from personable.kit import Kit
from personable.pipelines.certified_finding import RERANKED, by_hydoc, ranked, sources
from personable.pipelines.certify_agents import is_evaluative
from personable.retrieval.cards import FITTED, Cards, open_cards
from personable.retrieval.certifying import TITLE, WHOLE
from personable.retrieval.report import IndexOptions
from personable.types import Hit, Value

MEASURES = ("nDCG@10", "P@3", "R@50", "RR")
BASELINE = "BM25, questions: message"
DEFAULT = "default: subject + message"
Run = Mapping[str, Mapping[str, float]]
Bounds = tuple[float, float, float]
"""Mean and its 95 % interval."""


class Row(Value):
    """One system: means with 95 % intervals, paired gains over `BASELINE` (None: itself), how much of the first ten was
    judged, the measures on condensed lists (unjudged cards taken out), and P@3 for evaluative questions."""

    system: str
    n: int
    measures: dict[str, Bounds]
    gains: dict[str, Bounds] | None
    judged: float
    condensed: dict[str, float]
    evaluative: float


class CertifiedReport(Value):
    """The systems, the similarity of hypothetical documents, and how often nothing was found relevant: among questions
    with a relevant card (`refused`) and without one (`refused_unanswered`). `weights` are the best over all."""

    rows: tuple[Row, ...]
    similarity: dict[str, Bounds]
    refused: float
    refused_unanswered: float
    evaluative: int
    weights: dict[str, float]
    model: str


async def run_certified(
    kit: Kit, data: Path, out: Path, limit: int | None, *, bodies: bool, tell: Callable[[str], None]
) -> CertifiedReport:
    """Evaluate on the data set in `data`; the collection and hypothetical documents are kept under `out`.

    Raises ConfigurationError without an embedder, what reading and indexing raise, and ModelError where a model fails.
    """
    if kit.embedder is None:
        raise ConfigurationError("certified retrieval is evaluated with an embedder: --embedder minilm")
    out.mkdir(parents=True, exist_ok=True)
    known = read_liveqa(data, limit)
    tell(f"{len(known.questions)} questions; indexing {known.cards.name}")
    options = IndexOptions(passage_tokens=kit.settings.passage_tokens, overlap_tokens=kit.settings.overlap_tokens)
    with index_cards(known, out, kit.embedder, options, bodies=bodies) as collection:
        cards = open_cards(collection.store, kit.embedder)
        hydocs = await write_hydocs(kit, cards, known.questions, out, tell)
        runs, candidates = await _runs(kit, cards, known, hydocs, tell)
        near = {name: value[:3] for name, value in similarities(cards, known, hydocs).items()}
        refused = sum(not _bears(cards, one, candidates[one.id]) for one in known.questions) / len(known.questions)
        unanswered = [not _bears(cards, one, _found(cards, one.whole)) for one in known.unanswered]
        model = kit.agents_model or kit.model
        return CertifiedReport(
            rows=_rows(known, runs),
            similarity=near,
            refused=refused,
            refused_unanswered=sum(unanswered) / len(unanswered) if unanswered else 0.0,
            evaluative=sum(is_evaluative(one.whole) for one in known.questions),
            weights=fit(candidates, known.qrels, hydoc=False).values,
            model=model.name if model else "numbers",
        )


def _found(cards: Cards, text: str, hydoc: str = "") -> list[Hit]:
    return cards.candidates(cards.lay.read(text), hydoc)


def _bears(cards: Cards, question: Consumer, hits: Sequence[Hit]) -> bool:
    return bool(sources(cards, cards.lay.read(question.whole), ranked(hits, FITTED)))


async def _runs(
    kit: Kit, cards: Cards, data: LiveQA, hydocs: Hydocs, tell: Callable[[str], None]
) -> tuple[dict[str, Run], dict[str, list[Hit]]]:
    """Every system's run, and the default's candidates."""
    asked = data.questions
    tell("the question as it was written, by an expert, and by words")
    runs: dict[str, Run] = {
        BASELINE: {one.id: cards.wordiest(one.text, [TITLE], 100) for one in asked},
        "BM25, questions: subject + message": {one.id: cards.wordiest(one.whole, [TITLE], 100) for one in asked},
        "BM25, questions: expert's summary": {one.id: cards.wordiest(one.summary, [TITLE], 100) for one in asked},
        "BM25, question + answer: message": {one.id: cards.wordiest(one.text, [WHOLE], 100) for one in asked},
    }
    tell("the default, without and with a hypothetical document")
    message = {one.id: _found(cards, one.text) for one in asked}
    plain = {one.id: _found(cards, one.whole) for one in asked}
    context = hydocs["context"]
    written = {one.id: _found(cards, one.whole, context[one.id]) for one in asked}
    runs["default: message"] = left_out(message, data.qrels)
    runs[DEFAULT] = left_out(plain, data.qrels)
    runs["default, with HyDoc"] = left_out(written, data.qrels, hydoc=True)
    tell("the published pipelines")
    methods = {"zero-shot": hydocs["question"], "cot": context}
    published = {
        name: {one.id: by_hydoc(cards, cards.lay.read(one.whole), texts[one.id]) for one in asked}
        for name, texts in methods.items()
    }
    runs |= {name: {id: as_run(hits) for id, hits in found.items()} for name, found in published.items()}
    if kit.reranker is not None:
        best = {id: [hits_by[document] for document in runs[DEFAULT][id]] for id, hits_by in _by_id(plain).items()}
        for name, found in {DEFAULT: best, **published}.items():
            tell(f"{name}: reading the first {RERANKED} again")
            runs[f"{name}, reranked"] = {
                one.id: as_run(
                    await kit.reranker.rerank(cards.lay.read(one.whole).focus, found[one.id][:RERANKED], 100)
                )
                for one in asked
            }
    return runs, plain


def _by_id(found: Mapping[str, Sequence[Hit]]) -> dict[str, dict[str, Hit]]:
    return {question: {hit.passage.document: hit for hit in hits} for question, hits in found.items()}


def _rows(data: LiveQA, runs: Mapping[str, Run]) -> tuple[Row, ...]:
    values = {name: rank_scores(data.qrels, run, MEASURES) for name, run in runs.items()}
    order = [one.id for one in data.questions]
    evaluative = [one.id for one in data.questions if is_evaluative(one.whole)]
    rows = []
    for name, run in runs.items():
        per = {measure: [values[name][measure][id] for id in order] for measure in MEASURES}
        base = {measure: [values[BASELINE][measure][id] for id in order] for measure in MEASURES}
        gains = {measure: paired_bootstrap(per[measure], base[measure])[:3] for measure in MEASURES}
        condensed = rank_scores(data.qrels, {id: _condensed(run[id], data.qrels[id]) for id in order}, MEASURES)
        first = [values[name]["P@3"][id] for id in evaluative]
        rows.append(
            Row(
                system=name,
                n=len(order),
                measures={measure: bootstrap(per[measure])[:3] for measure in MEASURES},
                gains=None if name == BASELINE else gains,
                judged=sum(_judged(run[id], data.qrels[id]) for id in order) / len(order),
                condensed={measure: sum(condensed[measure].values()) / len(order) for measure in MEASURES},
                evaluative=sum(first) / len(first) if first else 0.0,
            )
        )
    return tuple(rows)


def _condensed(run: Mapping[str, float], grades: Mapping[str, int]) -> dict[str, float]:
    return {card: score for card, score in run.items() if card in grades}


def _judged(run: Mapping[str, float], grades: Mapping[str, int]) -> float:
    first = sorted(run, key=lambda card: -run[card])[:10]
    return sum(card in grades for card in first) / max(len(first), 1)


def as_table(report: CertifiedReport) -> str:
    """The report as Markdown."""
    n = report.rows[0].n
    head = ["system", *MEASURES, *(f"gain {measure}" for measure in MEASURES[:3])]
    lines = [f"n = {n}; HyDocs by {report.model}", "", f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    for row in report.rows:
        gains = [_interval(row.gains[measure]) if row.gains else "–" for measure in MEASURES[:3]]
        lines.append(f"| {' | '.join([row.system, *(_interval(row.measures[one]) for one in MEASURES), *gains])} |")
    head = [
        "system",
        "judged@10",
        *(f"condensed {measure}" for measure in MEASURES),
        f"P@3 evaluative ({report.evaluative})",
    ]
    lines += ["", f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    for row in report.rows:
        cells = [row.judged, *(row.condensed[measure] for measure in MEASURES), row.evaluative]
        lines.append(f"| {row.system} | {' | '.join(f'{value:.3f}'.lstrip('0') for value in cells)} |")
    lines += ["", "| HyDoc written from | cosine with the relevant documents |", "|---|---|"]
    lines += [f"| {name} | {_interval(value)} |" for name, value in report.similarity.items()]
    lines += [
        "",
        f"nothing relevant: {report.refused:.2f} of answered, {report.refused_unanswered:.2f} of unanswered questions",
    ]
    lines += [f"best weights over all: {report.weights}"]
    return "\n".join(lines)


def _interval(value: Bounds) -> str:
    return "{:.3f} [{:.3f}, {:.3f}]".format(*value).replace("0.", ".")
