"""Questions with candidate passages and judgements: what strategies of passage ranking are compared on.

* `passages-nq`, `passages-triviaqa`, `passages-webq`: the given passages of each question; those that contain a gold
  answer are relevant, and a question that has none scores 0 for everybody.
* `passages-liveqa`: certified medical cards that BM25 finds for consumers' messages; a card is read by its question.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from personable.evaluation.commands import Questions
from personable.evaluation.datasets import OPENQA, Filled, Row, read_openqa, select
from personable.evaluation.ikat import read_qrels
from personable.evaluation.lines import find as find_file
from personable.evaluation.lines import read_lines
from personable.evaluation.metrics import contains
from personable.retrieval.store import Candidate, PassageStore
from personable.types import Passage

GIVEN = 10
"""Passages of each open question."""
DEPTH = 100
"""Cards that BM25 finds for each message."""
PREFIX = "passages-"
HOW_LIVEQA = (
    "The medical data are MedQuAD cards {id, question, answer, …} and the consumer messages of TREC 2017 LiveQA "
    "{id, subject, message, …}, one JSON object a line, with judgements of cards. Give their folder with --data."
)


class _Card(BaseModel):
    id: Filled
    question: Filled


class _Message(BaseModel):
    id: Filled
    subject: str | None = None
    message: str | None = None


class PassageQuestions(Questions):
    """Questions whose candidate passages are to be ranked; `dataset` begins with `passages-`."""

    @property
    def title(self) -> str:
        part = "" if self.part == "all" else f", {self.part} rows"
        return self.dataset + part + ("" if self.limit is None else f", first {self.limit}")

    @property
    def folder(self) -> str:
        parts = [self.dataset, *([] if self.part == "all" else [self.part])]
        return "-".join(parts + ([] if self.limit is None else [f"first{self.limit}"]))

    def read(self, folder: Path) -> list[Row]:
        name = self.dataset.removeprefix(PREFIX)
        rows = read_open(folder, name) if name in OPENQA else read_liveqa(folder)
        return select(rows, self.part, self.limit)


def read_open(folder: Path, name: str) -> list[Row]:
    """Open questions, their passages graded 1 where they contain a gold answer, else 0. Raises as `read_openqa`."""
    return [
        row.model_copy(
            update={"relevant": {p.id: int(contains(p.text, row.answers)) for p in row.passages}, "answers": ()}
        )
        for row in read_openqa(folder, name, GIVEN)
    ]


def read_liveqa(folder: Path) -> list[Row]:
    """The messages that have a relevant card, each with the cards that BM25 finds for it, best first.

    Raises NotFoundError without the files, DataError for a malformed line.
    """
    cards = _file(folder, "medquad_cards.jsonl")
    qrels = read_qrels(_file(folder, "qrels_liveqa_dev_cards.txt"))
    messages = [one for _, one in read_lines(_file(folder, "liveqa_dev_questions.jsonl"), _Message)]
    asked = {one.id: (one.message or one.subject or "").strip() for one in messages}
    judged = {id: grades for id, grades in qrels.items() if max(grades.values()) >= 1}
    with tempfile.TemporaryDirectory() as work, PassageStore(Path(work), embedder=None, write=True) as store:
        for _, card in read_lines(cards, _Card):
            store.put(card.id, "1", [Passage(id=card.id, text=card.question)])
        store.commit()
        found = {id: _found(store, text) for id, text in asked.items() if id in judged and text}
    return [
        Row(id=id, index=at, question=asked[id], passages=passages, relevant=judged[id])
        for at, (id, passages) in enumerate(found.items())
    ]


def _found(store: PassageStore, query: str) -> tuple[Passage, ...]:
    def find(limit: int, rows: Any) -> list[Candidate]:
        found, scores = store.sparse.search(query, limit, rows)
        return [(row, score, {}) for row, score in zip(found.tolist(), scores.tolist(), strict=True)]

    return tuple(hit.passage for hit in store.search(find, DEPTH, None))


def _file(folder: Path, name: str) -> Path:
    nested = folder / "medical"
    return find_file(nested if nested.is_dir() else folder, name, HOW_LIVEQA)
