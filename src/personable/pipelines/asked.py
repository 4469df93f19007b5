"""The one synchronous way in, for scripts and notebooks."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from personable.kit import open_kit
from personable.pipelines.answer import answer
from personable.retrieval.corpus import choose_collection
from personable.settings import load_settings
from personable.types import Answer, Question


def ask(
    question: str,
    *,
    person: str | None = None,
    session: str | None = None,
    collection: str | None = None,
    **settings: Any,
) -> Answer:
    """Answer `question` from `collection` (None: `default`, or the only one).

    `settings` are those of `Settings`, such as `model="openai:…"`. Opens what it needs and closes it again: use
    `open_kit` and `answer` for more than a few questions. Works inside a running event loop (a notebook), too. Raises
    what `choose_collection`, `open_kit` and `answer` raise.
    """

    async def work() -> Answer:
        conf = load_settings(**settings)
        async with await open_kit(conf, choose_collection(conf.home, collection)) as kit:
            return await answer(kit, Question(text=question, person=person, session=session))

    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, work()).result()
