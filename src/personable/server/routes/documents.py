"""Documents of builders: uploading, indexing, deleting, and the jobs that do it."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Query, Request, Response
from pydantic import ValidationError
from starlette.datastructures import FormData, UploadFile

from personable.errors import DataError, NotFoundError
from personable.retrieval.corpus import collection_kind, delete_collection, open_collection
from personable.retrieval.report import IndexReport, Skipped
from personable.server.access import Builder, TheEngine
from personable.server.engine import Engine
from personable.server.forms import FileForm, form_schema
from personable.server.indexing import Tell, check_kind, index_uploads
from personable.server.jobs import Job, Jobs
from personable.server.problems import ProblemError, documented
from personable.server.uploads import Recipe, Uploads
from personable.types import Value

router = APIRouter(prefix="/v1", tags=["documents"])
ONE = "/collections/{collection}"
Name = Annotated[str, Path(description="The collection's name.", max_length=64)]


def jobs_of(request: Request) -> Jobs:
    """The jobs of the app."""
    jobs: Jobs = request.app.state.jobs
    return jobs


TheJobs = Annotated[Jobs, Depends(jobs_of)]


class Removed(Value):
    """A document that is gone, and the uploaded files that went with it."""

    document: str
    files: list[str]


_TEXT = {"type": "string", "maxLength": 200}
_FORM = form_schema(
    {
        "files": {
            "type": "array",
            "items": {"type": "string", "format": "binary"},
            "description": "Files; their names may be paths below the folder that is uploaded.",
        },
        "kind": {"type": "string", "enum": ["documents", "items", "certified"], "default": "documents"},
        "language": {"type": "string", "pattern": "^[a-z]{2}$", "description": "Of a new collection: en, it, …"},
        **dict.fromkeys(("text_field", "title_field", "id_field"), _TEXT),
    },
    ["files"],
)


@router.post(
    ONE + "/documents", status_code=202, responses=documented(404, 409, 415), openapi_extra=_FORM, response_model=Job
)
async def upload_documents(
    collection: Name, _: Builder, engine: TheEngine, jobs: TheJobs, request: Request, response: Response
) -> Job:
    """Upload files or a folder, and index them: a file of the same name is replaced.

    `documents` may be of any kind that can be read; `items` are records of a catalogue, one file or several, which it
    then mirrors; `certified` come with their manifest, a .toml file.
    """
    uploads = Uploads(engine.settings.home, collection)
    assert uploads.folder  # the name is one
    async with FileForm(request) as form:
        recipe, sent = _recipe(form), _files(form)
        with jobs.hold(collection):
            await asyncio.to_thread(check_kind, engine, uploads, recipe.kind)
            skipped = await asyncio.to_thread(uploads.keep, recipe, [(one.filename or "", one.file) for one in sent])
            return await _begin(engine, jobs, uploads, response, skipped)


@router.post(ONE + "/index", status_code=202, responses=documented(404, 409))
async def index_again(collection: Name, _: Builder, engine: TheEngine, jobs: TheJobs, response: Response) -> Job:
    """Index what was uploaded again."""
    uploads = Uploads(engine.settings.home, collection)
    with jobs.hold(collection):
        return await _begin(engine, jobs, uploads, response, [])


@router.delete(ONE + "/document", responses=documented(404, 409))
async def delete_document(
    collection: Name,
    _: Builder,
    engine: TheEngine,
    jobs: TheJobs,
    id: Annotated[str, Query(min_length=1, max_length=2_000, description="The document's id.")],
) -> Removed:
    """Delete a document, and its file if it was uploaded; a file elsewhere stays, and brings it back when indexed."""
    with jobs.hold(collection):
        removed = await asyncio.to_thread(_remove, engine, Uploads(engine.settings.home, collection), id)
        engine.release(collection)
    return removed


@router.delete(ONE, status_code=204, responses=documented(404, 409))
async def remove_collection(collection: Name, _: Builder, engine: TheEngine, jobs: TheJobs) -> None:
    """Delete a collection, and what was uploaded for it."""
    with jobs.hold(collection):
        await asyncio.to_thread(delete_collection, engine.settings.home, collection)
        Uploads(engine.settings.home, collection).marker.unlink(missing_ok=True)
        engine.release(collection)


@router.get("/jobs", responses=documented())
async def list_jobs(_: Builder, jobs: TheJobs) -> list[Job]:
    """List the latest jobs since the server started, newest first."""
    return jobs.all()


@router.get("/jobs/{job}", responses=documented(404))
async def get_job(job: Annotated[str, Path(description="The job's id.")], _: Builder, jobs: TheJobs) -> Job:
    """Show how far a job is, and once it ended what it changed, and what failed and why."""
    return jobs.get(job)


async def _begin(engine: Engine, jobs: Jobs, uploads: Uploads, response: Response, skipped: list[Skipped]) -> Job:
    total = sum(file.size for file in await asyncio.to_thread(uploads.files))

    def work(tell: Tell) -> IndexReport:
        report = index_uploads(engine, uploads, tell)
        return report.model_copy(update={"skipped": [*skipped, *report.skipped]})

    job = jobs.start(uploads.collection, total, work)
    response.headers["Location"] = f"/v1/jobs/{job.id}"
    return job


def _recipe(form: FormData) -> Recipe:
    fields: dict[str, Any] = {name: value for name, value in form.multi_items() if name != "files" and value != ""}
    try:
        return Recipe.model_validate(fields)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise ProblemError(422, f"body.{where}: {first['msg']}", where=f"body.{where}") from error


def _files(form: FormData) -> list[UploadFile]:
    found = [one for one in form.getlist("files") if isinstance(one, UploadFile)]
    if not found or len(found) < len(form.getlist("files")):
        raise ProblemError(422, "send one or more files, each as a field `files` with a file name", where="body.files")
    return found


def _remove(engine: Engine, uploads: Uploads, document: str) -> Removed:
    home, name = engine.settings.home, uploads.collection
    with open_collection(home, name, embedder=engine.embedder(name), write=True) as found:
        if document not in found.store.documents():
            raise NotFoundError(f"no document {document!r} in collection {name!r}")
        if (kind := collection_kind(home, name)) != "documents":
            raise DataError(f"{kind} mirror their files: upload those again without {document!r}")
        ledger = found.folder / "files.sqlite"
        files = uploads.remove(ledger, document) if ledger.is_file() else []
        found.remove(str(uploads.folder / files[0]) if files else document)
    return Removed(document=document, files=files)
