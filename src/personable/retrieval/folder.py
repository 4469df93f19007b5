"""The files below the paths that somebody wants indexed."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from personable.errors import DataError


class Found(NamedTuple):
    """A file: its absolute path, its path relative to where the search began (POSIX separators), its size in bytes."""

    path: Path
    name: str
    size: int


@dataclass
class Search:
    """All files at and below some paths, each once, in a stable order, and what could not be looked at.

    Hidden files (`.git`, `~$draft.docx`) are left out. Links are followed; no folder is entered twice, so that a loop
    of links ends. `roots` are the paths searched, absolute.
    """

    roots: list[Path] = field(default_factory=list)
    files: dict[Path, Found] = field(default_factory=dict)
    failed: dict[Path, str] = field(default_factory=dict)
    _entered: set[tuple[int, int]] = field(default_factory=set)

    def covers(self, path: Path) -> bool:
        """Whether a file that once stood at `path` would have been found, did it still exist."""
        return any(path.is_relative_to(root) for root in self.roots) and not any(
            path.is_relative_to(place) for place in self.failed
        )

    def add(self, given: Path) -> None:
        """Search one more path. Raises DataError where nothing is there."""
        given = given.expanduser()
        if not given.exists():
            raise DataError(f"there is no file or folder {given}")
        root = given.resolve() if given.is_dir() else given.parent.resolve() / given.name
        self.roots.append(root)
        if not root.is_dir():
            self._add_file(root, root.name)
            return
        for place, folders, files in os.walk(root, followlinks=True, onerror=self._unreadable):
            here = Path(place)
            status = here.stat()
            if (status.st_dev, status.st_ino) in self._entered:
                folders.clear()
                continue
            self._entered.add((status.st_dev, status.st_ino))
            folders[:] = sorted(name for name in folders if not name.startswith("."))
            for name in sorted(files):
                if not name.startswith((".", "~$")):
                    self._add_file(here / name, (here / name).relative_to(root).as_posix())

    def _unreadable(self, error: OSError) -> None:
        self.failed[Path(error.filename)] = f"cannot open this folder: {error.strerror}"

    def _add_file(self, path: Path, name: str) -> None:
        try:
            name.encode()
            if path.is_file():
                self.files.setdefault(path, Found(path, name, path.stat().st_size))
            else:
                self.failed[path] = "not a file: a broken link, or a device"
        except UnicodeEncodeError:
            self.failed[path] = "its name is not valid UTF-8; rename it"
        except OSError as error:
            self.failed[path] = f"cannot look at it: {error.strerror}"


def search(paths: Sequence[Path]) -> Search:
    """The files at and below `paths`. Raises DataError for a path that is not there."""
    found = Search()
    for path in paths:
        found.add(path)
    return found
