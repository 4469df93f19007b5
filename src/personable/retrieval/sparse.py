"""Words: BM25 over an inverted index on disk (tantivy), fed with our own analyser's terms."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from personable.errors import DataError
from personable.retrieval.analysis import Analyser

Ranked = tuple[NDArray[np.int64], NDArray[np.float32]]
"""Row ids and their scores, best first, ties by row id."""

TITLE_WEIGHT = 2.0
"""A title says in a few words what its passage is about; twice the text is the usual choice (1, 2, 3 and 5
were seen on the LiveQA development messages before 2 was kept)."""

MOST_TERMS = 64
"""Distinct terms of a query that are looked up: the rarest. Keeps a pasted document from becoming a slow query."""

_ROW_COST = 16
"""Hits that could be fetched and thrown away in the time that one more row takes in a filter inside the engine."""


def ranked(rows: NDArray[np.int64], scores: NDArray[np.float32], k: int) -> Ranked:
    """The best `k`, ties by row id so that the order never depends on how an engine stores its segments."""
    order = np.lexsort((rows, -scores))[:k]
    return rows[order], scores[order]


class SparseIndex:
    """BM25 (Robertson & Zaragoza 2009, §3.4; k1 = 1.2, b = 0.75, Lucene's idf) of the text plus `TITLE_WEIGHT` times
    that of the title, each field with its own lengths and document frequencies.

    Changes become visible, to this process and others, by `commit` and `reload`. One writing process at a time. Raises
    DataError if the index is damaged.
    """

    def __init__(self, folder: Path, language: str) -> None:
        import tantivy

        folder.mkdir(parents=True, exist_ok=True)
        builder = tantivy.SchemaBuilder()
        builder.add_unsigned_field("row", indexed=True, fast=True)
        builder.add_text_field("title", tokenizer_name="whitespace", index_option="freq")
        builder.add_text_field("text", tokenizer_name="whitespace", index_option="freq")
        self._tantivy = tantivy
        self._schema = builder.build()
        try:
            self._index = tantivy.Index(self._schema, path=str(folder))
            self._index.config_reader("manual")
            self._index.reload()
        except (ValueError, OSError) as error:
            raise DataError(f"{folder} cannot be read ({error}); delete it and index again to mend it") from error
        self._analyser = Analyser(language)
        self._writer: Any = None
        self._changed = False

    def __len__(self) -> int:
        return int(self._index.searcher().num_docs)

    def rows(self) -> NDArray[np.int64]:
        """All row ids, ascending."""
        searcher = self._index.searcher()
        if not searcher.num_docs:
            return np.empty(0, dtype=np.int64)
        hits = searcher.search(self._tantivy.Query.all_query(), searcher.num_docs, count=False).hits
        return np.sort(np.array(searcher.fast_field_values("row", [at for _, at in hits]), dtype=np.int64))

    def add(self, passages: Iterable[tuple[int, str, str]]) -> None:
        """Add (row id, title, text); the row ids are new."""
        writer, joined = self._writing(), self._analyser.joined
        for row, title, text in passages:
            document = self._tantivy.Document()
            document.add_unsigned("row", row)
            if title:
                document.add_text("title", joined(title))
            document.add_text("text", joined(text))
            writer.add_document(document)

    def delete(self, rows: NDArray[np.int64]) -> None:
        """Remove these rows; unknown ones are no error."""
        if len(rows):  # by query: by term, tantivy takes a row id for a signed number and finds nothing
            among = self._tantivy.Query.term_set_query(self._schema, "row", rows.tolist())
            self._writing().delete_documents_by_query(among)

    def commit(self) -> None:
        """Make what was added and deleted durable and visible."""
        if self._changed:
            self._writer.commit()
            self._changed = False
        self.reload()

    def reload(self) -> None:
        """See what has been committed since, also by another process."""
        self._index.reload()

    def rollback(self) -> None:
        """Forget what was added and deleted since the last commit.

        Nothing is done where nothing was: a rollback throws away the merges under way and starts new threads.
        """
        if self._changed:
            self._writer.rollback()
            self._changed = False

    def close(self) -> None:
        """Finish merging; what was not committed is forgotten."""
        self.rollback()
        if self._writer is not None:
            self._writer.wait_merging_threads()
            self._writer = None

    def search(self, query: str, k: int, rows: NDArray[np.int64] | None = None) -> Ranked:
        """The best `k` rows, only among `rows` if given. A query without a known term finds nothing."""
        searcher = self._index.searcher()
        asked = self._query(searcher, query)
        total = searcher.num_docs
        if asked is None or k < 1 or (rows is not None and not len(rows)):
            return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.float32)
        limit = k if rows is None else min(total, 2 * k * total // len(rows) + k)
        if rows is not None and _ROW_COST * len(rows) < limit:
            asked, rows, limit = self._only(asked, rows), None, k
        while True:
            hits = searcher.search(asked, limit, count=False).hits
            found = np.array(searcher.fast_field_values("row", [at for _, at in hits]), dtype=np.int64)
            scores = np.array([score for score, _ in hits], dtype=np.float32)
            if rows is not None:
                allowed = np.isin(found, rows, assume_unique=True)
                found, scores = found[allowed], scores[allowed]
            if len(found) >= k or len(hits) < limit or limit >= total:
                return ranked(found, scores, k)
            limit = min(total, limit * 4)

    def _query(self, searcher: Any, text: str) -> Any:
        """Any of the known terms, in title or text; None if there is none."""
        query, occur = self._tantivy.Query, self._tantivy.Occur
        counted = Counter(self._analyser.content(text))
        known = {term: max(searcher.doc_freq("text", term), searcher.doc_freq("title", term)) for term in counted}
        terms = sorted((term for term in known if known[term]), key=lambda term: (known[term], term))[:MOST_TERMS]
        clauses = []
        for term in terms:
            for field, weight in (("title", TITLE_WEIGHT), ("text", 1.0)):
                clause = query.term_query(self._schema, field, term, "freq")
                clauses.append((occur.Should, query.boost_query(clause, weight * counted[term])))
        return query.boolean_query(clauses) if clauses else None

    def _only(self, asked: Any, rows: NDArray[np.int64]) -> Any:
        query, must = self._tantivy.Query, self._tantivy.Occur.Must
        among = query.const_score_query(query.term_set_query(self._schema, "row", rows.tolist()), 0.0)
        return query.boolean_query([(must, asked), (must, among)])

    def _writing(self) -> Any:
        if self._writer is None:
            self._writer = self._index.writer(heap_size=64_000_000, num_threads=1)
        self._changed = True
        return self._writer
