"""Responses on TREC iKAT, for who has the passage text: `personable eval ikat-responses`.

`converse` responds to every judged turn for the topic's person, with the canonical turns before it as history; the run
is written in the track's layout, and each response's support, groundedness and naturalness are told.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from personable.board import Board
from personable.evaluation.ikat import Asked, Topic, asked, read_qrels, read_topics, topics_file
from personable.evaluation.ikat_passages import HOW, index
from personable.evaluation.ikat_runfile import Passage as Ranked
from personable.evaluation.ikat_runfile import Response, Run, RunTurn, Statement, write_run
from personable.evaluation.judging import judge, support
from personable.evaluation.lines import find
from personable.evaluation.statistics import Interval, bootstrap
from personable.guard import COVERAGE
from personable.kit import Kit
from personable.llm.base import LanguageModel
from personable.notes import PassagesNote, PortraitNote
from personable.people.statements import Told
from personable.people.store import People
from personable.pipelines.converse import converse
from personable.retrieval.hybrid import HybridRetriever, SparseRetriever
from personable.types import Answer, Passage, Question

RUN = "automatic-responses.json"


async def run_ikat_responses(
    kit: Kit, judge_model: LanguageModel | None, data: Path, out: Path, tell: Callable[[str], None] = lambda text: None
) -> str:
    """Respond to the judged turns, write the run into `out`, and return a table with n and intervals.

    People and their statements live in a store of their own in `out`, made anew. Without a judge the table has lexical
    support alone. Raises what reading, indexing and models raise.
    """
    topics, qrels = read_topics(topics_file(data, "test")), read_qrels(find(data, "qrels_passages.txt", HOW))
    turns = asked(topics, list(qrels), "automatic")
    store = await asyncio.to_thread(index, data, out / "collection", kit.embedder)
    (out / "people.db").unlink(missing_ok=True)
    with store:
        retriever = HybridRetriever(store, kit.embedder) if kit.embedder else SparseRetriever(store)
        async with await People.open(out / "people.db") as people:
            for topic in topics:
                await _meet(people, topic)
            own = replace(kit, retriever=retriever, store=None, people=people)
            tell(f"responding to {len(turns)} turns")
            made = [(one, *await _respond(own, one)) for one in turns]
    run = Run(
        run_name="personable-converse",
        run_type="automatic",
        turns=tuple(_turn(one, answer, board) for one, answer, board in made),
    )
    write_run(run, out / RUN)
    return await _table(kit, judge_model, made)


async def _meet(people: People, topic: Topic) -> None:
    await people.add(topic.number)
    await people.tell_many(topic.number, [Told(text=one.text, sensitive=False) for one in topic.ptkb])


async def _respond(kit: Kit, one: Asked) -> tuple[Answer, Board]:
    board = Board()
    question = Question(text=one.said.text, person=one.qid.rpartition("_")[0])
    return await converse(kit, question, turns=one.said.turns, board=board, keep=False), board


def _turn(one: Asked, answer: Answer, board: Board) -> RunTurn:
    """The turn of the run: the response, the statements as they were ranked, and the passages that it could be from."""
    portrait, ids = board.latest(PortraitNote), {statement.text: statement.id for statement in one.statements}
    known = portrait.statements if portrait else []
    cited = {citation.passage_id for citation in answer.citations}
    response = Response(
        rank=1,
        text=answer.text,
        ptkb_provenance=tuple(
            Statement(id=ids[used.text], text=used.text, score=used.score) for used in known if used.text in ids
        ),
        passage_provenance=tuple(
            Ranked(id=shown.id, text=shown.text, score=1 / place, used=shown.id in cited)
            for place, shown in enumerate(_shown(board), 1)
        ),
    )
    return RunTurn(turn_id=one.qid, responses=(response,))


def _shown(board: Board) -> list[Passage]:
    lists = [note for note in board.notes(PassagesNote) if note.name == "fused"]
    return [Passage(id=found.passage_id, text=found.text, title=found.title) for note in lists for found in note.found]


async def _table(kit: Kit, judge_model: LanguageModel | None, made: Sequence[tuple[Asked, Answer, Board]]) -> str:
    columns: dict[str, list[float]] = {"answered": [], "words": [], "supported sentences": []}
    if kit.model is not None:
        columns["a stand-in worked"] = [float(bool(answer.degraded)) for _, answer, _ in made]
    for one, answer, board in made:
        columns["answered"].append(float(answer.found))
        columns["words"].append(float(len(answer.text.split())))
        if not answer.found:
            continue
        shown = _shown(board)
        shares = support(answer.text, shown, one.said.text, kit.language)
        columns["supported sentences"].append(sum(share >= COVERAGE for share in shares) / max(len(shares), 1))
        if judge_model is not None:
            judged = await judge(judge_model, one.said.text, answer.text, shown)
            columns.setdefault("grounded (0-1)", []).append(float(judged.grounded))
            columns.setdefault("natural (0-4)", []).append(float(judged.natural))
    lines = [
        f"| {name} | {_cell(bootstrap(values)) if values else 'no response'} |" for name, values in columns.items()
    ]
    return "\n".join(["| automatic | mean [95 %], n |", "|---|---|", *lines])


def _cell(found: Interval) -> str:
    return f"{found.mean:.3f} [{found.low:.3f}, {found.high:.3f}], {found.n}"
