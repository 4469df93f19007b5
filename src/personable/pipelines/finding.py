"""Finding passages for a person's question: the plain list and a list for each statement that matters, fused and put in
the order that this person's weights give."""

from __future__ import annotations

from collections.abc import Sequence

from personable.board import Board
from personable.kit import Kit
from personable.notes import Found, PassagesNote, PortraitNote, WeightsNote
from personable.people.weights import PLAIN, Weights
from personable.pipelines.ranking import FULL_PULL, FUSED, evidence, given_by, list_weights, ranked
from personable.retrieval.fusion import rrf
from personable.types import Hit, Passage, Question, Used

CONSIDERED = 12
"""Statements of the portrait that are tried, and STATEMENTS how many may get a list of their own."""
STATEMENTS = 3
Pulled = tuple[float, Used, list[Hit]]
"""How much a statement pulls, the statement, and what is found with it."""


async def find(
    kit: Kit, question: Question, person: PortraitNote, strength: float, board: Board, depth: int | None = None
) -> tuple[list[Hit], list[Used]]:
    """The passages for a question, best first, and the statements that moved them, with how much (0 to 1); `depth` is
    how many each list holds (None: the setting `candidates`).

    A statement matters where the documents speak to it: its *pull* is how much nearer the nearest passage gets (cosine)
    when it is searched together with the question. Each of the strongest gets a list of its own; never all in one
    query: the source on iKAT (CEUR-WS 3784, short 3) found that plain concatenation hurts. Lists are fused by RRF. The
    plain one weighs 1, the personal ones together at most `strength`, so that what is plainly relevant is not buried.
    The person's weights on the board then move what they prefer (`people.weights`), also as far as `strength` goes.
    """
    depth = depth or kit.settings.candidates
    plain = await kit.search(question.text, depth)
    board.post("retriever", listed("plain", question.text, plain[: kit.settings.passages]))
    if person.dial == "off":
        return plain, []
    local = kit.embedder is None or not kit.embedder.remote
    said = [*person.statements, *(person.withheld if local else [])]
    found = await pulled(kit, question.text, said, nearest(plain), depth) if strength else []
    lists = list_weights({statement.statement: pull for pull, statement, _ in found}, strength)
    for pull, statement, hits in found:
        query, weight = f"{question.text} {statement.text}", lists[statement.statement]
        note = listed("personal", query, hits[: kit.settings.passages], weight)
        board.post("retriever", note.model_copy(update={"statement": statement.statement, "pull": pull}))
    learnt = board.latest(WeightsNote)
    weights = Weights.read(learnt.values) if learnt else Weights()
    session = await kit.search(person.need, depth) if strength and person.need else []
    hits = ranked(_candidates(plain, found, list(lists.values()), session, weights), weights, strength)
    board.post("retriever", listed("candidates", question.text, hits))
    return hits, [
        statement.model_copy(update={"score": round(min(pull / FULL_PULL, 1.0), 3)}) for pull, statement, _ in found
    ]


def _candidates(
    plain: Sequence[Hit], pulled: Sequence[Pulled], list_weights: Sequence[float], session: Sequence[Hit], own: Weights
) -> list[Hit]:
    """The lists fused, each hit with all its evidence: what the question found it by, what each list gave it, how near
    it is to person and session (cosines), and what it is."""
    personal = _nearness([hits for _, _, hits in pulled])
    floor = min(personal.values(), default=0.0)
    features = {hit.passage.id: dict(hit.features) for hit in plain}
    given = [(PLAIN, plain, 1.0)]
    given += [
        (f"list:{statement.statement}", hits, weight)
        for (_, statement, hits), weight in zip(pulled, list_weights, strict=True)
    ]
    for name, hits, weight in given:
        for place, hit in enumerate(hits, 1):
            features.setdefault(hit.passage.id, {})[name] = given_by(place, weight)
    for hit in session:
        if hit.passage.id in features and "dense" in hit.features:
            features[hit.passage.id]["session"] = hit.features["dense"]
    fused = fuse([hits for _, hits, _ in given], [weight for _, _, weight in given])
    return [
        hit.model_copy(
            update={
                "features": features[hit.passage.id]
                | ({"person": personal.get(hit.passage.id, floor)} if pulled else {})
                | evidence(hit.passage, own)
                | {FUSED: place}
            }
        )
        for place, hit in enumerate(fused, 1)
    ]


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


async def pulled(kit: Kit, query: str, statements: Sequence[Used], base: float, depth: int) -> list[Pulled]:
    """The statements that pull `query`, whose nearest passage is at `base` (cosine), strongest first."""
    found = []
    for statement in statements[:CONSIDERED]:
        hits = await kit.search(f"{query} {statement.text}", depth)
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
    for found in lists:
        for hit in found:
            known = hits.get(hit.passage.id)
            features = dict(hit.features)
            for name, value in known.features.items() if known else ():
                features[name] = max(value, features.get(name, value))
            hits[hit.passage.id] = hit.model_copy(update={"features": features})
    keys = [[hit.passage.id for hit in found] for found in lists]
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
