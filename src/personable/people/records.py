"""Recordings of models, runs and ratings: files with one JSON object a line, from which lines can be removed."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

from personable.people.searching import Search

_OURS = ({"key", "request"}, {"id", "outcome"}, {"answer", "rater", "scores"})
"""Fields that a recorded answer, a line of a run and a rating have: other people's JSONL files are not cut up."""


def drop_records(path: Path, search: Search) -> int:
    """Remove every record in which a text is found; returns how many. The file is replaced in one step.

    A recording is asked anew for what it lost, and so is a run that is gone on with. A file that is neither is left.
    """
    if not search.in_file(path) or not _ours(path):
        return 0
    fresh, dropped = path.with_name(f".{path.name}.new"), 0
    with path.open("rb") as old, fresh.open("wb") as new:
        for line in old:
            if search.matches(line):
                dropped += 1
            else:
                new.write(line)
        new.flush()
        os.fsync(new.fileno())
    shutil.copymode(path, fresh)
    fresh.replace(path)
    return dropped


def _ours(path: Path) -> bool:
    with path.open("rb") as file:
        try:
            first = json.loads(file.readline())
        except ValueError:
            return False
    return isinstance(first, dict) and any(fields <= first.keys() for fields in _OURS)
