"""Making a certified collection: originals into the vault, titles, whole documents and segments into the index."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path

from personable.errors import DataError
from personable.retrieval.certified import Approved, CertifiedManifest, read_approval, store_approval
from personable.retrieval.document import Document
from personable.retrieval.lay import Vocabulary
from personable.retrieval.report import Failed, IndexOptions, IndexReport
from personable.retrieval.seal import altered, sealed
from personable.retrieval.segment import passages
from personable.retrieval.store import PassageStore
from personable.retrieval.vault import Content, Original, Vault, file_bytes, files_of, originals, read_content
from personable.text import tokens
from personable.types import Passage, Scalar

TITLE, WHOLE, SEGMENT = "title", "document", "segment"
"""`meta["level"]` of a passage: a document's title alone, all of it, or a part of one that is longer than a passage."""
EVERY = 500


@dataclass
class Certified:
    """Certified documents by their ids, each with its provenance, and what could not be taken."""

    manifest: CertifiedManifest
    contents: dict[str, Content] = field(default_factory=dict)
    provenance: dict[str, dict[str, Scalar]] = field(default_factory=dict)
    failed: list[Failed] = field(default_factory=list)

    def why_none(self) -> str:
        """The first failure, in brackets."""
        return f" ({self.failed[0].source}: {self.failed[0].error})" if self.failed else ""


def certify_documents(
    store: PassageStore,
    path: Path,
    options: IndexOptions,
    today: date | None = None,
    told: Callable[[int, int, int], None] = lambda documents, of, passages: None,
) -> IndexReport:
    """Make the collection mirror the manifest in `path` and the documents that it names. `told` hears after each commit
    how many documents are done, of how many, and the passages written; it may raise to stop, and another run goes on.

    Empty documents, unreadable records and those whose approval ended or lies in the future are reported and left out;
    what is not approved any more leaves before anything new is embedded. Raises DataError for two documents with one
    id, a file other than the approved one, a manifest without what it must say, a new collection of nothing, and one
    that holds anything else; ModelError where embedding fails.
    """
    began, held = time.monotonic(), store.documents()
    manifest, vault = _manifest_for(store, path), Vault(store.folder)
    found = _read(manifest, path, vault, today or date.today())
    if not found.contents and not held:
        raise DataError(f"{path} names no document that can be served{found.why_none()}")
    counts = dict.fromkeys(("added", "replaced", "unchanged", "removed", "passages"), 0)
    store_approval(store.folder, manifest)
    for id in held.keys() - found.contents.keys():
        store.drop(id)
        counts["removed"] += 1
    store.commit()
    for number, (id, content) in enumerate(found.contents.items(), 1):
        made = levels(content, found.provenance[id], options, manifest.language)
        whole = next(one for one in made if one.id == id)
        seal = sealed(whole, made)
        if held.get(id) == seal and not altered(seal, whole, stored(store, id)):
            counts["unchanged"] += 1
        else:
            store.put(id, seal, made)
            counts["replaced" if id in held else "added"] += 1
            counts["passages"] += len(made)
        if number % EVERY == 0:
            store.commit()
            told(number, len(found.contents), counts["passages"])
    store.commit()
    vault.drop_others({str(one["file"]) for one in found.provenance.values()})
    Vocabulary.of((one.title, one.focus, one.text) for one in found.contents.values()).store(store.folder)
    return IndexReport(**counts, failed=found.failed, skipped=[], seconds=time.monotonic() - began)


def stored(store: PassageStore, document: str) -> list[Passage]:
    """All passages that the index holds of a document."""
    rows = store.rows({"document": document})
    return [] if rows is None else store.fetch(rows.tolist())


def _manifest_for(store: PassageStore, path: Path) -> CertifiedManifest:
    if store.documents() and not store.certified:
        raise DataError(
            f"the collection at {store.folder} holds other documents; give certified ones a collection of their own"
        )
    manifest = read_approval(path)
    if manifest.language != store.manifest.language:
        raise DataError(f"{path} is in language {manifest.language!r}, the collection in {store.manifest.language!r}")
    return manifest


def levels(content: Content, provenance: dict[str, Scalar], options: IndexOptions, language: str) -> list[Passage]:
    """A document as it is indexed: its title if it has one, all of it, and its segments where it is longer than one
    passage."""
    common = {"document": content.id, "source": content.url or content.source}
    title = Passage(id=f"{content.id}#title", title=content.title, text="", meta={"level": TITLE}, **common)
    whole = Passage(
        id=content.id,
        title=content.title,
        text=content.text,
        end=len(content.text),
        meta={**provenance, "level": WHOLE},
        **common,
    )
    found = [title, whole] if content.title.strip() else [whole]
    if tokens(content.text) <= options.passage_tokens:
        return found
    document = Document(
        id=content.id, text=content.text, title=content.title, source=common["source"], meta={"level": SEGMENT}
    )
    return [*found, *passages(document, options.passage_tokens, options.overlap_tokens, language)]


def _read(manifest: CertifiedManifest, path: Path, vault: Vault, today: date) -> Certified:
    found, where = Certified(manifest), dict[str, str]()
    for some in manifest.documents:
        if why := _not_approved(some, today):
            found.failed.append(Failed(source=some.path, error=why))
            continue
        for file in files_of(path, some):
            data, suffix = file_bytes(file, some.sha256)
            kept = vault.keep(data, suffix)
            name = _name(file, path, some)
            for original in originals(data, suffix, name):
                content = read_content(original)
                if isinstance(content, str):
                    found.failed.append(Failed(source=original.where, error=content))
                    continue
                if content.id in where:
                    raise DataError(
                        f"two certified documents have the id {content.id!r}: {where[content.id]}, {original.where}; "
                        "nothing was changed"
                    )
                where[content.id] = original.where
                content = _filled(content, some)
                found.contents[content.id] = content
                found.provenance[content.id] = _provenance(content, original, kept, some, manifest)
    return found


def _not_approved(some: Approved, today: date) -> str:
    """Why documents are not approved today; "" where they are."""
    if some.approved > today:
        return f"its approval lies in the future: {some.approved}"
    return f"its approval ended on {some.expires}" if some.expires is not None and some.expires < today else ""


def _name(file: Path, manifest: Path, some: Approved) -> str:
    """A file's path below the manifest, which is the same on every machine; of one elsewhere, below what is named."""
    named = manifest.parent / some.path
    below = manifest.parent if file.is_relative_to(manifest.parent) else named.parent
    return file.relative_to(below).as_posix()


def _filled(content: Content, some: Approved) -> Content:
    own = {"source": some.source, "url": some.url, "version": some.version}
    return content.model_copy(update={name: value for name, value in own.items() if not getattr(content, name)})


def _provenance(
    content: Content, original: Original, kept: str, some: Approved, manifest: CertifiedManifest
) -> dict[str, Scalar]:
    return {
        "focus": content.focus,
        "kind": content.kind,
        "publisher": content.source,
        "url": content.url,
        "version": content.version,
        "approver": some.approver or manifest.approver,
        "approved": some.approved.isoformat(),
        "expires": some.expires.isoformat() if some.expires else "",
        "file": kept,
        "at": original.at,
        "size": len(original.raw),
        "sha256": hashlib.sha256(original.raw).hexdigest(),
    }
