"""Looking for texts in files, byte by byte: what a database deleted may still stand in its free pages and its log."""

from __future__ import annotations

import html
import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from personable.people.pages import blocks
from personable.text import words

SHORTEST = 12
"""Bytes. A shorter text, or one of fewer than three words, stands in many files for other reasons."""
LONGEST = 256
"""Bytes of a text that are compared; the rest of a longer one is taken for found with them."""
_KEY = 8
_BITS = 20
_SPREAD = np.uint64(0x9E3779B97F4A7C15)
_BLOCK = 1 << 23


def telling(text: str) -> bool:
    """Whether finding `text` in a file says something: three words or more and 12 bytes, or an id such as an address
    (12 bytes without a space, not of letters alone)."""
    plain = text.strip()
    if len(plain.encode("utf-8", "replace")) < SHORTEST:
        return False
    alone = len(plain.split()) == 1
    return not plain.isalpha() if alone and plain.isascii() else alone or len(words(plain)) >= 3


class Search:
    """Finds any of `texts` in bytes, in each form in which Personable's files hold text: plain, with white space
    folded, as JSON, as HTML; upper and lower case of ASCII letters are one.

    The time hardly depends on how many texts there are: a table of hashed beginnings (8 bytes) tells where to compare.
    """

    def __init__(self, texts: Sequence[str], *, halves: bool = False) -> None:
        self._places: dict[bytes, list[tuple[bytes, int]]] = {}
        for number, text in enumerate(texts):
            for form in forms(text, halves=halves):
                self._places.setdefault(form[:_KEY], []).append((form, number))
        self._table = np.zeros(1 << _BITS, dtype=bool)
        keys = np.frombuffer(b"".join(self._places), dtype="<u8")
        self._table[_slots(keys)] = True

    def in_file(self, path: Path) -> dict[int, set[bytes]]:
        """The numbers of the texts found, each with the forms that were found. Raises OSError."""
        found: dict[int, set[bytes]] = {}
        before = b""
        for block in blocks(path, _BLOCK):
            data = before + block
            for number, form in self.within(data):
                found.setdefault(number, set()).add(form)
            before = data[-LONGEST:]
        return found

    def matches(self, data: bytes) -> bool:
        """Whether any text is in `data`."""
        return any(True for _ in self.within(data))

    def spells(self, found: set[bytes], number: int) -> bool:
        """Whether one of the forms in `found` is a whole form of the text with this number, not one of its halves."""
        return any((form, number) in self._places.get(form[:_KEY], ()) for form in found)

    def within(self, data: bytes) -> Iterator[tuple[int, bytes]]:
        """The number of each text in `data` and the form in which it stands there; several times where it does."""
        data = data.lower()
        for shift in range(min(_KEY, len(data) - _KEY + 1)):
            keys = np.frombuffer(data, dtype="<u8", offset=shift, count=(len(data) - shift) // _KEY)
            for at in (np.flatnonzero(self._table[_slots(keys)]) * _KEY + shift).tolist():
                for form, number in self._places.get(data[at : at + _KEY], ()):
                    if data.startswith(form, at):
                        yield number, form


def forms(text: str, *, halves: bool = False) -> set[bytes]:
    """How `text` may stand in a file, in small letters, at most 256 bytes each.

    With `halves`, both halves of each form of 24 bytes and more as well: a database may cut a text at the end of a
    page.
    """
    folded = " ".join(text.split())
    plain = {text.strip(), folded}
    spelled = plain | {html.escape(one) for one in plain} | {json.dumps(one)[1:-1] for one in plain}
    spelled |= {json.dumps(one, ensure_ascii=False)[1:-1] for one in plain}
    encoded = {one.encode("utf-8", "replace").lower()[:LONGEST] for one in spelled}
    if halves:
        long = [one for one in encoded if len(one) >= 2 * SHORTEST]
        encoded |= {half for one in long for half in (one[: len(one) // 2], one[len(one) // 2 :])}
    return {one for one in encoded if len(one) >= _KEY}


def files_under(places: Iterable[Path]) -> list[Path]:
    """Every file in `places`, which are folders or files, and below, each once, in the order of their paths. Links to
    folders are not followed."""
    found: set[Path] = set()
    for place in places:
        found.update(path for path in (place, *place.rglob("*")) if path.is_file())
    return sorted(found)


def _slots(keys: NDArray[np.uint64]) -> NDArray[np.uint64]:
    return (keys * _SPREAD) >> np.uint64(64 - _BITS)
