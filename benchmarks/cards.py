"""The MedQuAD cards and the LiveQA messages that the retrieval benchmarks share."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import NamedTuple

from personable.embed import Embedder
from personable.retrieval.store import PassageStore
from personable.types import Passage


class Message(NamedTuple):
    """A consumer's question: as written, with its subject line, and in the words of an expert."""

    id: str
    message: str
    with_subject: str
    paraphrase: str


def read_cards(data: Path, limit: int | None = None) -> list[Passage]:
    """A card is one passage: its question the title, its answer the text."""
    with gzip.open(data / "medical/medquad_cards.jsonl.gz", "rt", encoding="utf-8") as lines:
        cards = [json.loads(line) for line in lines][:limit]
    return [
        Passage(
            id=card["id"],
            title=card["question"],
            text=card["answer"],
            source=card["url"],
            meta={"site": card["source"], "type": card["qtype"], "focus": card.get("focus") or ""},
        )
        for card in cards
    ]


def read_messages(data: Path) -> list[Message]:
    with (data / "medical/liveqa_dev_questions.jsonl").open(encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    return [
        Message(
            row["id"],
            row["message"] or row["subject"],
            f"{row['subject'] or ''}\n{row['message'] or ''}".strip(),
            row["nist_paraphrase"],
        )
        for row in rows
    ]


def built_store(folder: Path, cards: list[Passage], embedder: Embedder | None) -> PassageStore:
    """A collection of `cards` in `folder`, taken as it is if it is there already and whole."""
    store = PassageStore(folder, embedder=embedder, write=True)
    done = store.documents()
    step = 1000
    for start in range(0, len(cards), step):
        for card in cards[start : start + step]:
            if card.id not in done:
                store.put(card.id, "1", [card])
        store.commit()
    return store
