"""What a server holds open: one kit a collection, over the models, the people and the embedders that they share."""

from __future__ import annotations

import asyncio
import time
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import Any
from weakref import ref

from personable.board import Board
from personable.embed import Embedder
from personable.errors import ConfigurationError, PersonableError
from personable.kit import Kit, open_embedder
from personable.people.person import Person
from personable.people.receipt import Receipt
from personable.people.store import People
from personable.pipelines.certified_finding import Method
from personable.pipelines.certify import certify, emergency_of
from personable.pipelines.shop import Shop, open_shop
from personable.retrieval.cards import Cards, open_cards
from personable.retrieval.corpus import (
    Kind,
    choose_collection,
    collection_identity,
    collection_kind,
    list_collections,
    open_collection,
)
from personable.settings import Settings
from personable.types import CertifiedAnswer, Question

FRESH_SECONDS = 60.0
"""How long a catalogue or a set of cards is used before it is read again: what others do counts after so long."""


@dataclass
class _Opened:
    kit: Kit
    there: tuple[int, int] | None
    shop: tuple[float, Shop] | None = None
    cards: tuple[float, Cards] | None = None


@dataclass
class Engine:
    """Kits by collection. `base` has no collection; who made it closes it, after `close`."""

    base: Kit
    _opened: dict[str, _Opened] = field(default_factory=dict)
    _retired: list[ref[Kit]] = field(default_factory=list)
    _embedders: dict[str, Embedder] = field(default_factory=dict)
    _counted: int = 0
    _released: Counter[str] = field(default_factory=Counter)
    _locks: defaultdict[str, asyncio.Lock] = field(default_factory=lambda: defaultdict(asyncio.Lock))

    @property
    def settings(self) -> Settings:
        return self.base.settings

    @property
    def people(self) -> People:
        """Raises ConfigurationError for a kit that was opened without people."""
        if self.base.people is None:
            raise ConfigurationError("a server needs the store of people: open the kit with people=True")
        return self.base.people

    def collections(self) -> list[str]:
        """Names of the collections there are, sorted."""
        return list_collections(self.settings.home)

    async def kind(self, collection: str) -> Kind:
        """What a collection holds. Raises what `collection_kind` raises."""
        return await asyncio.to_thread(collection_kind, self.settings.home, collection)

    async def kit(self, collection: str | None = None) -> Kit:
        """The kit over a collection (None: `default`, or the only one), searched with the embedder it was made with.

        Raises what `choose_collection` and `open_kit` raise.
        """
        return (await self._over(collection)).kit

    async def shop(self, collection: str | None = None) -> tuple[Kit, Shop]:
        """A collection as a catalogue. Raises what `open_shop` raises."""
        opened = await self._over(collection)
        if opened.shop is not None and time.monotonic() - opened.shop[0] <= FRESH_SECONDS:
            return opened.kit, opened.shop[1]
        counted, began = self._counted, time.monotonic()
        shop = await open_shop(opened.kit)
        if counted == self._counted:  # else it may count visits of somebody who no longer counts
            opened.shop = (began, shop)
        return opened.kit, shop

    async def cards(self, collection: str | None = None) -> tuple[Kit, Cards]:
        """A collection as certified cards. Raises what `open_cards` raises."""
        opened = await self._over(collection)
        if opened.cards is None or time.monotonic() - opened.cards[0] > FRESH_SECONDS:
            assert opened.kit.store is not None
            cards = await asyncio.to_thread(open_cards, opened.kit.store, opened.kit.embedder)
            opened.cards = (time.monotonic(), cards)
        return opened.kit, opened.cards[1]

    async def certify(
        self, question: Question, collection: str | None, method: Method, *, board: Board, keep: bool, strict: bool
    ) -> CertifiedAnswer:
        """Answer out of a certified collection; where it cannot be opened, an approved emergency text still leaves.

        Raises what `certify` raises and, where the question holds no emergency phrase, what opening raises.
        """
        name = choose_collection(self.settings.home, collection)
        try:
            kit, cards = await self.cards(name)
        except PersonableError as error:
            return emergency_of(self.settings.home / "collections" / name, question, method, board, error)
        return await certify(kit, cards, question, method=method, board=board, keep=keep, strict=strict)

    def release(self, collection: str) -> None:
        """Open a collection anew when it is next asked for: it was indexed or deleted. Its kit lives on while an answer
        under way reads it."""
        self._released[collection] += 1
        opened = self._opened.pop(collection, None)
        if opened is not None:
            self._retired = [*(kit for kit in self._retired if kit() is not None), ref(opened.kit)]

    def forget_texts(self) -> None:
        """Remember nothing of what was asked and compared so far, in any kit."""
        for kit in (self.base, *self._kits()):
            kit.forget_texts()

    async def set_person(self, person: str, **given: Any) -> Person:
        """Set what is given as `People.set` does; who turns the dial counts at once as they want it, for others too."""
        before = await self.people.get(person)
        after = await self.people.set(person, **given)
        if after.dial != before.dial:
            self._forget_visits()
        return after

    async def erase(self, person: str) -> Receipt:
        """Erase a person everywhere, in the memory of every kit too. Raises what `Kit.erase` raises."""
        try:
            return await self.base.erase(person)
        finally:
            self.forget_texts()
            self._forget_visits()

    def _forget_visits(self) -> None:
        self._counted += 1
        for opened in self._opened.values():
            opened.shop = None

    async def close(self) -> None:
        """Let go of every collection."""
        for kit in self._kits():
            if kit.store is not None:
                kit.store.close()
        self._opened, self._retired = {}, []

    def _kits(self) -> list[Kit]:
        retired = [kit() for kit in self._retired]
        return [opened.kit for opened in self._opened.values()] + [kit for kit in retired if kit is not None]

    async def _over(self, collection: str | None) -> _Opened:
        name = choose_collection(self.settings.home, collection)
        async with self._locks[name]:
            there = collection_identity(self.settings.home, name)
            if name in self._opened and self._opened[name].there != there:  # deleted or made anew by another process
                self.release(name)
            while name not in self._opened:
                released = self._released[name]
                there = collection_identity(self.settings.home, name)
                embedder = await asyncio.to_thread(self.embedder, name)
                opened = _Opened(await self.base.over(name, embedder), there)
                if released == self._released[name]:  # else it may be what was there before
                    self._opened[name] = opened
            return self._opened[name]

    def embedder(self, collection: str, named: str = "") -> Embedder | None:
        """The embedder that a collection was made with, None where it was without one; for a new collection the one
        that is `named`, or else the server's. Blocks. Raises ConfigurationError."""
        usual = self.base.embedder
        if collection in self.collections():
            with open_collection(self.settings.home, collection) as found:
                named = found.store.manifest.embedder
        elif not named:
            return usual
        if not named or (usual is not None and named == usual.name):
            return usual if named else None
        if named not in self._embedders:
            self._embedders[named] = open_embedder(self.settings.model_copy(update={"embedder": named}))
        return self._embedders[named]
