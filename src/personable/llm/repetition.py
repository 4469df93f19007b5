"""Where a model started to go round in circles."""

from __future__ import annotations

WINDOW = 4000
LEAST_REPEATED = 240
LEAST_TIMES = 4


def repetition(text: str) -> int | None:
    """The offset where `text` begins to end in one unit said over and over, None when it does not.

    A unit (1 to 800 characters) said at least four times in a row and 240 characters long together counts; the first
    saying stands before the offset. Looks only at the last 4,000 characters, so a stream may ask after every piece.
    """
    tail = text[-WINDOW:].rstrip()
    end = len(text[-WINDOW:]) - len(tail)
    for size in _unit_sizes(tail):
        begin = len(tail) - size
        while begin >= size and tail[begin - size : begin] == tail[begin : begin + size]:
            begin -= size
        repeated = len(tail) - begin
        if repeated >= LEAST_REPEATED and repeated >= LEAST_TIMES * size:
            return len(text) - end - repeated + size
    return None


def _unit_sizes(tail: str) -> list[int]:
    """Distances at which the last characters come again: the only sizes that a repeated unit can have."""
    probe = tail[-12:]
    sizes, at = [], len(tail) - len(probe)
    while (at := tail.rfind(probe, 0, at + len(probe) - 1)) >= 0:
        size = len(tail) - len(probe) - at
        if size > WINDOW // LEAST_TIMES:
            break
        sizes.append(size)
    return sizes
