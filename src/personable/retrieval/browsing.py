"""Looking into a collection: its documents, and the text of one, so that a citation can be opened at its place."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import Field

from personable.errors import NotFoundError
from personable.retrieval.showing import shown, why_not
from personable.retrieval.store import PassageStore
from personable.types import Passage, Value


class DocumentLine(Value):
    """A document of a collection: its id, its title as of its first passage, where it came from, how many passages.

    `problem` says in words why it may not be shown (a certified one was altered, or its approval ended), and then title
    and source are not told.
    """

    id: str
    title: str
    source: str
    passages: int
    problem: str = ""


class DocumentText(Value):
    """The text of a document as its passages hold it: character `n` of the document is `text[n - start]`, apart from
    white space between passages, of which only the length is right."""

    id: str
    title: str
    source: str
    start: int
    text: str
    passages: list[Passage] = Field(default_factory=list)


def document_lines(store: PassageStore, after: str, limit: int) -> list[DocumentLine]:
    """At most `limit` documents in the order of their ids, those after the id `after` ("": from the first)."""
    return [_line(store, id) for id in sorted(id for id in store.documents() if id > after)[:limit]]


def document_text(store: PassageStore, document: str) -> DocumentText:
    """A document's text and passages, in their order. Raises NotFoundError, and what `shown` raises."""
    passages = _passages(store, document)
    if not passages:
        raise NotFoundError(f"no document {document!r} with any text in this collection")
    shown(store, _whole(passages))
    first = passages[0]
    line = _line(store, document)
    return DocumentText(
        id=document, title=line.title, source=line.source, start=first.start, text=joined(passages), passages=passages
    )


def joined(passages: Sequence[Passage]) -> str:
    """The text that `passages`, in the order of their offsets, were cut from."""
    text = ""
    for one in passages:
        at = one.start - passages[0].start
        text += "\n" * (at - len(text)) + one.text[max(len(text) - at, 0) :]
    return text


def _line(store: PassageStore, document: str) -> DocumentLine:
    passages = _passages(store, document)
    if passages and (problem := why_not(store, _whole(passages))):
        return DocumentLine(id=document, title="", source="", passages=len(passages), problem=problem)
    title = next((one.title for one in passages if one.title), "")
    source = next((one.source for one in passages if one.source), "")
    return DocumentLine(id=document, title=title, source=source, passages=len(passages))


def _whole(passages: Sequence[Passage]) -> Passage:
    """The passage that holds all of a certified document; the first one of others, which have none."""
    return next((one for one in passages if one.id == one.document), passages[0])


def _passages(store: PassageStore, document: str) -> list[Passage]:
    rows = store.rows({"document": document})
    found = store.fetch([] if rows is None else rows.tolist())
    # Metadata may use the same name for something else.
    return sorted((one for one in found if one.document == document), key=lambda one: (one.start, -one.end))
