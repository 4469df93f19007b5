"""Collections: what there is, searching it, and opening a document where a citation points."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Annotated, TypeVar

from fastapi import APIRouter, Path, Query, Response
from pydantic import Field

from personable.errors import NotFoundError, PersonableError
from personable.retrieval.browsing import DocumentLine, DocumentText, document_lines, document_text
from personable.retrieval.corpus import Kind, collection_kind, open_collection
from personable.retrieval.showing import shown
from personable.retrieval.store import PassageStore
from personable.server.access import AnyCaller, TheEngine
from personable.server.engine import Engine
from personable.server.problems import documented
from personable.server.uploads import Uploads
from personable.types import Hit, Passage, Value

T = TypeVar("T")
router = APIRouter(prefix="/v1/collections", tags=["collections"])
ONE = "/{collection}"
NOT_THERE = documented(404, 409)
Name = Annotated[str, Path(description="The collection's name.", max_length=64)]
LONGEST_ID = 2_000
HALF = "its indexing is not at its end, so it lacks documents; where no job is at work on it, index it again"
LONGEST_QUERY = 2_000


class CollectionInfo(Value):
    """A collection: `bytes` on disk; `embedder` is None where it is searched by words alone.

    `problem` says in words why it cannot be opened, and then the rest is not known; or that it is not whole.
    """

    name: str
    kind: Kind = "documents"
    passages: int = 0
    documents: int = 0
    bytes: int = 0
    language: str = ""
    embedder: str | None = None
    dim: int = 0
    problem: str = ""


class Documents(Value):
    """Documents in the order of their ids; `next` is the `after` of the next page, None on the last one."""

    documents: list[DocumentLine]
    next: str | None = Field(examples=["guides/install.md"])


@router.get("", responses=documented())
async def list_collections(_: AnyCaller, engine: TheEngine) -> list[CollectionInfo]:
    """List the collections."""

    def look() -> list[CollectionInfo]:
        return [_info_or_problem(engine, name) for name in engine.collections()]

    return await asyncio.to_thread(look)


@router.get(ONE, responses=NOT_THERE)
async def get_collection(collection: Name, _: AnyCaller, engine: TheEngine) -> CollectionInfo:
    """Show what a collection holds."""
    return await _reading(engine, collection, lambda store: _info(engine, collection, store))


@router.get(ONE + "/search", responses=NOT_THERE)
async def search_collection(
    collection: Name,
    _: AnyCaller,
    engine: TheEngine,
    response: Response,
    q: Annotated[str, Query(min_length=1, max_length=LONGEST_QUERY, description="What to look for.")],
    k: Annotated[int, Query(ge=1, le=100, description="How many passages.")] = 10,
) -> list[Hit]:
    """Find passages, best first; the person plays no part.

    Certified documents whose approval ended are left out, and `X-Left-Out` says how many; an altered one is a problem.
    """
    kit = await engine.kit(collection)
    hits, left_out = await kit.search_telling(q, k)
    if left_out:
        response.headers["X-Left-Out"] = str(len(left_out))
    return hits


@router.get(ONE + "/documents", responses=NOT_THERE)
async def list_documents(
    collection: Name,
    _: AnyCaller,
    engine: TheEngine,
    limit: Annotated[int, Query(ge=1, le=200, description="How many.")] = 50,
    after: Annotated[str, Query(max_length=LONGEST_ID, description="Only those after this id: `next`.")] = "",
) -> Documents:
    """List a collection's documents."""
    found = await _reading(engine, collection, lambda store: document_lines(store, after, limit + 1))
    return Documents(documents=found[:limit], next=found[limit - 1].id if len(found) > limit else None)


@router.get(ONE + "/document", responses=NOT_THERE)
async def get_document(
    collection: Name,
    _: AnyCaller,
    engine: TheEngine,
    id: Annotated[str, Query(min_length=1, max_length=LONGEST_ID, description="The document's id.")],
) -> DocumentText:
    """Show a document's text and passages, to open a citation at its place."""
    return await _reading(engine, collection, lambda store: document_text(store, id))


@router.get(ONE + "/passage", responses=NOT_THERE)
async def get_passage(
    collection: Name,
    _: AnyCaller,
    engine: TheEngine,
    id: Annotated[str, Query(min_length=1, max_length=LONGEST_ID, description="The passage's id.")],
) -> Passage:
    """Show a passage; its `document` is the id of the document that it is from."""

    def look(store: PassageStore) -> Passage:
        try:
            found = store.passage(id)
        except NotFoundError as error:
            raise NotFoundError(f"no passage {id!r} in collection {collection!r}") from error
        return shown(store, found)

    return await _reading(engine, collection, look)


async def _reading(engine: Engine, collection: str, look: Callable[[PassageStore], T]) -> T:
    def work() -> T:
        with open_collection(engine.settings.home, collection) as found:
            return look(found.store)

    return await asyncio.to_thread(work)


def _info(engine: Engine, name: str, store: PassageStore) -> CollectionInfo:
    home = engine.settings.home
    problem = HALF if Uploads(home, name).marker.exists() else ""
    return CollectionInfo(name=name, kind=collection_kind(home, name), problem=problem, **store.stats())


def _info_or_problem(engine: Engine, name: str) -> CollectionInfo:
    try:
        with open_collection(engine.settings.home, name) as found:
            return _info(engine, name, found.store)
    except PersonableError as error:
        return CollectionInfo(name=name, problem=str(error))
