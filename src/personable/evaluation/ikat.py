"""TREC iKAT: topics with a person's statements (PTKB) and a conversation, judgements of statements, recorded rewrites.

Aliannejadi et al. 2024 (arXiv 2401.01330). Topics are read in the track's own layout (2023 and 2024: one JSON list,
`ptkb` an object) and as JSON lines (`ptkb` a list of `{id, text}`); see `docs/benchmarks.md`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, Field, ValidationError

from personable.errors import DataError, NotFoundError, UsageError
from personable.evaluation.datasets import Filled
from personable.evaluation.lines import find, read_lines, refuse_duplicate, text_lines
from personable.pipelines.conversation import PastTurn, Utterance
from personable.types import Value

HOW = (
    "An iKAT folder holds topics_2023_test.jsonl (or the track's own 2023_test_topics.json), "
    "qrels_ptkb_2023_nist.txt and qrels_ptkb_2023_org.txt. Give the folder with --data."
)
Input = Literal["automatic", "manual", "recorded"]
"""What a ranker gets to read: what the person said; a human's rewrite of it; a stronger model's recorded rewrite."""

Qrels = dict[str, dict[str, int]]
"""`{turn: {statement id: grade}}`"""


def _text(value: Any) -> Any:
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _list(value: Any) -> Any:
    return [{"id": id, "text": text} for id, text in value.items()] if isinstance(value, Mapping) else value


Name = Annotated[Filled, BeforeValidator(_text)]


class PTKBStatement(Value):
    """A statement of the person's PTKB. The text may be empty: one of the training topics holds a bare full stop."""

    id: Name
    text: str


class Turn(BaseModel):
    """A turn of a topic. `response` is the canonical one and never read for its own turn; see `Topic.said`."""

    turn_id: int = Field(ge=1)
    utterance: Filled
    resolved_utterance: str = ""
    response: str = ""
    ptkb_provenance: list[Name] = Field(default_factory=list)


class Topic(BaseModel):
    """A conversation of one person."""

    number: Name
    title: str = ""
    ptkb: Annotated[list[PTKBStatement], BeforeValidator(_list)]
    turns: list[Turn] = Field(min_length=1)

    def qid(self, at: int) -> str:
        """The name of the turn at a place (from 0), as in judgements and runs: `9-1_3`."""
        return f"{self.number}_{self.turns[at].turn_id}"

    def said(self, at: int, rewrite: str = "") -> Utterance:
        """What may be read at the turn at a place (from 0): its utterance and earlier turns with their canonical
        responses; never its own response, nor anything later."""
        before = [PastTurn(utterance=turn.utterance, response=turn.response) for turn in self.turns[:at]]
        return Utterance(text=self.turns[at].utterance, turns=before, rewrite=rewrite)


class Asked(Value):
    """One turn to rank statements for."""

    qid: str
    said: Utterance
    statements: tuple[PTKBStatement, ...]


class _Rewrite(BaseModel):
    qid: Filled
    gpt4o: Filled


def read_topics(path: Path) -> list[Topic]:
    """The topics of one file, in either layout, in their order.

    Raises NotFoundError without the file, DataError that names file, line (or topic) and field.
    """
    if not path.is_file():
        raise NotFoundError(f"no topics at {path}. {HOW}")
    seen: dict[str, int] = {}
    topics = []
    for number, topic in _topics(path):
        refuse_duplicate(seen, topic.number, path, number)
        _unique([one.id for one in topic.ptkb], f"{path}:{number}: statement")
        _unique([str(turn.turn_id) for turn in topic.turns], f"{path}:{number}: turn")
        topics.append(topic)
    if not topics:
        raise DataError(f"{path} holds no topic")
    return topics


def _topics(path: Path) -> Iterator[tuple[int, Topic]]:
    if path.name.endswith((".jsonl", ".jsonl.gz")):
        yield from read_lines(path, Topic)
        return
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except json.JSONDecodeError as error:
        raise DataError(f"{path}:{error.lineno}: not JSON: {error.msg}") from error
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: not UTF-8: {error}") from error
    if not isinstance(found, list):
        raise DataError(f"{path}: a list of topics is expected, not {type(found).__name__}")
    for number, one in enumerate(found, 1):
        try:
            yield number, Topic.model_validate(one)
        except ValidationError as error:
            first = error.errors()[0]
            field = ".".join(map(str, first["loc"])) or "the topic"
            raise DataError(f"{path}: topic {number}: {field}: {first['msg']}") from error


def _unique(names: Sequence[str], what: str) -> None:
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise DataError(f"{what} {twice[0]!r} stands there twice; ids must be unique")


def read_qrels(path: Path) -> Qrels:
    """Judgements in TREC's layout: turn, a field that nobody reads, statement, grade.

    Raises NotFoundError without the file, DataError that names file and line.
    """
    if not path.is_file():
        raise NotFoundError(f"no judgements at {path}. {HOW}")
    qrels: Qrels = {}
    for number, line in text_lines(path):
        fields = line.split()
        if len(fields) != 4 or not fields[3].lstrip("-").isdecimal():
            raise DataError(f"{path}:{number}: expected 'turn 0 statement grade', got {line.strip()[:80]!r}")
        turn, _, statement, grade = fields
        if statement in qrels.setdefault(turn, {}):
            raise DataError(f"{path}:{number}: statement {statement} of turn {turn} is judged twice")
        qrels[turn][statement] = int(grade)
    return qrels


def read_rewrites(folder: Path) -> dict[str, str]:
    """The recorded rewrites of a stronger model, by turn. Raises NotFoundError and DataError."""
    path = find(folder, "llm_rewrites_2023.jsonl", HOW)
    seen: dict[str, int] = {}
    found = {}
    for number, one in read_lines(path, _Rewrite):
        refuse_duplicate(seen, one.qid, path, number)
        found[one.qid] = one.gpt4o
    return found


def topics_file(folder: Path, split: Literal["train", "test"]) -> Path:
    """The 2023 topics of a folder, in whichever layout stands there. Raises NotFoundError."""
    names = (f"topics_2023_{split}.jsonl", f"topics_2023_{split}.jsonl.gz", f"2023_{split}_topics.json")
    for name in names:
        if (folder / name).is_file():
            return folder / name
    raise NotFoundError(f"no {names[0]} in {folder}. {HOW}")


def asked(
    topics: Sequence[Topic], turns: Sequence[str], kind: Input = "automatic", rewrites: Mapping[str, str] | None = None
) -> list[Asked]:
    """The named turns, in the topics' order, as `kind` may read them.

    With `automatic` there is no rewrite; `manual` has the human one, `recorded` that of `rewrites`. Raises DataError
    for a turn that is in no topic and UsageError for one without the rewrite that was asked for.
    """
    wanted, found = set(turns), []
    for topic in topics:
        for at in range(len(topic.turns)):
            qid = topic.qid(at)
            if qid in wanted:
                rewrite = _rewrite(topic.turns[at], qid, kind, rewrites or {})
                found.append(Asked(qid=qid, said=topic.said(at, rewrite), statements=tuple(topic.ptkb)))
    missing = wanted - {one.qid for one in found}
    if missing:
        raise DataError(f"{len(missing)} judged turns are in no topic, such as {min(missing)}")
    return found


def _rewrite(turn: Turn, qid: str, kind: Input, rewrites: Mapping[str, str]) -> str:
    if kind == "automatic":
        return ""
    found = turn.resolved_utterance if kind == "manual" else rewrites.get(qid, "")
    if not found:
        raise UsageError(f"turn {qid} has no {kind} rewrite")
    return found
