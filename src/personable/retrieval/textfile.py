"""A file of text: what its bytes are, in which encoding, opened plainly or through gzip."""

from __future__ import annotations

import codecs
import gzip
import hashlib
import io
import re
import zlib
from pathlib import Path
from typing import IO, cast

from personable.errors import UnreadableFileError

_CHUNK = 1 << 20
_SUSPECT, _RATIO = 10_000_000, 100  # bytes from which an archive that unpacks to so many times its size is no text
_SAMPLE = 1 << 16
_EVIDENCE = 16  # bytes beyond ASCII; on fewer a guess is worth less than the most common old encoding
_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # before UTF-16, whose mark is the beginning of this one
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_CONTROL = bytes(set(range(32)) - set(b"\t\n\r\f\x1b"))
_DECLARED = re.compile(rb"<(?:meta|\?xml)[^>]{0,200}?(?:charset|encoding)\s*=\s*[\"']?\s*([\w.:-]+)", re.IGNORECASE)
_MULTIBYTE = re.compile(r"[^\x00-\x7f\ufffd]")


class _Unpacked(gzip.GzipFile):
    """A gzip archive that ends with UnreadableFileError where it unpacks to more than a text would."""

    def __init__(self, raw: IO[bytes], path: Path) -> None:
        super().__init__(fileobj=raw)
        self._path, self._most = path, max(_SUSPECT, _RATIO * path.stat().st_size)

    def read(self, size: int | None = -1) -> bytes:
        return self._counted(super().read(self._most + 1 if size is None or size < 0 else size))

    def read1(self, size: int = -1) -> bytes:
        return self._counted(super().read1(size))

    def _counted(self, data: bytes) -> bytes:
        if self.tell() > self._most:
            raise UnreadableFileError(
                f"{self._path} unpacks to more than {self._most:,} bytes, far more than a text of its size; "
                "unpack it, and look at what it is"
            )
        return data


class TextFile:
    """One file on disk. `name` is its path without `.gz`; `position` how many of its bytes were read so far."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.packed = path.suffix.lower() == ".gz"
        self.name = path.with_suffix("") if self.packed else path
        self._raw: IO[bytes] | None = None

    @property
    def kind(self) -> str:
        """The suffix that says how to read this file, lower case, with its dot: `.txt` of `Notes.TXT.gz`."""
        return self.name.suffix.lower()

    @property
    def position(self) -> int:
        return self._raw.tell() if self._raw is not None and not self._raw.closed else 0

    def open(self) -> IO[bytes]:
        """The file's bytes, unpacked. Raises UnreadableFileError."""
        try:
            self._raw = self.path.open("rb")
        except OSError as error:
            raise UnreadableFileError(f"cannot open {self.path}: {error.strerror or error}") from error
        return cast(IO[bytes], _Unpacked(self._raw, self.path)) if self.packed else self._raw

    def digest(self) -> str:
        """sha256 (hex) of the bytes on disk, read in pieces. Raises UnreadableFileError."""
        try:
            with self.path.open("rb") as file:
                return hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as error:
            raise UnreadableFileError(f"cannot read {self.path}: {error.strerror or error}") from error

    def encoding(self) -> str:
        """The encoding of this text, found by reading all of it once in pieces.

        In this order: its byte order mark, UTF-8 where every byte is valid, what an HTML or XML head declares, UTF-8
        with some broken bytes, Windows-1252 where there is little to go by, else the best guess of charset-normalizer.
        The platform's default plays no part.
        Raises UnreadableFileError for a binary file and a damaged archive.
        """
        try:
            with self.open() as file:
                head = file.read(_SAMPLE)
                for mark, name in _BOMS:
                    if head.startswith(mark):
                        return name
                self._refuse_binary(head)
                broken = _first_broken(head, file)
        except (OSError, EOFError, zlib.error) as error:
            raise self._damaged(error) from error
        return "utf-8" if broken is None else _legacy(head, *broken)

    def text(self) -> io.TextIOWrapper:
        """The file as a stream of text with plain line ends. A byte that cannot be decoded becomes U+FFFD."""
        encoding = self.encoding()
        return io.TextIOWrapper(cast(io.BufferedReader, self.open()), encoding, errors="replace")

    def whole(self, limit: int) -> str:
        """All of the text. Raises UnreadableFileError where it is longer than `limit` characters."""
        try:
            with self.text() as file:
                text = file.read(limit + 1)
        except (OSError, EOFError, zlib.error) as error:
            raise self._damaged(error) from error
        if len(text) > limit:
            raise UnreadableFileError(
                f"{self.path} is longer than {limit:,} characters, too long to read at once; split it"
            )
        return text

    def _damaged(self, error: Exception) -> UnreadableFileError:
        return UnreadableFileError(f"{self.path} is damaged or not a gzip archive: {error}")

    def _refuse_binary(self, head: bytes) -> None:
        controls = len(head) - len(head.translate(None, _CONTROL))
        if b"\0" in head or controls > len(head) // 20:
            raise UnreadableFileError(
                f"{self.path} holds binary data, not text; give it the suffix of its real format, or leave it out"
            )


def _first_broken(head: bytes, rest: IO[bytes]) -> tuple[bytes, int] | None:
    """The piece with the first bytes that are not UTF-8, and how many characters beyond ASCII were UTF-8 before; None
    where all are."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    piece, last, valid = head, b"", 0
    while piece:
        try:
            valid += len(_MULTIBYTE.findall(decoder.decode(piece)))
        except UnicodeDecodeError as error:
            # Error offsets count from the bytes that the decoder kept back of the last piece, at most three.
            valid += len(_MULTIBYTE.findall(error.object[: error.start].decode("utf-8")))
            return piece[max(0, error.start - _SAMPLE // 2) : error.start + _SAMPLE // 2], valid
        piece, last = rest.read(_CHUNK), piece
    try:
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return last[-_SAMPLE:], valid
    return None


def _legacy(head: bytes, broken: bytes, valid: int) -> str:
    from charset_normalizer import from_bytes

    declared = _DECLARED.search(head[:4096])
    if declared:
        name = declared.group(1).decode("ascii", "replace")
        if not name.lower().startswith(("utf-8", "utf8")) and _known(name):
            return name
    as_utf8 = broken.decode("utf-8", "replace")
    if max(valid, len(_MULTIBYTE.findall(as_utf8))) > as_utf8.count("\ufffd"):
        return "utf-8"
    if len(broken) - len(broken.decode("ascii", "ignore")) < _EVIDENCE:
        return "cp1252"
    best = from_bytes(broken).best()
    return best.encoding if best is not None else "utf-8"


def _known(name: str) -> bool:
    try:
        return codecs.lookup(name)._is_text_encoding
    except LookupError:
        return False
