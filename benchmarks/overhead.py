"""What the `answer` pipeline costs beside retrieval and the model: python benchmarks/overhead.py [--questions 100]

The scripted model answers at once: what remains, less the time of the searches, is the pipeline's own. Then each call
waits 200 ms: agents that run side by side take three waits at most, one after the other they would take eight.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import tempfile
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter
from typing import Any

from personable.demo import COLLECTION, PEOPLE, cards
from personable.embed import Vectors
from personable.kit import Kit, open_embedder, open_kit
from personable.llm.base import Prompt
from personable.llm.scripted import ScriptedModel
from personable.notes import DraftNote, FeedbackNote, OrderNote, ProfileNote, QueriesNote, SessionNote
from personable.pipelines.answer import answer
from personable.retrieval.corpus import open_collection
from personable.settings import Settings
from personable.text import sentences
from personable.types import Hit, Question, Where

SCRIPT = {
    "user profile": ProfileNote(summary="somebody who asks about their health"),
    "contextual retrieval": QueriesNote(queries=["healthy eating plan"]),
    "live session": SessionNote(need="to know what helps", next_questions=["What should I avoid?"]),
    "document ranking": OrderNote(order=[2, 1, 3, 4, 5]),
    "feedback": FeedbackNote(ask="How old are you?", record=["rating"]),
    "draft": DraftNote(reasoning="the passages say so", answer="Eat a healthy diet [1]."),
    "digest": {"text": "eat well"},
}


def script(prompt: Prompt, output: object) -> Any:
    """The agents' lines; the last one copies a sentence of the first passage, as the guard lets only such ones pass."""
    if prompt.agent != "cognitive":
        return SCRIPT[prompt.agent]
    passage = prompt.shared.split("</passage>")[0].rsplit('">\n', 1)[-1]
    return f"{sentences(passage)[0].text} [1]"


class Timed:
    """A retriever that adds up the time spent in searches and in embedding the question."""

    def __init__(self, kit: Kit) -> None:
        assert kit.retriever is not None
        assert kit.embedder is not None
        self._inner, self.seconds, self._embed = kit.retriever, 0.0, kit.embedder.queries
        setattr(kit.embedder, "queries", self._queries)  # noqa: B010

    def _queries(self, texts: Sequence[str]) -> Vectors:
        started = perf_counter()
        try:
            return self._embed(texts)
        finally:
            self.seconds += 0.0 if self._searching else perf_counter() - started

    _searching = False

    async def search(self, query: str, k: int = 10, where: Where | None = None) -> list[Hit]:
        started, self._searching = perf_counter(), True
        try:
            return await self._inner.search(query, k, where)
        finally:
            self._searching = False
            self.seconds += perf_counter() - started


async def measure(kit: Kit, questions: int, delay: float) -> tuple[list[float], list[float]]:
    """Seconds of each question, and the part of it outside searches."""
    timed = Timed(kit)
    kit.retriever = timed
    kit.model = kit.agents_model = ScriptedModel(script, delay=delay)
    whole, own = [], []
    for number in range(questions + 3):
        person = PEOPLE[number % 2].id
        timed.seconds = 0.0
        started = perf_counter()
        await answer(kit, Question(text=f"What should I eat in week {number}?", person=person, session="s"))
        seconds = perf_counter() - started
        if number >= 3:  # the first ones load models and prompt files
            whole.append(seconds)
            own.append(seconds - timed.seconds)
    return whole, own


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--questions", type=int, default=100)
    questions = parser.parse_args().questions
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(home=Path(folder))
        with open_collection(settings.home, COLLECTION, embedder=open_embedder(settings), create=True) as collection:
            collection.index([cards()])
        print("| model | n | whole, median ms | beside searches, query embedding and model, median ms | p95 ms |")
        print("|---|---|---|---|---|")
        for delay, count in ((0.0, questions), (0.2, 20)):
            async with await open_kit(settings, COLLECTION) as kit:
                if kit.people is not None and not await kit.people.list():
                    for neighbour in PEOPLE:
                        await kit.people.add(neighbour.id)
                        for statement in neighbour.statements:
                            await kit.people.tell(neighbour.id, statement)
                whole, own = await measure(kit, count, delay)
            waits = "answers at once" if not delay else f"waits {delay * 1000:.0f} ms a call"
            p95 = statistics.quantiles(own, n=20)[-1]
            print(
                f"| {waits} | {count} | {statistics.median(whole) * 1000:.1f} "
                f"| {statistics.median(own) * 1000:.1f} | {p95 * 1000:.1f} |"
            )


if __name__ == "__main__":
    asyncio.run(main())
