"""Collections: what there is, searching it, and, for builders, uploading and deleting."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Form, Query, Request, Response
from fastapi.responses import RedirectResponse

from personable.errors import UsageError
from personable.server.access import Builder, TheEngine
from personable.server.jobs import Job
from personable.server.routes.collections import (
    LONGEST_QUERY,
    get_collection,
    list_collections,
    list_documents,
)
from personable.server.routes.documents import (
    TheJobs,
    delete_document,
    index_again,
    remove_collection,
    upload_documents,
)
from personable.server.web.frame import PageRoute, after, is_fragment, link, page
from personable.server.web.visitor import TheVisitor

router = APIRouter(prefix="/collections", route_class=PageRoute, include_in_schema=False)
FOUND, LISTED = 10, 50


@router.get("")
async def collections_page(request: Request, visitor: TheVisitor, engine: TheEngine) -> Response:
    """What there is."""
    return page(request, "collections.html", there=await list_collections(visitor.who, engine))


@router.get("/{name}")
async def collection_page(
    request: Request,
    visitor: TheVisitor,
    engine: TheEngine,
    name: str,
    q: Annotated[str, Query(max_length=LONGEST_QUERY)] = "",
    after: str = "",
) -> Response:
    """One collection: a search in it, and its documents."""
    hits, left_out = await (await engine.kit(name)).search_telling(q, FOUND) if q.strip() else (None, [])
    found: dict[str, Any] = {"hits": hits, "left_out": left_out, "collection": name}
    if is_fragment(request):
        return page(request, "_hits.html", **found)
    info = await get_collection(name, visitor.who, engine)
    documents = await list_documents(name, visitor.who, engine, LISTED, after)
    return page(request, "collection.html", info=info, q=q, documents=documents, **found)


@router.post("/{name}/upload")
async def upload(
    request: Request, who: Builder, visitor: TheVisitor, engine: TheEngine, jobs: TheJobs, name: str
) -> Response:
    """Take files or a folder and index them."""
    return _job(request, await upload_documents(name, who, engine, jobs, request, Response()))


@router.post("/{name}/index")
async def index(
    request: Request, who: Builder, visitor: TheVisitor, engine: TheEngine, jobs: TheJobs, name: str
) -> Response:
    """Index what was uploaded again."""
    return _job(request, await index_again(name, who, engine, jobs, Response()))


@router.get("/{name}/jobs/{job}")
async def progress(request: Request, _: Builder, visitor: TheVisitor, jobs: TheJobs, name: str, job: str) -> Response:
    """How far a job is, and what it did."""
    return _job(request, jobs.get(job))


@router.post("/{name}/delete-document")
async def drop_document(
    request: Request,
    who: Builder,
    visitor: TheVisitor,
    engine: TheEngine,
    jobs: TheJobs,
    name: str,
    id: Annotated[str, Form(max_length=2_000)],
) -> Response:
    """Delete a document and its uploaded file."""
    await delete_document(name, who, engine, jobs, id)
    return after(request, link(f"/collections/{name}"), lambda: page(request, "_dropped.html", id=id))


@router.post("/{name}/delete")
async def drop(
    who: Builder, engine: TheEngine, jobs: TheJobs, name: str, typed: Annotated[str, Form(max_length=100)] = ""
) -> Response:
    """Delete a collection, once its name was typed."""
    if typed.strip() != name:
        raise UsageError(f"nothing was deleted: type {name} to confirm")
    await remove_collection(name, who, engine, jobs)
    return RedirectResponse("/collections", 303)


def _job(request: Request, job: Job) -> Response:
    return page(request, "_job.html" if is_fragment(request) else "job.html", job=job)
