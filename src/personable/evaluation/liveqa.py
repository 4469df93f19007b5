"""Certified retrieval data in the LiveQA layout: cards, consumers' messages, graded judgements."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from pydantic import BaseModel

from personable.embed import Embedder, Vectors
from personable.errors import DataError
from personable.evaluation.datasets import Filled
from personable.evaluation.lines import find, read_lines, refuse_duplicate
from personable.retrieval.certifying import certify_documents
from personable.retrieval.corpus import Collection, IndexOptions, open_collection
from personable.types import Value

HOW = (
    "A certified data set is a folder of medquad_cards.jsonl(.gz) {id, question, answer, focus, qtype, url}, "
    "liveqa_dev_questions.jsonl {id, subject, message, nist_paraphrase, nlm_summary} and qrels_liveqa_dev_cards.txt "
    "(TREC). Give the folder with --data."
)
CARDS, QUESTIONS, QRELS = "medquad_cards.jsonl", "liveqa_dev_questions.jsonl", "qrels_liveqa_dev_cards.txt"
NAME = "certified"


class Consumer(Value):
    """A consumer's question: `message` as it was written, with its `subject` line; and an expert's one-line summary."""

    id: str
    subject: str
    message: str
    summary: str

    @property
    def text(self) -> str:
        """The message, or the subject where there is none."""
        return self.message or self.subject

    @property
    def whole(self) -> str:
        """Subject line and message, as the service receives them."""
        return "\n".join(part for part in (self.subject, self.message) if part)


@dataclass(frozen=True)
class LiveQA:
    """Questions with at least one card graded 1 or more, and all judgements of them: `{question: {card: grade}}`."""

    cards: Path
    questions: tuple[Consumer, ...]
    unanswered: tuple[Consumer, ...]
    qrels: dict[str, dict[str, int]]


class _Line(BaseModel):
    id: Filled
    subject: str | None = None
    message: str | None = None
    nlm_summary: str | None = None


def read_liveqa(folder: Path, limit: int | None = None) -> LiveQA:
    """The data set in `folder`, its first `limit` questions. Raises NotFoundError without its files, DataError for
    malformed lines, and where no question has a relevant card."""
    cards = find(folder, CARDS, HOW)
    qrels = _read_qrels(find(folder, QRELS, HOW))
    path = find(folder, QUESTIONS, HOW)
    seen: dict[str, int] = {}
    questions = []
    for number, line in read_lines(path, _Line):
        refuse_duplicate(seen, line.id, path, number)
        one = Consumer(
            id=line.id, subject=line.subject or "", message=line.message or "", summary=line.nlm_summary or ""
        )
        questions.append(one)
    answered = [one for one in questions if any(grade > 0 for grade in qrels.get(one.id, {}).values())][:limit]
    if not answered:
        raise DataError(f"no question of {path} has a card graded 1 or more in {QRELS}")
    others = tuple(one for one in questions if one.id not in {known.id for known in answered}) if limit is None else ()
    return LiveQA(cards, tuple(answered), others, {one.id: qrels[one.id] for one in answered})


def _read_qrels(path: Path) -> dict[str, dict[str, int]]:
    qrels: dict[str, dict[str, int]] = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        fields = line.split()
        if not fields:
            continue
        if len(fields) != 4 or not fields[3].lstrip("-").isdecimal():
            raise DataError(f"{path}:{number}: expected four fields: question 0 card grade")
        qrels.setdefault(fields[0], {})[fields[2]] = int(fields[3])
    return qrels


class Remembered:
    """The embedder `inner`, asked once for each passage: several systems are compared over the same ones."""

    def __init__(self, inner: Embedder) -> None:
        self._inner = inner
        self.name, self.dim, self.digest, self.remote = inner.name, inner.dim, inner.digest, inner.remote
        self._known: dict[str, Vectors] = {}

    def passages(self, texts: Sequence[str]) -> Vectors:
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        self._known |= dict(zip(new, self._inner.passages(new), strict=True))
        return np.stack([self._known[text] for text in texts]) if texts else self._inner.passages([])

    def queries(self, texts: Sequence[str]) -> Vectors:
        return self._inner.queries(texts)


class Titles(Remembered):
    """Reads only the first line of a passage: its title. A title is short, and many passages share one, so that 16,407
    cards take minutes instead of an hour."""

    def passages(self, texts: Sequence[str]) -> Vectors:
        return super().passages([text.split("\n", 1)[0] for text in texts])


def index_cards(data: LiveQA, home: Path, embedder: Embedder, options: IndexOptions, *, bodies: bool) -> Collection:
    """The cards as a certified collection under `home`, made at the first run and opened later, unless they changed.

    Vectors stand for whole passages with `bodies`, else for their titles alone. Close it after use.
    """
    name = f"{NAME}-{'bodies' if bodies else 'titles'}"
    home.mkdir(parents=True, exist_ok=True)
    manifest = home / f"{name}.toml"
    told = (
        f'name = "{data.cards.name}"\napprover = "the publishers"\nmedical = false\n'
        f'[[documents]]\npath = {json.dumps(str(data.cards.resolve()))}\nversion = "1"\napproved = 2019-10-22\n'
        f'sha256 = "{hashlib.sha256(data.cards.read_bytes()).hexdigest()}"\n'
    )
    finished = home / f"{name}.made"
    asked = told + options.model_dump_json()
    if not finished.is_file() or finished.read_text(encoding="utf-8") != asked:
        finished.unlink(missing_ok=True)
        manifest.write_text(told, encoding="utf-8")
        made = embedder if bodies else Titles(embedder)
        with open_collection(home, name, language="en", embedder=made, create=True) as collection:
            certify_documents(collection.store, manifest, options)
        finished.write_text(asked, encoding="utf-8")
    return open_collection(home, name, embedder=embedder)
