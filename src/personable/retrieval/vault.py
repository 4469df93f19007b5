"""The originals of a certified collection: stored byte for byte, and read again whenever something of them is shown."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import zlib
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple

from personable.errors import DataError, NotFoundError
from personable.retrieval.certified import ORIGINALS, Approved
from personable.retrieval.seal import altered, complete
from personable.types import Passage, Value

CARDS, TEXTS = (".jsonl", ".ndjson"), (".md", ".markdown", ".txt")
LARGEST = 500_000_000
"""Bytes of one file of cards, which is held in memory while it is read."""
_TEXT, _TITLE = ("answer", "text", "content", "body"), ("question", "title", "name")


class Original(NamedTuple):
    """A document as approved: `raw` are its bytes, from byte `at` of a file; `where` names it for people."""

    where: str
    raw: bytes
    at: int
    cards: bool


class Content(Value):
    """What a document says: a card's answer, or all of a text file, unaltered. `focus` and `kind` are what a card is
    about and which kind of question it answers ("treatment"); "" where it does not say."""

    id: str
    title: str
    text: str
    focus: str = ""
    kind: str = ""
    source: str = ""
    url: str = ""
    version: str = ""


class Vault:
    """The stored files of the collection in `folder`, each named by its sha256, which its bytes have."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / ORIGINALS

    def keep(self, data: bytes, suffix: str) -> str:
        """Store a file's bytes, over a copy that was altered too; returns the name under which they are kept."""
        digest = hashlib.sha256(data).hexdigest()
        name = digest + suffix
        self.folder.mkdir(mode=0o700, exist_ok=True)
        if not _holds(self.folder / name, digest):
            new = self.folder / f"{name}.new"
            new.write_bytes(data)
            new.replace(self.folder / name)
        return name

    def drop_others(self, kept: set[str]) -> None:
        """Delete files that no document is from any more."""
        for path in self.folder.iterdir() if self.folder.is_dir() else ():
            if path.name not in kept:
                path.unlink()

    def verified(self, passage: Passage, made: Sequence[Passage], seal: str) -> Passage:
        """`passage`, once all that is stored of its document, `made`, is what was sealed, and the document's bytes have
        the digest that was certified and hold the passage's text where it says.

        Raises DataError that names the document and what differs, or that the file is gone; NotFoundError where the
        whole collection is.
        """
        if not (made and seal):
            raise DataError(_altered(passage, "it is not in the index any more"))
        if not complete(seal):
            raise DataError(
                f"the certified document {passage.document!r} was indexed by an earlier version, which did not seal "
                "its provenance; index the collection again from its manifest"
            )
        document = next((one for one in made if one.id == passage.document), passage)
        if difference := altered(seal, document, made):
            raise DataError(_altered(passage, difference))
        meta = document.meta
        path = self.folder / str(meta["file"])
        try:
            with path.open("rb") as file:
                file.seek(int(meta["at"]))
                raw = file.read(int(meta["size"]))
        except OSError as error:
            if not self.folder.parent.is_dir():
                raise NotFoundError(
                    f"the collection {self.folder.parent.name!r} is not there any more: it was deleted while it was "
                    "open; index it again from its manifest, or name another"
                ) from error
            raise DataError(_altered(passage, f"{path} cannot be read ({error.strerror})")) from error
        digest = hashlib.sha256(raw).hexdigest()
        if digest != meta["sha256"]:
            raise DataError(
                _altered(passage, f"its digest is {digest[:12]}…, certified was {str(meta['sha256'])[:12]}…")
            )
        content = read_content(Original(passage.document, raw, 0, path.suffix in CARDS))
        held = isinstance(content, Content) and content.text[passage.start : passage.end] == passage.text
        if not held or passage not in made:
            raise DataError(_altered(passage, "the index holds another text"))
        return passage


def expired(document: Passage, today: date) -> bool:
    """Whether the approval of a document has ended (dates are ISO 8601, so they compare as text)."""
    until = str(document.meta.get("expires", ""))
    return bool(until) and until < today.isoformat()


def _holds(path: Path, sha256: str) -> bool:
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest() == sha256


