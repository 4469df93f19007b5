"""Read a file into documents: text, Markdown, HTML, PDF, DOCX, and records of CSV, TSV, JSON and JSONL."""

from __future__ import annotations

import logging
import re
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO
from xml.parsers.expat import ExpatError
from zipfile import BadZipFile, ZipFile

from personable.errors import MissingExtraError, UnreadableFileError
from personable.retrieval.document import Document, Origin, Problem, ReadOptions, clean
from personable.retrieval.markup import html_text, html_title
from personable.retrieval.records import read_records
from personable.retrieval.textfile import TextFile
from personable.types import Scalar

PART = 1_000_000  # characters; a longer text becomes several documents, so that memory stays bounded
_LONGEST = 50_000_000  # characters of a format that cannot be read in parts
_UNPACKED = 100_000_000  # bytes that unpacking a DOCX may add
_SUSPECT, _RATIO = 10_000_000, 100  # bytes from which a DOCX that unpacks to so many times its size is no document
_FRONT = re.compile(r"\A---\n(.*?\n)(?:---|\.\.\.)\s*\n", re.DOTALL)
_FRONT_TITLE = re.compile(r"^title:\s*[\"']?(.+?)[\"']?\s*$", re.MULTILINE | re.IGNORECASE)
_HEADING = re.compile(r"^#{1,6}[ \t]+(\S.*?)[ \t#]*$", re.MULTILINE)

Reader = Callable[[TextFile, Origin, ReadOptions], Iterator[Document | Problem]]


def read(
    path: Path, options: ReadOptions | None = None, name: str | None = None, file: TextFile | None = None
) -> Iterator[Document | Problem]:
    """The documents of one file, and a Problem for each part that could not be read.

    `name` (default: the file's name) is the id of a document that brings none; the parts of a long text are
    `<name>:<part>`. A file without any text yields nothing. A caller that passes `file` may look at its `position`
    meanwhile. Raises UnreadableFileError and MissingExtraError.
    """
    file = file or TextFile(path)
    reader = READERS.get(file.kind)
    if reader is None:
        raise UnreadableFileError(
            f"no reader for {file.kind or 'files without a suffix'}: {path}; can read: {readable()}"
        )
    yield from reader(file, Origin(name or path.name, str(path)), options or ReadOptions())


def readable() -> str:
    """The suffixes that can be read, in one line."""
    return " ".join(sorted(READERS))


def _text(file: TextFile, origin: Origin, options: ReadOptions) -> Iterator[Document | Problem]:
    broken, start, title, parts = 0, 0, file.name.stem, _parts(file)
    part: str | None = next(parts, "")
    following = next(parts, None)
    alone, number = following is None, 0
    if file.kind in (".md", ".markdown"):
        title, part = _front(part or "", title)
    while part is not None:
        number += 1
        broken += part.count("\ufffd")
        if part.strip():
            where = origin.name if alone else f"{origin.name}:{number}"
            meta: dict[str, Scalar] = {} if alone else {"part": number}
            yield Document(id=where, text=part, title=title, source=origin.source, meta=meta, start=start)
        start += len(part)
        part, following = following, next(parts, None)
    if broken:
        yield Problem(origin.source, f"{broken} characters could not be decoded and read � now; save the file as UTF-8")


