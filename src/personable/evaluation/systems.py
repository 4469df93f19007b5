"""Every system that can be evaluated: the baselines, and Personable's own pipelines over the passages of a row."""

from __future__ import annotations

import json
import re
from dataclasses import replace

from personable.board import Board
from personable.errors import ModelError, ModelRefusedError
from personable.evaluation.baselines import BASELINES
from personable.evaluation.datasets import Row
from personable.evaluation.outcome import Outcome, System
from personable.kit import Kit
from personable.notes import DigestNote, Note, ReplyNote
from personable.pipelines.answer import answer
from personable.types import Question

_MARK = re.compile(r"\s*\[\d+\]")


async def answer_pipeline(row: Row, kit: Kit) -> Outcome:
    """`answer` for a stranger over the row's own passages; citation marks are left out of the text that is scored.

    Where the model fails the question fails, at what was spent on it: a quotation would be counted as the model's.
    """
    board, text, error = Board(), "", None
    settings = kit.settings.model_copy(update={"passages": max(len(row.passages), 1)})
    given = replace(kit.given(row.passages), settings=settings, people=None)
    try:
        text = (await answer(given, Question(text=row.question), board=board, keep=False, strict=True)).text
    except ModelRefusedError:
        raise
    except ModelError as failed:
        error = f"{type(failed).__name__}: {failed}"
    return Outcome(
        answer=_MARK.sub("", text),
        passages=row.passages,
        board=json.loads(board.to_json()),
        calls=board.calls,
        steps=_steps(board),
        tokens=board.tokens,
        error=error,
    )


def _steps(board: Board) -> int:
    """Model calls that wait for each other in `answer`: the agents side by side, the digest, the reply."""
    return len({_stage(post.content) for post in board.all() if post.cost.calls})


def _stage(note: Note) -> str:
    return "digest" if isinstance(note, DigestNote) else "reply" if isinstance(note, ReplyNote) else "agents"


SYSTEMS: dict[str, System[Kit]] = {"answer": answer_pipeline} | BASELINES