def _altered(passage: Passage, how: str) -> str:
    return (
        f"the certified document {passage.document!r} was altered: {how}. Nothing is answered from it; restore the "
        "file, or have the collection approved and index it again"
    )


def files_of(manifest: Path, some: Approved) -> list[Path]:
    """The files that an entry of a manifest names, in a stable order. Raises DataError where there is none."""
    place = manifest.parent / some.path
    kinds = (*TEXTS, *CARDS)
    found = [place] if place.is_file() else sorted(path for path in place.rglob("*") if path.suffix.lower() in kinds)
    if not found:
        raise DataError(f"{manifest} names {some.path!r}, where there is no {' '.join(kinds)} file")
    return found


def file_bytes(path: Path, sha256: str = "") -> tuple[bytes, str]:
    """The bytes of a file, unpacked where it is gzipped, and its suffix.

    Raises DataError for a kind that cannot be certified, one too large, one that cannot be read, and one whose bytes
    on disk have another digest than `sha256`.
    """
    packed = path.suffix.lower() == ".gz"
    suffix = (path.with_suffix("") if packed else path).suffix.lower()
    if suffix not in (*CARDS, *TEXTS):
        raise DataError(
            f"{path} cannot be certified: only {' '.join((*TEXTS, *CARDS))} (cards also .gz) are kept as they are"
        )
    try:
        if path.stat().st_size > LARGEST:
            raise DataError(f"{path} is larger than {LARGEST:,} bytes; split it")
        data = path.read_bytes()
        digest = hashlib.sha256(data).hexdigest()
        if sha256 and digest != sha256.lower():
            raise DataError(
                f"{path} is not the file that was approved: its digest is {digest}, the manifest says {sha256}"
            )
        if packed:
            with gzip.GzipFile(fileobj=io.BytesIO(data)) as archive:
                data = archive.read(LARGEST + 1)
            if len(data) > LARGEST:
                raise DataError(f"{path} unpacks to more than {LARGEST:,} bytes; split it")
        return data, suffix
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"{path} cannot be read: {error}") from error


def originals(data: bytes, suffix: str, name: str) -> Iterator[Original]:
    """The documents in a file: each non-empty line of cards, or all of a text."""
    if suffix not in CARDS:
        yield Original(name, data, 0, False)
        return
    at = 0
    for number, line in enumerate(data.split(b"\n"), 1):
        raw = line.removesuffix(b"\r")
        if raw.strip():
            yield Original(f"{name}, line {number}", raw, at, True)
        at += len(line) + 1


def read_content(original: Original) -> Content | str:
    """What an original says, or what is wrong with it. Certified text is UTF-8: no encoding is guessed."""
    try:
        decoded = original.raw.decode("utf-8")
        record = json.loads(decoded) if original.cards else None
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
        return f"not valid {'JSON' if original.cards else 'UTF-8'}: {error}"
    if record is None:
        content = Content(id=original.where, title=_heading(decoded) or Path(original.where).stem, text=decoded)
    elif not isinstance(record, Mapping) or not str(record.get("id", "")):
        return "not a JSON object with an id"
    else:
        content = _card(record)
        try:
            content.model_dump_json()
        except ValueError:  # JSON may spell what no text can hold
            return "it holds half a surrogate pair"
    return content if content.text.strip() else "it holds no text"


def _card(record: Mapping[str, Any]) -> Content:
    names = {"focus": "focus", "kind": "qtype", "source": "source", "url": "url", "version": "version"}
    fields = {name: " ".join(_string(record.get(key)).split()) for name, key in names.items()}
    title = next((_string(record[key]) for key in _TITLE if record.get(key)), "")
    text = next((_string(record[key]) for key in _TEXT if record.get(key)), "")
    return Content(id=str(record["id"]), title=" ".join(title.split()) or fields["focus"], text=text, **fields)


def _string(value: object) -> str:
    return value if isinstance(value, str) else ""


def _heading(text: str) -> str:
    first = text.lstrip("\ufeff \t\r\n").split("\n", 1)[0]
    return first.lstrip("#").strip() if first.startswith("#") else ""
