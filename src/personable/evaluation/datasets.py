"""Data sets: questions with what is known about the right answer (gold answers, judged passages).

Readers keep the published layouts. The open QA sets carry their passages; a BEIR folder is a collection to search in.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from personable.errors import DataError, NotFoundError, UsageError
from personable.evaluation.lines import find, read_lines, refuse_duplicate, text_lines
from personable.types import Passage, Value

Part = Literal["all", "odd", "even"]
"""Rows by `index`: methods are developed on the odd ones and reported on the even ones."""

OPENQA = ("nq", "triviaqa", "webq")
HOW_OPENQA = (
    "The open QA sets are NQ, TriviaQA and WebQ questions with ten KILT Wikipedia passages each, one JSON object a "
    "line: {id, index, question, answers[], passages[]}. Give their folder with --data; a sample of the layout is in "
    "tests/data/openqa, whose README says where the questions and passages come from."
)
HOW_LOGS = (
    "The recorded outputs are those published with PersonaRAG (arXiv 2407.09394), one JSON object a line: "
    "{model, dataset, topk, id, index, method, kind, response}. Give their folder with --data."
)
HOW_BEIR = "A BEIR folder holds corpus.jsonl, queries.jsonl and qrels/<split>.tsv (query-id, corpus-id, score)."

Filled = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]


class Row(Value):
    """One question of a data set.

    `answers` are gold answers (any one is right), `relevant` grades of passage ids, `passages` what is given with the
    question, in rank order. What is empty is not known.
    """

    id: Filled
    question: Filled
    index: int = 0
    answers: tuple[Filled, ...] = ()
    passages: tuple[Passage, ...] = ()
    relevant: dict[str, int] = Field(default_factory=dict)


class Beir(Value):
    """A collection with judged queries."""

    corpus: tuple[Passage, ...]
    rows: tuple[Row, ...]


class Logged(BaseModel):
    """One recorded output of the published experiments."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    model: str
    dataset: str
    topk: int
    id: Filled
    index: int
    method: str
    kind: str
    response: str | None


class _OpenQALine(BaseModel):
    id: Filled
    index: int
    question: Filled
    answers: tuple[Filled, ...] = ()
    passages: tuple[str, ...]


class _Document(BaseModel):
    id: Filled = Field(alias="_id")
    text: str
    title: str | None = ""


class _Query(BaseModel):
    id: Filled = Field(alias="_id")
    text: Filled


def read_openqa(folder: Path, name: str, topk: int = 3) -> list[Row]:
    """The rows of `<name>.jsonl` with their first `topk` passages, whose ids are `<row id>/<rank from 1>`.

    Passages are kept as published, bare titles and repetitions too. Raises NotFoundError without the file, DataError
    for a malformed line or a repeated id, UsageError for a `topk` below 1.
    """
    if topk < 1:
        raise UsageError(f"top-{topk} makes no sense: ask for at least one passage")
    path = find(_inside(folder, f"{name}.jsonl"), f"{name}.jsonl", HOW_OPENQA)
    seen: dict[str, int] = {}
    rows = []
    for number, line in read_lines(path, _OpenQALine):
        refuse_duplicate(seen, line.id, path, number)
        given = tuple(Passage(id=f"{line.id}/{rank}", text=text) for rank, text in enumerate(line.passages[:topk], 1))
        rows.append(Row(passages=given, **line.model_dump(exclude={"passages"})))
    return _not_empty(rows, path)


def read_logs(folder: Path) -> list[Logged]:
    """Recorded outputs. Raises NotFoundError without the file, DataError for a malformed or repeated record."""
    name = "persona_rag_logs.jsonl"
    path = find(_inside(folder, name), name, HOW_LOGS)
    seen: dict[str, int] = {}
    found = []
    for number, line in read_lines(path, Logged):
        refuse_duplicate(seen, "/".join((line.model, line.id, f"top-{line.topk}", line.method)), path, number)
        found.append(line)
    return _not_empty(found, path)


def read_beir(folder: Path, split: str = "test") -> Beir:
    """A collection, and its queries that have judgements in `split`.

    Raises NotFoundError without the files, DataError for a malformed line, a repeated id or pair, and a judgement
    about a query that does not exist.
    """
    queries_path = find(folder, "queries.jsonl", HOW_BEIR)
    seen: dict[str, int] = {}
    queries = {}
    for number, query in read_lines(queries_path, _Query):
        refuse_duplicate(seen, query.id, queries_path, number)
        queries[query.id] = query.text
    qrels = _read_qrels(find(folder, f"qrels/{split}.tsv", HOW_BEIR), queries)
    rows = [
        Row(id=id, index=index, question=queries[id], relevant=grades)
        for index, (id, grades) in enumerate(qrels.items())
    ]
    return Beir(corpus=read_corpus(folder), rows=tuple(rows))


def read_corpus(folder: Path) -> tuple[Passage, ...]:
    """The documents of a BEIR folder, some of which may be titles only. Raises what `read_beir` raises."""
    path = find(folder, "corpus.jsonl", HOW_BEIR)
    seen: dict[str, int] = {}
    corpus = []
    for number, document in read_lines(path, _Document):
        refuse_duplicate(seen, document.id, path, number)
        corpus.append(Passage(id=document.id, text=document.text, title=document.title or ""))
    return tuple(_not_empty(corpus, path))


def select(rows: Sequence[Row], part: Part = "all", limit: int | None = None) -> list[Row]:
    """The rows of a part, the first `limit` of them. Raises UsageError when nothing is left."""
    wanted = {"all": (0, 1), "odd": (1,), "even": (0,)}[part]
    chosen = [row for row in rows if row.index % 2 in wanted][: limit if limit is None else max(limit, 0)]
    if not chosen:
        raise UsageError(f"no rows left: part {part!r} and limit {limit} of {len(rows)} rows; raise the limit")
    return chosen


def digest(rows: Iterable[Row]) -> str:
    """The sha256 of everything in `rows`: two runs are comparable only when theirs agree."""
    found = hashlib.sha256()
    for row in rows:
        found.update(json.dumps(row.model_dump(mode="json"), sort_keys=True).encode())
    return found.hexdigest()


def _inside(folder: Path, name: str) -> Path:
    nested = folder / "openqa"
    here = any((folder / file).is_file() for file in (name, f"{name}.gz"))
    return nested if not here and nested.is_dir() else folder


def _not_empty(found: list[Any], path: Path) -> list[Any]:
    if not found:
        raise DataError(f"{path} is empty: there is nothing to evaluate")
    return found


def _read_qrels(path: Path, queries: dict[str, str]) -> dict[str, dict[str, int]]:
    qrels: dict[str, dict[str, int]] = {}
    seen: dict[str, int] = {}
    for number, line in text_lines(path):
        cells = line.rstrip("\r\n").split("\t")
        if number == 1 and cells[-1].strip() == "score":
            continue
        if len(cells) != 3 or not cells[2].strip().lstrip("-").isdecimal():
            raise DataError(f"{path}:{number}: wanted query-id, corpus-id and a whole-number score between tabs")
        query, document, grade = (cell.strip() for cell in cells)
        if query not in queries:
            raise NotFoundError(f"{path}:{number}: no query {query!r} in queries.jsonl")
        refuse_duplicate(seen, f"{query} {document}", path, number)
        qrels.setdefault(query, {})[document] = int(grade)
    return qrels
