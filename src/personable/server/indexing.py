"""Bringing a collection up to date with what was uploaded for it."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from personable.errors import DataError, UsageError
from personable.retrieval.catalogue import KINDS, fill, read_items
from personable.retrieval.certified import read_approval
from personable.retrieval.certifying import certify_documents
from personable.retrieval.corpus import Collection, Kind, collection_kind, open_collection
from personable.retrieval.folder import Found
from personable.retrieval.report import Failed, IndexOptions, IndexReport, Progress, Skipped
from personable.retrieval.textfile import TextFile
from personable.server.engine import Engine
from personable.server.uploads import Recipe, Uploads

Tell = Callable[[Progress], None]


def index_uploads(engine: Engine, uploads: Uploads, tell: Tell) -> IndexReport:
    """Make a collection mirror its uploads, as their recipe says. Blocks.

    Raises what the indexing of that kind raises, NotFoundError without uploads. Texts name no folder of this machine.
    """
    recipe, files = uploads.recipe or Recipe(), uploads.files()
    work = {"documents": _documents, "items": _items, "certified": _certified}[recipe.kind]
    report = work(engine, uploads, recipe, files, lambda progress: tell(_shown(uploads, progress)))
    failed = [Failed(source=uploads.untold(one.source), error=uploads.untold(one.error)) for one in report.failed]
    skipped = [Skipped(source=uploads.untold(one.source), reason=uploads.untold(one.reason)) for one in report.skipped]
    return report.model_copy(update={"failed": failed, "skipped": skipped})


def check_kind(engine: Engine, uploads: Uploads, wanted: Kind) -> None:
    """Raises DataError where a collection holds something else, or holds what an upload would remove. Blocks."""
    if uploads.collection not in engine.collections():
        return
    home, name = engine.settings.home, uploads.collection
    with open_collection(home, name) as found:
        held = collection_kind(home, name) if len(found.store) else wanted
    if held != wanted:
        raise DataError(f"collection {uploads.collection!r} holds {held}; give {wanted} a collection of their own")
    if wanted != "documents" and uploads.recipe is None:
        raise DataError(
            f"the {wanted} of {uploads.collection!r} were indexed from elsewhere, and uploading would remove them; "
            "upload to a new collection, or index them there again"
        )


def _documents(engine: Engine, uploads: Uploads, recipe: Recipe, files: list[Found], tell: Tell) -> IndexReport:
    fields = recipe.model_dump(include={"text_field", "title_field", "id_field"})
    options = _options(engine).model_copy(update=fields)
    with _opened(engine, uploads, recipe) as collection:
        return collection.index([uploads.folder], options, tell, below=uploads.folder)


def _items(engine: Engine, uploads: Uploads, recipe: Recipe, files: list[Found], tell: Tell) -> IndexReport:
    readable = [one for one in files if TextFile(one.path).kind in KINDS]
    if not readable:
        raise DataError(f"no file of items was uploaded; a catalogue is made from {' '.join(KINDS)} (also .gz)")
    stock, share = read_items([one.path for one in readable]), _share(files, tell)
    with _opened(engine, uploads, recipe) as collection:
        report = fill(collection.store, stock, lambda done, new: share(done, len(stock.items), new))
    others = [Skipped(source=one.name, reason="no file of items") for one in files if one not in readable]
    return report.model_copy(update={"skipped": others})


def _certified(engine: Engine, uploads: Uploads, recipe: Recipe, files: list[Found], tell: Tell) -> IndexReport:
    manifests = [one.path for one in files if one.path.suffix == ".toml"]
    if len(manifests) != 1:
        raise DataError(f"{len(manifests)} manifests were uploaded; a certified collection has one .toml file")
    manifest = read_approval(manifests[0])
    for some in manifest.documents:
        _refuse_outside(manifests[0], some.path, uploads.folder)
    with open_collection(
        engine.settings.home,
        uploads.collection,
        language=manifest.language,
        embedder=engine.embedder(uploads.collection, manifest.embedder),
        create=True,
    ) as collection:
        return certify_documents(collection.store, manifests[0], _options(engine), told=_share(files, tell))


def _share(files: list[Found], tell: Tell) -> Callable[[int, int, int], None]:
    """Tells what part of the uploads' bytes is done, by the part of what they hold."""
    began, total = time.monotonic(), sum(one.size for one in files)

    def told(done: int, count: int, passages: int) -> None:
        tell(Progress(total * done // max(count, 1), total, "", passages, time.monotonic() - began))

    return told


def _refuse_outside(manifest: Path, named: str, folder: Path) -> None:
    if not (manifest.parent / named).resolve().is_relative_to(folder):
        raise UsageError(f"the manifest names {named!r}, which is not among the uploaded files")


def _options(engine: Engine) -> IndexOptions:
    conf = engine.settings
    return IndexOptions(passage_tokens=conf.passage_tokens, overlap_tokens=conf.overlap_tokens)


def _opened(engine: Engine, uploads: Uploads, recipe: Recipe) -> Collection:
    """The collection, to be changed; its language is what was named, else its own, else the server's usual one."""
    name, home = uploads.collection, engine.settings.home
    language = recipe.language or (None if name in engine.collections() else engine.settings.language)
    return open_collection(home, name, language=language, embedder=engine.embedder(name), create=True)


def _shown(uploads: Uploads, progress: Progress) -> Progress:
    return Progress(progress.done, progress.total, uploads.untold(progress.file), progress.passages, progress.seconds)
