"""`personable eval recsys`: the default ranking against baselines, with paired intervals, on recommendation data."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from personable.embed import Embedder
from personable.errors import DataError, NotFoundError, UsageError
from personable.evaluation.recsys import HIT, HOW, NDCG, RecSys, Scorer, measure, read_recsys
from personable.evaluation.recsys_baselines import baselines
from personable.evaluation.recsys_model import ablation_table, run_variants, sample
from personable.evaluation.statistics import bootstrap, paired_bootstrap
from personable.kit import Kit
from personable.pipelines.shop import Shop
from personable.retrieval.catalogue import all_items, fill, read_items
from personable.retrieval.choice import UNFITTED, Fusion, fit
from personable.retrieval.corpus import collection_identity, open_collection
from personable.retrieval.shelf import Context, Shelf, item_terms
from personable.retrieval.visits import Visits
from personable.types import Value

OURS = "recommend"


class Line(Value):
    """One system on one data set and protocol: means with 95 % intervals over `n` people, and the paired differences
    of the default ranking (ours less this one) in nDCG@5 and Hit@5; None for itself."""

    dataset: str
    protocol: str
    system: str
    n: int
    ndcg: tuple[float, float, float]
    hit: tuple[float, float, float]
    ndcg_gain: tuple[float, float, float] | None = None
    hit_gain: tuple[float, float, float] | None = None


class RecsysReport(Value):
    """The lines, and the weights that were fitted for each data set."""

    lines: tuple[Line, ...]
    weights: dict[str, Fusion]


def run_recsys(
    data: Path,
    home: Path,
    embedder: Embedder,
    limit: int | None = None,
    tell: Callable[[str], None] = lambda text: None,
) -> RecsysReport:
    """Evaluate on the data set in `data`, or on each one in a folder below it. Catalogues are kept under `home`.

    Raises NotFoundError where there is no data set, and what reading and indexing raise.
    """
    lines: list[Line] = []
    weights: dict[str, Fusion] = {}
    for folder in _folders(data):
        set_ = read_recsys(folder, limit=limit)
        tell(f"{set_.name}: indexing {set_.count} items")
        shop = prepare(set_, home, embedder)
        shelf, weights[set_.name] = shop.shelf, shop.fusion
        tell(f"{set_.name}: {shop.fusion.verdict}")
        for protocol, measured in _measured(set_, shelf, weights[set_.name], tell).items():
            lines += _lines(set_.name, protocol, measured)
    return RecsysReport(lines=tuple(lines), weights=weights)


def as_table(report: RecsysReport) -> str:
    """The report as Markdown tables, one a data set and protocol."""
    parts = []
    for dataset, protocol in dict.fromkeys((line.dataset, line.protocol) for line in report.lines):
        some = [line for line in report.lines if (line.dataset, line.protocol) == (dataset, protocol)]
        head = f"{dataset}, {protocol}, n = {some[0].n}"
        rows = [f"| {head} | nDCG@5 | Hit@5 | recommend less this, nDCG@5 | Hit@5 |", "|---|---|---|---|---|"]
        for line in some:
            cells = (line.system, *map(_interval, (line.ndcg, line.hit, line.ndcg_gain, line.hit_gain)))
            rows.append(f"| {' | '.join(cells)} |")
        parts.append("\n".join(rows))
    return "\n\n".join(parts)


def _interval(value: tuple[float, float, float] | None) -> str:
    return "–" if value is None else "{:.3f} [{:.3f}, {:.3f}]".format(*value).replace("0.", ".")


def _folders(data: Path) -> list[Path]:
    names = ("instances.jsonl", "instances.jsonl.gz")
    below = sorted(path for path in data.iterdir() if path.is_dir()) if data.is_dir() else []
    found = [folder for folder in (data, *below) if any((folder / name).is_file() for name in names)]
    if not found:
        raise NotFoundError(f"no recommendation data set in {data}. {HOW}")
    return found


async def run_ablations(
    data: Path, home: Path, kit: Kit, people: int, candidates: int, tell: Callable[[str], None] = lambda text: None
) -> str:
    """The ablations with the kit's model on `people` people of each data set; Markdown tables. See `run_variants`."""
    assert kit.embedder is not None
    tables = []
    for folder in _folders(data):
        set_ = read_recsys(folder)
        tell(f"{set_.name}: indexing {set_.count} items")
        shop = prepare(set_, home, kit.embedder)
        places = await run_variants(kit, shop, set_, sample(set_, people, candidates), home, tell)
        tables.append(ablation_table(f"{set_.name}, {candidates} candidates", places))
    return "\n\n".join(tables)


