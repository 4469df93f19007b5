"""The order of passages for a person, as a pure function of numbers: when they are found, and again from the board."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import PurePath

from personable.board import Board
from personable.notes import Found, GateNote, PassagesNote, PortraitNote, QuestionNote, RewriteNote, WeightsNote
from personable.people.weights import Weights, order, scores
from personable.pipelines.gate import gate
from personable.types import Hit, Passage

FULL_PULL = 0.25
"""A pull (cosine) from which a statement counts in full; smaller ones count in proportion."""
FUSED = "fused"
"""The feature that holds a candidate's place (from 1) in the fused order, before weights."""
RRF_K = 60


def list_weights(pulls: Mapping[str, float], strength: float) -> dict[str, float]:
    """What the list of each statement weighs against the plain list's 1, by its pull: together at most `strength`."""
    total = max(sum(pulls.values()), FULL_PULL)
    return {statement: strength * pull / total for statement, pull in pulls.items()}


def ranked(hits: Sequence[Hit], weights: Weights, strength: float) -> list[Hit]:
    """Hits in the fused order, with features that say their evidence, in the order for a person.

    `score` is what they are ordered by; see `people.weights` for features, scale and bounds.
    """
    rows = [hit.features for hit in hits]
    values = scores(rows, weights, strength)
    return [hits[row].model_copy(update={"score": values[row]}) for row in order(rows, weights, strength)]


def reordered(
    board: Board, *, weights: Weights | None = None, strength: float | None = None, without: str | None = None
) -> list[Found]:
    """All candidates of a board in their order, computed again from its numbers; no model, no collection.

    As it stands this is the order that was posted. What if: with other `weights` (`Weights()`: nothing learnt), another
    `strength` of the gate, or `without` a statement (its id): the gate is then asked again, its list left out, and the
    other lists weigh what they would have. A statement that would have got a list only then had none posted and stays
    out. Empty for a board whose question had no person. Raises ValueError for a statement that had no list.
    """
    found = candidates(board)
    strength = _strength(board, without) if strength is None else strength
    weights = _weights(board) if weights is None else weights
    lists = {note.statement: note for note in board.notes(PassagesNote) if note.name == "personal"}
    if without is not None and without not in lists:
        raise ValueError(f"no list was searched with statement {without!r}")
    old = {statement: note.weight for statement, note in lists.items()}
    new = list_weights({name: note.pull for name, note in lists.items() if name != without}, strength)
    if new != old:
        found = _fused_again(found, old, new)
    rows = [one.features for one in found]
    values = scores(rows, weights, strength)
    return [found[row].model_copy(update={"score": values[row]}) for row in order(rows, weights, strength)]


def _fused_again(found: Sequence[Found], old: Mapping[str, float], new: Mapping[str, float]) -> list[Found]:
    """The candidates with what each list gives them under its new weight (0 where it is gone), in their fused order."""
    changed = []
    for one in found:
        features = dict(one.features)
        for statement, weight in old.items():
            if (given := features.pop(f"list:{statement}", None)) is not None and new.get(statement):
                features[f"list:{statement}"] = new[statement] / round(weight / given)
        if any(name.startswith("list:") for name in features):
            changed.append(one.model_copy(update={"features": features}))
    return sorted(changed, key=lambda one: -sum(v for k, v in one.features.items() if k.startswith("list:")))


def candidates(board: Board) -> list[Found]:
    """All candidates of a board in their fused order, before weights; empty where the question had no person, and over
    certified text, whose order no weights move."""
    fused = [one for one in _list(board, "candidates") if FUSED in one.features]
    return sorted(fused, key=lambda one: one.features[FUSED])


def head(board: Board) -> list[Found]:
    """The passages that the answer was made from, in their order."""
    return _list(board, "fused")


def _list(board: Board, name: str) -> list[Found]:
    return next((note.found for note in reversed(board.notes(PassagesNote)) if note.name == name), [])


def _weights(board: Board) -> Weights:
    note = board.latest(WeightsNote)
    return Weights.read(note.values) if note else Weights()


def _strength(board: Board, without: str | None) -> float:
    posted, asked, person = board.latest(GateNote), board.latest(QuestionNote), board.latest(PortraitNote)
    if without is None or asked is None or person is None:
        return posted.strength if posted else 0.0
    meant = board.latest(RewriteNote)  # in a conversation the gate is asked with what was meant
    left = [one for one in person.statements if one.statement != without]
    return gate(meant.text if meant else asked.question.text, person.model_copy(update={"statements": left})).strength


def evidence(passage: Passage, weights: Weights) -> dict[str, float]:
    """What a passage is, as features: the person's affinity to its source and type, and its year where it has a date.

    The source is the metadata `source` or `site`, else the address's host or the file's folder; the type is the
    metadata `type`, `qtype` or `category`, else the file's ending; the date `date`, `published`, `updated` or `year`.
    """
    scheme, _, rest = passage.source.rpartition("://")
    path = PurePath(rest.partition("?")[0] if scheme else rest)
    host = path.parts[0] if scheme and path.parts else ""
    source = _first(passage, "source", "site") or host or path.parent.name
    kind = _first(passage, "type", "qtype", "category") or path.suffix.lstrip(".").lower()
    names = [f"{what}:{_short(name)}" for what, name in (("source", source), ("type", kind)) if name]
    year = _year(_first(passage, "date", "published", "updated", "year"))
    return {name: weights.affinity(name) for name in names} | ({"freshness": year} if year else {})


def _first(passage: Passage, *names: str) -> str:
    return next((str(passage.meta[name]) for name in names if str(passage.meta.get(name, "")).strip()), "")


def _short(name: str) -> str:
    return " ".join("".join(c if c.isprintable() else " " for c in name).split())[:100]


def _year(text: str) -> float:
    """The year of an ISO date or a bare year, with the day as a fraction; 0 where it is neither."""
    try:
        day = date.fromisoformat(text[:10])
    except ValueError:
        return float(text) if text.isdecimal() and len(text) == 4 else 0.0
    return round(day.year + (day.timetuple().tm_yday - 1) / 366, 4)


def given_by(place: int, weight: float = 1.0) -> float:
    """What a list of this weight gives to the passage at a place (from 1): reciprocal rank fusion's share."""
    return weight / (RRF_K + place)
