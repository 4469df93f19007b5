"""The seal of a certified document: one digest over all that is stored of it, kept apart from what it seals.

Behind that digest stand short marks of each field. They only tell which one was altered.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from typing import Any

from personable.types import Passage

MARK = 8
"""Hexadecimal digits of a field's mark."""


def sealed(whole: Passage, made: Iterable[Passage]) -> str:
    """The seal of the document `whole` (its record: title, text, source, provenance), stored as the passages `made`."""
    marks = [f"{name}:{_digest(value)[:MARK]}" for name, value in sorted(_fields(whole).items())]
    return " ".join([_over(made), *marks])


def complete(seal: str) -> bool:
    """Whether this is a seal; earlier versions kept a digest that was never compared with what is served."""
    return " " in seal


def altered(seal: str, whole: Passage, made: Iterable[Passage]) -> str:
    """What differs from what was sealed, in words; "" where nothing does."""
    digest, *marks = seal.split(" ")
    if _over(made) == digest:
        return ""
    known = dict(mark.split(":", 1) for mark in marks)
    fields = {name: _digest(value)[:MARK] for name, value in _fields(whole).items()}
    names = sorted(name for name in known.keys() | fields.keys() if known.get(name) != fields.get(name))
    return f"its {', '.join(names)} differ{'' if len(names) > 1 else 's'}" if names else "a part of it differs"


def _fields(whole: Passage) -> dict[str, Any]:
    return whole.meta | whole.model_dump(exclude={"meta"})


def _over(made: Iterable[Passage]) -> str:
    return _digest(sorted((one.model_dump() for one in made), key=lambda one: str(one["id"])))


def _digest(value: object) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()
