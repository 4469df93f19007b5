"""Where a model started to go round in circles."""

from __future__ import annotations

from collections.abc import Iterator

LONGEST_UNIT = 800
LEAST_REPEATED = 240
LEAST_TIMES = 4
PROBE = 12


def repetition(text: str) -> int | None:
    """The offset from which `text` only says its end again and again, None when it does not.

    A unit (1 to 800 characters) said at least four times in a row, 240 characters long together, counts; its first
    saying stands before the offset. Cheap enough to ask after every piece of a stream.
    """
    text = text.rstrip()
    for size in _unit_sizes(text):
        begin = len(text) - size
        while begin >= size and text.startswith(text[begin : begin + size], begin - size):
            begin -= size
        repeated = len(text) - begin
        if repeated >= LEAST_REPEATED and repeated >= LEAST_TIMES * size:
            return begin + size
    return None


def _unit_sizes(text: str) -> Iterator[int]:
    """Distances at which the last characters stood before: the only sizes that a repeated unit can have."""
    if len(text) < LEAST_REPEATED:
        return
    last = at = len(text) - PROBE
    while (at := text.rfind(text[last:], max(0, last - LONGEST_UNIT), at + PROBE - 1)) >= 0:
        yield last - at
