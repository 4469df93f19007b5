"""The seam to retrieval: a query goes in, ranked passages come out."""

from __future__ import annotations

from typing import Protocol

from personable.types import Hit, Where


class Retriever(Protocol):
    """Finds passages for a query.

    Every retriever passes `tests/contracts/retriever.py`: at most `k` hits, best first, no passage twice, ties in a
    stable order, an empty or unknown query gives no hits rather than arbitrary ones, and `where` holds for every hit.
    """

    async def search(self, query: str, k: int = 10, where: Where | None = None) -> list[Hit]:
        """The `k` best passages for `query` among those that match the metadata filter `where`."""
