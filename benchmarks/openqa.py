"""The open QA sets as the benchmarks of `quote` read them."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from personable.llm.quote import Similar
from personable.types import Passage, Value

DATASETS = ("nq", "triviaqa", "webq")


class Row(Value):
    """A question with its gold answers and the ten passages that come with it, in rank order."""

    id: str
    dataset: str
    question: str
    answers: list[str]
    passages: list[Passage]


def read_rows(folder: Path, *, odd: bool) -> list[Row]:
    """The rows with an odd (development) or even (report) `index` of all three sets."""
    rows = []
    for dataset in DATASETS:
        for line in (folder / f"{dataset}.jsonl").read_text(encoding="utf-8").splitlines():
            data = json.loads(line)
            if data["index"] % 2 == odd:
                passages = [Passage(id=f"{data['id']}-{i}", text=text) for i, text in enumerate(data["passages"])]
                rows.append(
                    Row(
                        id=data["id"],
                        dataset=dataset,
                        question=data["question"],
                        answers=data["answers"],
                        passages=passages,
                    )
                )
    return rows


def contained(text: str, answers: Sequence[str]) -> bool:
    """Whether a case-folded answer is a substring of the case-folded text: the measure that is reported."""
    folded = text.casefold()
    return any(answer.casefold() in folded for answer in answers)


def gold_spans(text: str, answers: Sequence[str]) -> list[tuple[int, int]]:
    """Where answers of two letters or more stand as words: the labels to learn from, stricter than `contained`."""
    wanted = sorted({answer.casefold() for answer in answers if len(answer) > 1})
    spans = []
    for answer in wanted:
        for match in re.finditer(rf"(?<!\w){re.escape(answer)}(?!\w)", text.lower()):
            spans.append(match.span())
    return spans


def minilm() -> Similar:
    """Cosines from the packaged MiniLM; a question and the texts of the last few calls are remembered, as in use."""
    return _similar(most=512)


def remembering() -> Similar:
    """The same, every vector kept: for fitting, which reads the same texts many times."""
    return _similar(most=None)


def _similar(most: int | None) -> Similar:
    from personable.embed import make_embedder

    embedder = make_embedder("minilm", threads=1)
    known: dict[str, NDArray[np.float32]] = {}

    def similar(question: str, texts: Sequence[str]) -> NDArray[np.float32]:
        if most is not None and len(known) > most:
            known.clear()
        new = list(dict.fromkeys(text for text in (question, *texts) if text not in known))
        known.update(zip(new, embedder.passages(new), strict=True))
        return np.array([known[text] for text in texts]) @ known[question]

    return similar
