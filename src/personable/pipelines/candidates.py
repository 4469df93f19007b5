"""The candidate set of `recommend`: the catalogue ranked by the fused lists, filtered, without what the person had."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from personable.errors import ConfigurationError
from personable.kit import Kit
from personable.notes import Candidate, CandidatesNote, Deed, DeedsNote
from personable.people.aversions import hear
from personable.pipelines.deeds import Known, context
from personable.pipelines.shop import Shop
from personable.retrieval.catalogue import Wanted
from personable.retrieval.choice import UNFITTED, Fusion
from personable.retrieval.shelf import LISTS, Deeds
from personable.retrieval.terms import Floats
from personable.types import Wish

DIVERSITY = 0.3
"""Share that novelty has in the order of a cold start (Carbonell & Goldstein 1998, §2)."""
DISLIKED_FROM = 0.5
"""Cosine of words from which an item is too like one that the person turned against."""


def retrieve(kit: Kit, shop: Shop, wish: Wish, known: Known, wanted: Wanted, count: int) -> CandidatesNote:
    """The `count` best items that may be shown, by the setting `item_retrieval`: the fused lists, or ARAG's cosine.
    What the person turned against comes after all others.

    Raises ConfigurationError for the cosine without an embedder. Blocks: call it from a worker thread.
    """
    note = known.note
    lists = shop.shelf.lists(context(note, shop))
    _hear(kit, shop, note, lists)
    fused = kit.settings.item_retrieval == "fused"
    fusion = _fusion(shop, note)
    scores = fusion.scores(lists) if fused else _cosine(kit, shop, note)
    allowed = shop.allowed(wanted)
    if not wish.again:
        allowed[[shop.rows[item] for item in known.had]] = False
    allowed[[shop.rows[deed.item] for deed in note.disliked]] = False
    rows = np.flatnonzero(allowed)
    against = np.maximum(_near(shop, note.disliked), _named(shop, note))
    best = rows[np.lexsort((-scores[rows], against[rows] >= DISLIKED_FROM))][: 4 * count]
    if is_cold(note):
        bad = against[best] >= DISLIKED_FROM
        best = np.array([*_varied(shop, best[~bad], scores), *best[bad]], dtype=np.int64)
    return CandidatesNote(
        found=[_candidate(shop, row, scores, lists, against) for row in best[:count].tolist()],
        weights=fusion.weights if fused else {"cosine": 1.0},
    )


def _fusion(shop: Shop, note: DeedsNote) -> Fusion:
    """The shop's weights, learnt from what people with deeds chose next. They do not hold for somebody without deeds,
    and what is asked for or said in words counts for what it names, whatever was learnt."""
    if is_cold(note):
        return UNFITTED
    return shop.fusion.at_least(UNFITTED) if note.query.strip() or note.said or note.withheld else shop.fusion


def is_cold(note: DeedsNote) -> bool:
    """Whether the person did nothing yet that the catalogue could be compared with."""
    return not (note.history or note.session)


def given(shop: Shop, note: DeedsNote, rows: Sequence[int]) -> CandidatesNote:
    """These rows as candidates, best first by the fused lists: for evaluation over a fixed set."""
    lists = shop.shelf.lists(context(note, shop))
    scores = shop.fusion.scores(lists)
    order = sorted(rows, key=lambda row: -scores[row])
    return CandidatesNote(found=[_candidate(shop, row, scores, lists, _near(shop, [])) for row in order])


def _hear(kit: Kit, shop: Shop, note: DeedsNote, lists: Floats) -> None:
    """What the person asks for counts as session, what they said as history; statements by their words alone."""
    if note.query.strip():
        lists[:, LISTS.index("session words")] += np.sqrt(shop.shelf.terms.near_text(note.query))
        if kit.embedder is not None and shop.shelf.vectors is not None:
            lists[:, LISTS.index("session meaning")] += shop.shelf.vectors @ kit.embedder.queries([note.query])[0]
    said = [hear(used.text).wanted for used in (*note.said, *note.withheld)]
    if said:
        near = np.max([shop.shelf.terms.near_text(text) for text in said], axis=0)
        lists[:, LISTS.index("history words")] += np.sqrt(near)


def _cosine(kit: Kit, shop: Shop, note: DeedsNote) -> Floats:
    """The cosine of every item with the mean of what the person turned to and of the wish, shape (items,): retrieval by
    the user context of ARAG (arXiv 2506.21931, §3.1)."""
    if kit.embedder is None or shop.shelf.vectors is None:
        raise ConfigurationError("item_retrieval = cosine compares embeddings: choose an embedder, such as minilm")
    vectors = shop.shelf.vectors[[shop.rows[deed.item] for deed in (*note.history, *note.session)]]
    if note.query.strip():
        vectors = np.concatenate([vectors, kit.embedder.queries([note.query])])
    mean = vectors.sum(axis=0)
    return np.asarray(shop.shelf.vectors @ (mean / max(float(np.linalg.norm(mean)), 1e-12)), dtype=np.float64)


def _named(shop: Shop, note: DeedsNote) -> Floats:
    """1 for every item that names, whole, a thing which a statement turns against, else 0; shape (items,)."""
    named = np.zeros(len(shop.items))
    for used in (*note.said, *note.withheld):
        for thing in hear(used.text).unwanted:
            named = np.maximum(named, shop.shelf.terms.holding(thing))
    return named


def _near(shop: Shop, disliked: Sequence[Deed]) -> Floats:
    """For every item the cosine of its words with the nearest disliked one, shape (items,)."""
    near = np.zeros(len(shop.items))
    for deed in disliked[-20:]:
        near = np.maximum(near, shop.shelf.terms.near(*Deeds.of([shop.rows[deed.item]], 1.0)))
    return near


def _candidate(shop: Shop, row: int, scores: Floats, lists: Floats, against: Floats) -> Candidate:
    item = shop.items[row]
    features = {name: round(float(value), 4) for name, value in zip(LISTS, lists[row], strict=True) if value}
    if against[row] >= DISLIKED_FROM:
        features["disliked"] = round(float(against[row]), 4)
    return Candidate(item=item.id, title=item.title, text=item.description, score=float(scores[row]), features=features)


def _varied(shop: Shop, rows: np.ndarray[tuple[int], np.dtype[np.int64]], scores: Floats) -> list[int]:
    """Maximal marginal relevance: `rows` so that the first are good and unlike each other, by words."""
    if not len(rows):
        return []
    top, low = scores[rows].max(), scores[rows].min()
    relevance = (scores[rows] - low) / ((top - low) or 1.0)
    seen = np.zeros(len(rows))
    order: list[int] = []
    left = np.ones(len(rows), dtype=bool)
    while left.any():
        gain = np.where(left, (1 - DIVERSITY) * relevance - DIVERSITY * seen, -np.inf)
        best = int(gain.argmax())
        left[best] = False
        order.append(int(rows[best]))
        if len(order) <= 50:
            seen = np.maximum(seen, shop.shelf.terms.near(*Deeds.of([int(rows[best])], 1.0))[rows])
    return order
