"""Judging responses: groundedness and naturalness by a model, lexical support by counting, and a check of both.

The two questions are those of TREC iKAT 2023 (groundedness 0 or 1, naturalness 0 to 4), in our own words. The texts
that GPT-4 judged there are not public, so a judge is tried on constructed responses and is not validated against GPT-4.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Literal, get_args

from pydantic import Field

from personable.errors import ModelOutputError
from personable.evaluation.datasets import Row
from personable.evaluation.statistics import Interval, bootstrap
from personable.guard import COVERAGE, Guard, split_reply
from personable.llm.base import LanguageModel, Prompt
from personable.prompts import fit, prompt_hash, render
from personable.text import sentences
from personable.types import Passage, Value

ROOM = 1500
"""Tokens of passages that a judge is shown; longer ones are shortened."""
SHORTEST = 40
"""Characters of a sentence that is worth making a response of."""
_NUMBER = re.compile(r"\d+")
Kind = Literal["grounded", "other number", "foreign sentence"]
KINDS: tuple[Kind, ...] = get_args(Kind)


class Judgement(Value):
    """What a judge says of a response."""

    grounded: int = Field(ge=0, le=1, description="1 if every claim stands in the passages, else 0")
    natural: int = Field(ge=0, le=4, description="0 not natural at all … 4 entirely natural")


class Constructed(Value):
    """A response whose groundedness is known by how it was made."""

    id: str
    kind: Kind
    utterance: str
    response: str
    passages: list[Passage]


async def judge(model: LanguageModel, utterance: str, response: str, passages: Sequence[Passage]) -> Judgement:
    """The model's two judgements of a response. Raises ModelError, also where it gives none of the allowed numbers."""
    texts = fit([passage.text for passage in passages], ROOM)
    task = render("judge/response", utterance=utterance, response=response, passages=texts)
    name = "judge/response"
    prompt = Prompt(system=render("judge/system"), task=task, hash=prompt_hash(name), agent="judge")
    reply = await model.write(prompt, Judgement, 60)
    if reply.value is None:
        raise ModelOutputError(f"{reply.model} gave no judgement")
    return reply.value


def support(response: str, passages: Sequence[Passage], utterance: str = "", language: str = "en") -> list[float]:
    """For each sentence of a response how much one passage supports it, 0 to 1: the guard's measure, the share of the
    sentence's new content words that stand in the passage, 0 where a number or a name does not."""
    guard = Guard(passages, utterance, language)
    return [max(guard.check(one).verdict.evidence.values(), default=0.0) for one in split_reply(response)]


def supported(response: str, passages: Sequence[Passage], utterance: str = "", language: str = "en") -> bool:
    """Whether every sentence has the guard's support, and there is one."""
    shares = support(response, passages, utterance, language)
    return bool(shares) and min(shares) >= COVERAGE


def construct(rows: Sequence[Row]) -> list[Constructed]:
    """Three responses a row: a sentence of its passages, the same with another number (where it has one), and a
    sentence of the next row's passages."""
    made = []
    for row, other in pairwise([*rows, *rows[:1]]):
        own = _sentence(row)
        if not own:
            continue
        made.append(_of(row, "grounded", own))
        changed = _NUMBER.sub(lambda found: str(int(found[0]) + 7), own, count=1)
        if changed != own and not any(changed in passage.text for passage in row.passages):
            made.append(_of(row, "other number", changed))
        if foreign := _sentence(other):
            made.append(_of(row, "foreign sentence", foreign))
    return made


def _of(row: Row, kind: Kind, response: str) -> Constructed:
    return Constructed(
        id=f"{row.id}/{kind}", kind=kind, utterance=row.question, response=response, passages=list(row.passages)
    )


def _sentence(row: Row) -> str:
    """The first whole sentence of the row's passages that says enough, one with a number before others."""
    found = [one.text for passage in row.passages for one in sentences(passage.text) if len(one.text) >= SHORTEST]
    return next((text for text in found if _NUMBER.search(text)), found[0] if found else "")


def agreement(pairs: Sequence[Constructed], says: Mapping[str, bool]) -> dict[Kind, Interval]:
    """For each kind the share of responses that were told apart rightly (`says`: id → grounded), 95 % bootstrap."""
    right = {
        kind: [float(says[pair.id] == (kind == "grounded")) for pair in pairs if pair.kind == kind and pair.id in says]
        for kind in KINDS
    }
    return {kind: bootstrap(values) for kind, values in right.items() if values}


async def try_judge(model: LanguageModel | None, pairs: Sequence[Constructed]) -> str:
    """A table of how often lexical support, and the judge where there is one, tell the constructed responses rightly.

    A judgement that could not be read counts as wrong. Raises ModelError where the model does not answer at all.
    """
    counted = {pair.id: supported(pair.response, pair.passages, pair.utterance) for pair in pairs}
    rows = {"lexical support": agreement(pairs, counted)}
    if model is not None:
        said = {}
        for pair in pairs:
            try:
                found = await judge(model, pair.utterance, pair.response, pair.passages)
                said[pair.id] = bool(found.grounded)
            except ModelOutputError:
                said[pair.id] = pair.kind != "grounded"
        rows[model.name] = agreement(pairs, said)
    head = ["who says so", *(f"{kind}: told rightly [95 %], n" for kind in KINDS)]
    lines = [
        [name, *(f"{one.mean:.3f} [{one.low:.3f}, {one.high:.3f}], {one.n}" for one in found.values())]
        for name, found in rows.items()
    ]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (head, ["---"] * len(head), *lines))
