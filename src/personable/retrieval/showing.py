"""What of a collection may be shown: of a certified one what was not altered and is still approved, of others all."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import date

from personable.errors import DataError
from personable.retrieval.base import Retriever
from personable.retrieval.certifying import stored
from personable.retrieval.store import PassageStore
from personable.retrieval.vault import Vault, expired
from personable.types import Hit, Passage, Where


def shown(store: PassageStore, passage: Passage) -> Passage:
    """`passage`, where it may be shown. Raises DataError that names a document which was altered or whose approval
    ended, and what to do."""
    if not store.certified:
        return passage
    made = stored(store, passage.document)
    if why := _ended(made):
        raise DataError(f"{why}, so it is not shown; once it is approved again, index the collection from its manifest")
    return _verified(store, passage, made)


async def find_shown(
    retriever: Retriever, store: PassageStore | None, query: str, k: int, where: Where | None
) -> tuple[list[Hit], list[str]]:
    """The best `k` passages that may be shown, and in words which documents were left out, as their approval ended.

    Raises DataError that names a document of the found ones that was altered.
    """
    limit = k
    while True:
        found = await retriever.search(query, limit, where)
        if store is None or not store.certified:
            return found, []
        hits, left_out = await asyncio.to_thread(_shown, store, found, k)
        if len(hits) >= k or len(found) < limit:
            return hits, left_out
        limit *= 2


def verified(store: PassageStore, passage: Passage) -> Passage:
    """`passage` of a certified collection, checked against the certified bytes and record.

    Raises DataError where either was altered, NotFoundError where the collection was deleted meanwhile.
    """
    return _verified(store, passage, stored(store, passage.document))


def why_not(store: PassageStore, passage: Passage) -> str:
    """Why `passage` may not be shown, in words; "" where it may."""
    try:
        shown(store, passage)
    except DataError as error:
        return str(error)
    return ""


def _shown(store: PassageStore, hits: Sequence[Hit], k: int) -> tuple[list[Hit], list[str]]:
    kept, left_out = list[Hit](), dict[str, None]()
    for hit in hits:
        if len(kept) == k:
            break
        made = stored(store, hit.passage.document)
        if why := _ended(made):
            left_out[why] = None
        else:
            _verified(store, hit.passage, made)
            kept.append(hit)
    return kept, list(left_out)


def _verified(store: PassageStore, passage: Passage, made: Sequence[Passage]) -> Passage:
    seal = store.documents(passage.document).get(passage.document, "")
    return Vault(store.folder).verified(passage, made, seal)


def _ended(made: Sequence[Passage]) -> str:
    """That the approval of the document stored as `made` ended, in words; "" where it did not."""
    late = next((one for one in made if expired(one, date.today())), None)
    return f"the approval of {late.document!r} ended on {late.meta['expires']}" if late is not None else ""