def prepare(data: RecSys, home: Path, embedder: Embedder) -> Shop:
    """The data set's catalogue, kept under `home`, with the weights that `tune` would make of what its people did
    earlier.

    Raises UsageError where the folder's name cannot be a catalogue's, DataError for an item without any text and for
    too few people to learn from, and what reading and indexing raise.
    """
    try:
        collection_identity(home, data.name)
    except UsageError as error:
        folder = data.items.parent.resolve()
        raise UsageError(f"the catalogue of {folder} is named as the folder is; rename the folder: {error}") from error
    with open_collection(home, data.name, embedder=embedder, create=True) as collection:
        fill(collection.store, read_items([data.items]))
        items, vectors = all_items(collection.store)
    if odd := next((item.id for item in items if not item.id.isdigit()), None):
        raise DataError(
            f"{data.items}: item {odd!r} is no number; the field `item` must be the only one that names items"
        )
    place = {int(item.id): row for row, item in enumerate(items)}
    if missing := [number for number in range(data.count) if number not in place]:
        raise DataError(f"{data.items}: {len(missing)} items without text, the first {missing[0]}: give them titles")
    order = [place[number] for number in range(data.count)]
    vectors = None if vectors is None else vectors[order]
    items = [items[row] for row in order]
    terms = item_terms(items, "en")
    everybody = list(data.everybody.values())
    try:
        fusion = fit(terms, vectors, data.earlier)
    except DataError as error:
        raise DataError(f"{data.name} is too small to evaluate on, nobody's target is learnt from: {error}") from error
    return Shop(items, Shelf(terms, vectors, Visits.count(data.count, everybody)), fusion)


def _measured(
    data: RecSys, shelf: Shelf, fusion: Fusion, tell: Callable[[str], None]
) -> dict[str, dict[str, dict[str, list[float]]]]:
    """`{protocol: {system: {measure: values}}}`, ours first."""
    measured: dict[str, dict[str, dict[str, list[float]]]] = {}
    for name, scorer in systems(data, shelf, fusion).items():
        tell(f"{data.name}: {name}")
        for protocol, values in measure(data.instances, scorer, data.count).items():
            measured.setdefault(protocol, {})[name] = values
    return measured


def systems(data: RecSys, shelf: Shelf, fusion: Fusion) -> dict[str, Scorer]:
    """The default ranking with fitted and with unfitted weights, and the baselines."""

    def fused(weights: Fusion) -> Scorer:
        return lambda one: weights.scores(shelf.lists(Context.of(one.history, one.session)))

    return {OURS: fused(fusion), "recommend-unfitted": fused(UNFITTED), **baselines(data, shelf)}


def _lines(dataset: str, protocol: str, measured: Mapping[str, Mapping[str, Sequence[float]]]) -> list[Line]:
    ours = measured[OURS]
    lines = []
    for name, values in measured.items():
        ndcg, hit = bootstrap(values[NDCG]), bootstrap(values[HIT])
        gains = {}
        if name != OURS:
            gains["ndcg_gain"] = paired_bootstrap(ours[NDCG], values[NDCG])[:3]
            gains["hit_gain"] = paired_bootstrap(ours[HIT], values[HIT])[:3]
        lines.append(
            Line(dataset=dataset, protocol=protocol, system=name, n=ndcg.n, ndcg=ndcg[:3], hit=hit[:3], **gains)
        )
    return lines
