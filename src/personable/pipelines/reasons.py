"""Why an item is shown: what the person did or said that speaks for it, never what others did."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from personable.notes import Deed
from personable.people.aversions import hear
from personable.pipelines.deeds import Known
from personable.pipelines.shop import Shop
from personable.retrieval.shelf import Deeds
from personable.retrieval.terms import Floats
from personable.types import Reason, Used

LOOKED_BACK = 50
"""Deeds that may give a reason, the latest."""
SAID_FROM = 0.1
"""Cosine of words from which something said or done is named as a reason."""
ALIKE_FROM = 0.45
"""Cosine of embeddings from which a deed is named as a reason. With `minilm`, 5 % of pairs drawn at random reach .47 in
one catalogue (Amazon Office) and .44 in another (Online Retail)."""


def explain(shop: Shop, known: Known, rows: Sequence[int]) -> list[list[Reason]]:
    """At most two reasons for each item in `rows`: the deed that speaks most for it, and what was said; never none."""
    note = known.note
    said = [Used(statement="", text=note.query)] if note.query.strip() else []
    said += [*note.said, *note.withheld]
    speaks = [hear(used.text).wanted if used.statement else used.text for used in said]
    near = np.array([shop.shelf.terms.near_text(text)[rows] for text in speaks])  # (said, rows)
    return [_reasons(shop, known, row, said, near[:, place] if said else near) for place, row in enumerate(rows)]


def _reasons(shop: Shop, known: Known, row: int, said: Sequence[Used], near: Floats) -> list[Reason]:
    deeds = [*known.note.history, *known.note.session][-LOOKED_BACK:]
    ties = _ties(shop, deeds, row)
    reasons = []
    if len(ties) and ties.max() > 0:
        deed = deeds[int(ties.argmax())]
        reasons.append(Reason(text=f"because you {deed.what} {deed.title}", post=known.post, event=deed.event))
    if len(near) and near.max() >= SAID_FROM:
        used = said[int(near.argmax())]
        verb = "said" if used.statement else "asked for"
        text = f"because you {verb}: {used.text}"
        reasons.append(Reason(text=text, post=known.post, statement=used.statement or None))
    if reasons:
        return reasons
    text = "something from elsewhere in the catalogue" if deeds else "to begin with: little is known of you yet"
    return [Reason(text=text, post=known.post)]


def _ties(shop: Shop, deeds: Sequence[Deed], row: int) -> Floats:
    """How much each deed speaks for the item, by the weighted lists that know pairs, shape (deeds,); 0 where they are
    hardly alike."""
    rows = np.array([shop.rows[deed.item] for deed in deeds], dtype=np.int64)
    one, shelf, weights = Deeds.of([row], 1.0), shop.shelf, shop.fusion.weights
    words = shelf.terms.pairs(row, rows)
    ties = max(weights["session words"], 0.0) * np.sqrt(np.where(words >= SAID_FROM, words, 0.0))
    if shelf.vectors is not None and len(rows):
        alike = shelf.vectors[rows] @ shelf.vectors[row]
        ties = ties + max(weights["session meaning"], 0.0) * np.where(alike >= ALIKE_FROM, alike, 0.0)
    ties = ties + max(weights["session co-visits"], 0.0) * np.sqrt(shelf.visits.people.near(*one)[rows])
    worths = np.array([deed.worth for deed in deeds])
    fade = Deeds.of(rows.tolist(), 0.98, worths.tolist()).weights
    return np.asarray(ties * fade)
