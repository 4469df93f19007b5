"""Runs in TREC iKAT's official layout: written, read and checked against the topics.

One JSON object `{run_name, run_type, turns: [{turn_id, responses: [{rank, text, ptkb_provenance: [{id, text, score}],
passage_provenance: [{id, text, score, used}]}]}]}`; a turn's `turn_id` is topic and turn, `9-1_3`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from personable.errors import DataError, NotFoundError
from personable.evaluation.datasets import Filled
from personable.evaluation.ikat import Asked, Name, Topic
from personable.types import Value

Scores = dict[str, dict[str, float]]
"""`{turn: {statement id: score}}`"""


class Statement(Value):
    """A statement of a run."""

    id: Name
    text: str = ""
    score: float


class Passage(Value):
    """A passage of a run; `used` says that the response was made from it."""

    id: Filled
    text: str = ""
    score: float = 0.0
    used: bool = False


class Response(Value):
    """A response of a run; a run that only ranks statements leaves `text` empty."""

    rank: int = Field(ge=1)
    text: str = ""
    ptkb_provenance: tuple[Statement, ...] = ()
    passage_provenance: tuple[Passage, ...] = ()


class RunTurn(Value):
    """What a run says at one turn, best response first."""

    turn_id: Filled
    responses: tuple[Response, ...] = Field(min_length=1)


class Run(BaseModel):
    """A run. `run_type` says whether a human's rewrites were read."""

    model_config = ConfigDict(frozen=True, extra="ignore", allow_inf_nan=False)

    run_name: Filled
    run_type: Literal["automatic", "manual"]
    turns: tuple[RunTurn, ...]

    def scores(self) -> Scores:
        """The statements of each turn's first response."""
        return {
            turn.turn_id: {one.id: one.score for one in min(turn.responses, key=lambda one: one.rank).ptkb_provenance}
            for turn in self.turns
        }


def statement_run(name: str, turns: Sequence[Asked], scores: Scores, *, manual: bool) -> Run:
    """A run that ranks statements and says nothing else, best statement first."""
    made = []
    for one in turns:
        texts = {statement.id: statement.text for statement in one.statements}
        ranked = sorted(scores[one.qid].items(), key=lambda pair: -pair[1])
        found = tuple(Statement(id=id, text=texts[id], score=score) for id, score in ranked)
        made.append(RunTurn(turn_id=one.qid, responses=(Response(rank=1, ptkb_provenance=found),)))
    return Run(run_name=name, run_type="manual" if manual else "automatic", turns=tuple(made))


def write_run(run: Run, path: Path) -> None:
    """Write `run` as the track wants it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(run.model_dump(mode="json"), ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def read_run(path: Path, topics: Sequence[Topic]) -> Run:
    """A run, checked: its turns and statements are those of `topics`, each once, with finite scores, ranks in order.

    Raises NotFoundError without the file, DataError that names turn and field.
    """
    if not path.is_file():
        raise NotFoundError(f"no run at {path}")
    try:
        run = Run.model_validate(json.loads(path.read_text(encoding="utf-8")))
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise DataError(f"{path}: not a run in JSON: {error}") from error
    except ValidationError as error:
        first = error.errors()[0]
        raise DataError(f"{path}: {'.'.join(map(str, first['loc']))}: {first['msg']}") from error
    known = {topic.qid(at): {one.id for one in topic.ptkb} for topic in topics for at in range(len(topic.turns))}
    seen: set[str] = set()
    for turn in run.turns:
        if turn.turn_id not in known:
            raise DataError(f"{path}: turn {turn.turn_id!r} is in no topic")
        if turn.turn_id in seen:
            raise DataError(f"{path}: turn {turn.turn_id!r} stands there twice")
        seen.add(turn.turn_id)
        _check(turn, known, path)
    return run


def _check(turn: RunTurn, known: Mapping[str, set[str]], path: Path) -> None:
    where = f"{path}: turn {turn.turn_id}"
    ranks = [response.rank for response in turn.responses]
    if ranks != sorted(set(ranks)):
        raise DataError(f"{where}: ranks of responses must rise, got {ranks}")
    for response in turn.responses:
        ids = [one.id for one in response.ptkb_provenance]
        unknown = [id for id in ids if id not in known[turn.turn_id]]
        if unknown:
            raise DataError(f"{where}: no statement {unknown[0]!r} in the PTKB")
        if len(set(ids)) < len(ids):
            raise DataError(f"{where}: a statement stands there twice")
        scores = [one.score for one in response.ptkb_provenance]
        if scores != sorted(scores, reverse=True):
            raise DataError(f"{where}: scores of statements must not rise")
