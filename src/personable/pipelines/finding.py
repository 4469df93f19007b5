"""Finding passages for a person's question: the plain list and a list for each statement that matters, fused."""

from __future__ import annotations

from collections.abc import Sequence

from personable.board import Board
from personable.kit import Kit
from personable.notes import Found, PassagesNote, PortraitNote
from personable.retrieval.fusion import rrf
from personable.types import Hit, Passage, Question, Used

CONSIDERED = 12
"""Statements of the portrait that are tried, and STATEMENTS how many may get a list of their own."""
STATEMENTS = 3
FULL_PULL = 0.25
"""A pull (cosine) from which a statement counts in full; smaller ones count in proportion."""


async def find(
    kit: Kit, question: Question, person: PortraitNote, strength: float, board: Board
) -> tuple[list[Hit], list[Used]]:
    """The passages for a question, best first, and the statements that moved them, with how much (0 to 1).

    A statement matters where the documents speak to it: its *pull* is how much nearer the nearest passage gets (cosine)
    when it is searched together with the question. Each of the strongest gets a list of its own; never all in one
    query: the source on iKAT (CEUR-WS 3784, short 3) found that plain concatenation hurts. Lists are fused by RRF. The
    plain one weighs 1, the personal ones together at most `strength`, so that what is plainly relevant is not buried.
    """
    depth = kit.settings.candidates
    plain = await kit.search(question.text, depth)
    board.post("retriever", listed("plain", question.text, plain[: kit.settings.passages]))
    if strength == 0:
        return plain, []
    pulled = await _pulled(kit, question, person, nearest(plain))
    total = max(sum(pull for pull, _, _ in pulled), FULL_PULL)
    lists, weights, used = [plain], [1.0], []
    for pull, statement, hits in pulled:
        weight = strength * pull / total
        query = f"{question.text} {statement.text}"
        board.post("retriever", listed("personal", query, hits[: kit.settings.passages], weight))
        lists.append(hits)
        weights.append(weight)
        used.append(statement.model_copy(update={"score": round(min(pull / FULL_PULL, 1.0), 3)}))
    if not pulled:
        return plain, []
    personal = _nearness([hits for _, _, hits in pulled])
    floor = min(personal.values(), default=0.0)
    fused = fuse(lists, weights)
    return [
        hit.model_copy(update={"features": hit.features | {"person": personal.get(hit.passage.id, floor)}})
        for hit in fused
    ], used


def _nearness(lists: Sequence[Sequence[Hit]]) -> dict[str, float]:
    """How near each passage is to the question asked with a statement: its cosine over the list's best, 0 to 1."""
    near: dict[str, float] = {}
    for hits in lists:
        best = nearest(hits)
        for hit in hits:
            if best > 0 and "dense" in hit.features:
                share = round(max(hit.features["dense"], 0.0) / best, 4)
                near[hit.passage.id] = max(share, near.get(hit.passage.id, 0.0))
    return near


async def _pulled(
    kit: Kit, question: Question, person: PortraitNote, base: float
) -> list[tuple[float, Used, list[Hit]]]:
    """The statements that pull, strongest first: (pull, statement, its list)."""
    local = kit.embedder is None or not kit.embedder.remote
    found = []
    for statement in [*person.statements, *(person.withheld if local else [])][:CONSIDERED]:
        hits = await kit.search(f"{question.text} {statement.text}", kit.settings.candidates)
        pull = nearest(hits) - base
        if pull > 0:
            found.append((pull, statement, hits))
    return sorted(found, key=lambda each: -each[0])[:STATEMENTS]


def nearest(hits: Sequence[Hit]) -> float:
    """The highest cosine among hits; 0 where none was found by meaning."""
    return max((hit.features.get("dense", 0.0) for hit in hits), default=0.0)


def fuse(lists: Sequence[Sequence[Hit]], weights: Sequence[float]) -> list[Hit]:
    """Lists of hits fused by weighted RRF (k = 60); features are kept, the largest of each name."""
    hits: dict[str, Hit] = {}
    for ranked in lists:
        for hit in ranked:
            known = hits.get(hit.passage.id)
            features = dict(hit.features)
            for name, value in known.features.items() if known else ():
                features[name] = max(value, features.get(name, value))
            hits[hit.passage.id] = hit.model_copy(update={"features": features})
    keys = [[hit.passage.id for hit in ranked] for ranked in lists]
    return [hits[key].model_copy(update={"score": score}) for key, score in rrf(keys, weights=weights)]


async def search_again(
    kit: Kit, queries: Sequence[str], known: Sequence[Passage], board: Board, limit: int = 2
) -> list[Passage]:
    """Up to `limit` new passages that the agents' reformulated queries find and the first search did not."""
    if not queries:
        return []
    lists = [await kit.search(query, kit.settings.candidates) for query in queries]
    seen = {passage.id for passage in known}
    fresh = [hit for hit in fuse(lists, [1.0] * len(lists)) if hit.passage.id not in seen][:limit]
    board.post("retriever", listed("second", " | ".join(queries), fresh, text=True))
    return [hit.passage for hit in fresh]


def listed(name: str, query: str, hits: Sequence[Hit], weight: float = 1.0, text: bool = False) -> PassagesNote:
    """A ranked list as a note; `text` keeps the passages' text in it."""
    found = [
        Found(
            passage_id=hit.passage.id,
            title=hit.passage.title,
            text=hit.passage.text if text else "",
            score=hit.score,
            features=hit.features,
        )
        for hit in hits
    ]
    return PassagesNote(name=name, query=query, weight=weight, found=found)
