"""Hypothetical documents for the questions of a data set, by a model or their stand-in, and how near they come.

Each is a line of `<out>/hydocs-<model>.jsonl`, so a run that stopped goes on; lines made with other settings or
prompts, or over another collection, stay there and count for nothing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Literal, get_args

import numpy as np

from personable.agent import Desk
from personable.board import Board
from personable.evaluation.lines import whole_lines
from personable.evaluation.liveqa import Consumer, LiveQA
from personable.evaluation.made import fingerprint
from personable.evaluation.statistics import Interval, bootstrap
from personable.evaluation.working import for_each
from personable.kit import Kit
from personable.notes import HydocNote, QuestionNote
from personable.pipelines.budget import Budget
from personable.pipelines.certified_finding import first_search
from personable.pipelines.certify import searcher
from personable.pipelines.certify_agents import PRAGMATICS, hydoc_agent
from personable.pipelines.crew import Crew
from personable.retrieval.cards import Cards
from personable.retrieval.store import embedded_text
from personable.types import Question

Source = Literal["question", "naive retrieval", "context"]
"""What a HyDoc is written from: the question only; with what it finds; with its pragmatic context, too."""
SOURCES: tuple[Source, ...] = get_args(Source)
Hydocs = Mapping[Source, Mapping[str, str]]
"""`{source: {question: text}}`"""


async def write_hydocs(
    kit: Kit, cards: Cards, questions: tuple[Consumer, ...], out: Path, tell: Callable[[str], None]
) -> Hydocs:
    """The HyDocs of all questions by the kit's model, as many at once as it takes calls, or by the stand-in without it:
    that is the question itself where only the question may be read. Raises ModelError where the model fails; what was
    written until then stays."""
    model = kit.agents_model or kit.model
    name = model.name if model else "numbers"
    file = out / f"hydocs-{re.sub(r'[^A-Za-z0-9._-]+', '-', Path(name).name)}.jsonl"
    made = fingerprint(kit.settings, "certify", cards.store.folder.name)
    done = {(one["source"], one["question"]): one["text"] for one in whole_lines(file) if one.get("made") == made}
    found: dict[Source, dict[str, str]] = {source: {} for source in SOURCES}

    async def write(question: Consumer) -> None:
        for source in SOURCES:
            text = done.get((source, question.id))
            if text is None:
                text = await _write(kit, cards, question.whole, source)
                with file.open("a", encoding="utf-8") as lines:
                    line = {"source": source, "question": question.id, "text": text, "made": made}
                    lines.write(json.dumps(line) + "\n")
            found[source][question.id] = text
        tell(f"{len(found[SOURCES[-1]])} of {len(questions)} questions have their hypothetical documents")

    await for_each(questions, write, model.concurrency if model else 1)
    return found


async def _write(kit: Kit, cards: Cards, text: str, source: Source) -> str:
    board, model = Board(), kit.agents_model or kit.model
    board.post("person", QuestionNote(question=Question(text=text)))
    asked = cards.lay.read(text)
    crew = Crew(board, None, "numeric", Budget.of(kit.settings).deadline(), strict=True)
    found = await first_search(cards, asked, board) if source != "question" else []
    if model is not None:
        crew.plan, crew.desk = "separate", searcher(kit, Desk(model, "", ""), text, asked, found)
    if source == "context":
        await crew.perform(PRAGMATICS)
    await crew.perform(hydoc_agent(cards.manifest.language, asked.focus, source == "context"))
    note = board.latest(HydocNote)
    return note.text if note else ""


def similarities(cards: Cards, data: LiveQA, hydocs: Hydocs) -> dict[str, Interval]:
    """The published Table 2: the mean cosine of a HyDoc with the question's relevant documents (graded 1 or more), for
    each source, and of the question as it was written."""
    assert cards.embedder is not None
    relevant = {id for grades in data.qrels.values() for id, grade in grades.items() if grade > 0}
    documents = cards.valid(sorted(relevant))
    vectors = cards.embedder.passages([embedded_text(one) for one in documents])
    row = {one.document: place for place, one in enumerate(documents)}
    asked = {one.id: one.whole for one in data.questions}
    means: dict[str, Interval] = {}
    for name, texts in {
        "the message itself": asked,
        **{str(key): dict(value) for key, value in hydocs.items()},
    }.items():
        values = []
        for question in data.questions:
            near = [row[id] for id, grade in data.qrels[question.id].items() if grade > 0]
            values.append(float(np.mean(vectors[near] @ cards.embedder.queries([texts[question.id]])[0])))
        means[name] = bootstrap(values)
    return means