def _parts(file: TextFile) -> Iterator[str]:
    """The text in pieces of at most PART characters, cut at the end of a paragraph, line or word where there is one."""
    try:
        with file.text() as stream:
            rest = ""
            while more := stream.read(PART - len(rest)):
                rest += clean(more)
                if len(rest) < PART:
                    continue
                cuts = (rest.rfind(border, PART // 2) + len(border) for border in ("\n\n", "\n", " "))
                cut = next((cut for cut in cuts if cut > PART // 2), PART)
                yield rest[:cut]
                rest = rest[cut:]
            if rest:
                yield rest
    except (OSError, EOFError, zlib.error) as error:
        raise UnreadableFileError(f"{file.path} is damaged: {error}") from error


def _front(text: str, title: str) -> tuple[str, str]:
    """The title of a Markdown text, from its front matter or first heading, and the text, its front matter blanked."""
    front = _FRONT.match(text)
    # Blanked, not cut: offsets stay those of the file.
    body = " " * (front.end() - 1) + "\n" + text[front.end() :] if front else text
    found = (_FRONT_TITLE.search(front[1]) if front else None) or _HEADING.search(body)
    return (found[1] if found else title), body


def _html(file: TextFile, origin: Origin, options: ReadOptions) -> Iterator[Document | Problem]:
    try:
        from trafilatura import extract
    except ImportError as error:
        raise MissingExtraError("HTML files", "readers") from error
    html = file.whole(_LONGEST)
    text = extract(html, output_format="markdown", include_comments=False, include_tables=True) or html_text(html)
    yield from _single(text, html_title(html) or file.name.stem, origin)


def _pdf(file: TextFile, origin: Origin, options: ReadOptions) -> Iterator[Document | Problem]:
    try:
        from pypdf import PdfReader
        from pypdf.errors import PyPdfError
    except ImportError as error:
        raise MissingExtraError("PDF files", "readers") from error
    logger = logging.getLogger("pypdf")
    if not logger.handlers:  # without any handler, what it tells of each small flaw would go to standard error
        logger.addHandler(logging.NullHandler())
    texts: list[str] = []
    with file.open() as stream:
        try:
            reader = PdfReader(stream)
            if reader.is_encrypted and not reader.decrypt(""):
                raise UnreadableFileError(f"{file.path} is encrypted; save a copy without a password and index that")
            title = str((reader.metadata.title if reader.metadata else "") or "").strip()
            for page in reader.pages:
                texts.append(clean(page.extract_text()).strip())
        except (
            PyPdfError,
            ValueError,
            KeyError,
            TypeError,
            AttributeError,
            IndexError,
            OSError,
            RecursionError,
        ) as error:
            # pypdf lets Python's own errors through on damaged files.
            raise UnreadableFileError(f"{file.path} is a damaged PDF: {error}") from error
    if not any(texts):
        raise UnreadableFileError(f"{file.path} has no text in its {len(texts)} pages (scanned?); run OCR on it first")
    pages = [0]
    for text in texts[:-1]:
        pages.append(pages[-1] + len(text) + 2)
    yield from _single("\n\n".join(texts), title or file.name.stem, origin, tuple(pages))


def _docx(file: TextFile, origin: Origin, options: ReadOptions) -> Iterator[Document | Problem]:
    try:
        import mammoth
    except ImportError as error:
        raise MissingExtraError("DOCX files", "readers") from error
    with file.open() as stream:
        try:
            _refuse_bomb(file, stream)
            without = mammoth.images.img_element(lambda image: {"src": ""})
            html = mammoth.convert_to_html(stream, convert_image=without).value
        except (
            BadZipFile,
            KeyError,
            ValueError,
            OSError,
            EOFError,
            RuntimeError,
            SyntaxError,
            ExpatError,
            AttributeError,
            zlib.error,
        ) as error:
            # An XML parser's error is a SyntaxError or an ExpatError, zipfile's for encrypted parts a RuntimeError;
            # mammoth raises Python's own for parts that are not there.
            raise UnreadableFileError(
                f"{file.path} is not a DOCX document, or is damaged or encrypted: {error}"
            ) from error
    text = html_text(html)
    heading = _HEADING.search(text)
    yield from _single(text, heading[1] if heading else file.name.stem, origin)


def _refuse_bomb(file: TextFile, stream: IO[bytes]) -> None:
    """Raises UnreadableFileError by the sizes that the archive states; zipfile never unpacks more than those."""
    parts = ZipFile(stream).infolist()
    packed, unpacked = sum(part.compress_size for part in parts), sum(part.file_size for part in parts)
    if unpacked - packed > _UNPACKED or unpacked > max(_SUSPECT, _RATIO * packed):
        raise UnreadableFileError(
            f"{file.path} would unpack from {packed:,} to {unpacked:,} bytes, more than a document holds; "
            "save what you need of it as text"
        )
    stream.seek(0)


def _single(text: str, title: str, origin: Origin, pages: tuple[int, ...] = ()) -> Iterator[Document]:
    text = text if pages else clean(text).strip()
    if text:
        yield Document(id=origin.name, text=text, title=clean(title), source=origin.source, pages=pages)


READERS: dict[str, Reader] = {
    **dict.fromkeys((".txt", ".text", ".rst", ".log", ".md", ".markdown"), _text),
    **dict.fromkeys((".html", ".htm", ".xhtml"), _html),
    **dict.fromkeys((".csv", ".tsv", ".json", ".jsonl", ".ndjson"), read_records),
    ".pdf": _pdf,
    ".docx": _docx,
}
