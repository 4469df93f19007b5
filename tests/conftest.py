from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from personable.embed import make_embedder
from personable.kit import Kit
from personable.people.store import People
from personable.retrieval.hybrid import HybridRetriever
from personable.retrieval.store import PassageStore
from personable.settings import Settings
from personable.types import Passage
from tests.stores import new_people

settings.register_profile("quick", max_examples=20)

PASSAGES = [
    Passage(
        id=f"{document}#0", document=document, title=title, text=text, source=f"{document}.md", start=0, end=len(text)
    )
    for document, title, text in [
        ("stones", "Kidney stones", "Drink 2 to 3 liters of water a day. Stones may come back."),
        ("gout", "What is gout?", "Gout is a painful form of arthritis. It is caused by uric acid crystals."),
        ("milk", "Lactose intolerance", "People with lactose intolerance cannot digest milk sugar. Yogurt may help."),
        ("iron", "Iron in pregnancy", "Pregnant women need more iron. Lentils and spinach are rich in iron."),
        ("walk", "Walking", "Walking 30 minutes a day strengthens the heart. Wear comfortable shoes."),
        ("sleep", "What helps against poor sleep?", "A dark and quiet room helps against poor sleep."),
    ]
]


@pytest.fixture
def passages() -> list[Passage]:
    return list(PASSAGES)


@pytest.fixture
async def make_kit(tmp_path: Path) -> AsyncIterator[Callable[..., Kit]]:
    """Kits over six short passages with a hashing embedder; `make_kit(model=…, people=…, setting=…)`."""
    embedder = make_embedder("hash:256")
    store = PassageStore(tmp_path / "collection", embedder=embedder, write=True)
    for passage in PASSAGES:
        store.put(passage.document, "digest", [passage])
    store.commit()

    def make(model: Any = None, people: People | None = None, **settings: Any) -> Kit:
        return Kit(
            Settings(home=tmp_path, **settings),
            retriever=HybridRetriever(store, embedder),
            people=people,
            embedder=embedder,
            model=model,
            agents_model=model,
        )

    yield make
    store.close()


@pytest.fixture
async def people(tmp_path: Path) -> AsyncIterator[People]:
    async with await new_people(tmp_path / "people.db") as store:
        await store.add("ana")
        await store.tell("ana", "I am pregnant", sensitive=False)
        await store.tell("ana", "I have lactose intolerance", sensitive=True)
        yield store
