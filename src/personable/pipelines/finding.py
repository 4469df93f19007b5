"""Finding passages for a person's question: the plain list and one list for each statement, fused by the gate."""

from __future__ import annotations

from collections.abc import Sequence

from personable.board import Board
from personable.kit import Kit
from personable.notes import Found, PassagesNote, PortraitNote
from personable.retrieval.hybrid import rrf
from personable.types import Hit, Passage, Question

STATEMENTS = 3
"""Statements that get a list of their own. Each is searched beside the question, never all in one query: the source on
iKAT (CEUR-WS 3784, short 3) found that plain concatenation hurts."""


async def find(kit: Kit, question: Question, person: PortraitNote, strength: float, board: Board) -> list[Hit]:
    """The passages for a question: plain and personal lists fused by RRF, `settings.candidates` at most, best first.

    The plain list weighs 1 and the personal lists together `strength`, each by its statement's share, so that what is
    plainly relevant is not buried.
    """
    settings = kit.settings
    plain = await kit.search(question.text, settings.candidates)
    lists, weights = [plain], [1.0]
    if strength > 0:
        local = kit.embedder is None or not kit.embedder.remote
        usable = [*person.statements, *(person.withheld if local else [])]
        usable.sort(key=lambda statement: -statement.score)
        chosen = [statement for statement in usable[:STATEMENTS] if statement.score > 0]
        total = sum(statement.score for statement in chosen)
        for statement in chosen:
            query = f"{question.text} {statement.text}"
            weight = strength * statement.score / total
            hits = await kit.search(query, settings.candidates)
            board.post("retriever", listed("personal", query, hits[: settings.passages], weight))
            lists.append(hits)
            weights.append(weight)
    board.post("retriever", listed("plain", question.text, plain[: settings.passages]))
    return plain if len(lists) == 1 else fuse(lists, weights)


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
