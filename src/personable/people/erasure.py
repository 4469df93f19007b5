"""Erasing a person so that it can be proved: remove, then search every file for what was removed.

Records of runs and recordings go first and the rows in the database, in one transaction, last: until then a run that
was interrupted can be done again, since the texts to look for are still known.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from personable.people.events import now
from personable.people.pages import held_by_others, is_sqlite
from personable.people.receipt import MARK, Left, Place, Receipt
from personable.people.records import drop_records
from personable.people.searching import Search, files_under, telling

if TYPE_CHECKING:
    from personable.people.store import People

_SAID = ("query", "comment", "edit")
"""Kinds of events whose text is always the person's; that of others is a title of the builder's documents, or a comment
with a thumb, a rating or a click."""


async def erase(people: People, home: Path, person: str) -> Receipt:
    """Remove the person from the store, and from recordings and runs in `home` and in registered folders; then look in
    every file there for what they said, asked and are called. Raises NotFoundError for an unknown person.

    The builder's collections and uploads (`home/collections`, `home/uploads`) are searched and not changed. What the
    receipt calls `left` was not removed: a file of another program, or the log of a database that somebody still reads.
    """
    held = await people.export(person)
    every = _texts(held)
    texts = sorted(text for text in every if telling(text) or text in _names(held))
    runs = [run for run in await people.runs() if run.exists()]
    work = _Work(person, home.absolute(), people.file, runs, texts)
    dropped = await asyncio.to_thread(work.drop)
    removed = (await people.erase(person)).removed
    seen = await asyncio.to_thread(work.look)
    if people.file is not None and seen.holds(people.file):
        await people.compact()
        seen = await asyncio.to_thread(work.look)
    return Receipt(
        subject=hashlib.sha256(person.encode()).hexdigest(),
        time=now(),
        removed=removed,
        places=[place.model_copy(update={"records": dropped.get(place.path, 0)}) for place in seen.places],
        texts=len(texts),
        common=len(every) - len(texts),
        shared=len(seen.shared),
        left=seen.left,
        unread=seen.unread + ([] if people.file else ["the files of the database server"]),
        documents=seen.documents,
    ).sealed()


class _Seen(NamedTuple):
    places: list[Place]
    shared: set[int]
    left: list[Left]
    unread: list[str]
    documents: list[Left]
    files: set[Path]

    def holds(self, file: Path) -> bool:
        return any(found.name.startswith(file.name) and found.parent == file.parent for found in self.files)


class _Work:
    def __init__(self, person: str, home: Path, store: Path | None, runs: Sequence[Path], texts: list[str]) -> None:
        self.person, self.store = person, store
        self.roots = {home / "collections": "documents", home / "uploads": "documents", home: "home"} | {
            run: "run" for run in runs if not run.is_relative_to(home)
        }
        self.search, self.pages = Search(texts), Search(texts, halves=True)
        self.texts = texts

    def files(self) -> Iterator[tuple[Path, Path]]:
        """Every file to search, with the place that it belongs to."""
        store = [self.store.parent.glob(f"{self.store.name}*")] if self.store else []
        beside = {path for found in store for path in found if path.is_file()}
        for path in sorted({*files_under(self.roots), *beside}):
            above = [root for root in self.roots if path.is_relative_to(root)]
            yield path, max(above, key=lambda root: len(root.parts), default=path.parent)

    def drop(self) -> dict[str, int]:
        """Remove what recordings and runs hold of the person; returns how many records by place."""
        dropped: dict[str, int] = {}
        for path, root in self.files():
            if self.roots.get(root) != "documents" and path.suffix == ".jsonl":
                dropped[str(root)] = dropped.get(str(root), 0) + drop_records(path, self.search)
        return dropped

    def look(self) -> _Seen:
        """Search every file."""
        seen = _Seen([], set(), [], [], [], set())
        counts = {root: [0, 0] for root in self.roots if root.exists()}
        for path, root in self.files():
            try:
                found = self.found(path, seen.shared, documents=self.roots.get(root) == "documents")
                size = path.stat().st_size
            except FileNotFoundError:
                continue  # a temporary file of a program at work
            except OSError:
                seen.unread.append(self.shown(path, root))
                continue
            found |= {number for number, _ in self.search.within(path.relative_to(root).as_posix().encode())}
            for at, more in enumerate((1, size)):
                counts.setdefault(root, [0, 0])[at] += more
            if found:
                hit = Left(file=self.shown(path, root), texts=len(found))
                (seen.documents if self.roots.get(root) == "documents" else seen.left).append(hit)
                seen.files.add(path)
        for root, (files, size) in counts.items():
            looked = {"path": str(root), "kind": self.roots.get(root, "home"), "files": files, "bytes": size}
            seen.places.append(Place.model_validate(looked))
        return seen

    def found(self, path: Path, shared: set[int], *, documents: bool) -> set[int]:
        """The numbers of the texts in a file that belong to nobody else; those that do are added to `shared`."""
        if documents or not is_sqlite(path):
            return set(self.search.in_file(path))
        mine = set()
        for number, spelled in self.pages.in_file(path).items():
            others = {form for form in spelled if held_by_others(path, form, self.person)}
            if spelled - others:
                mine.add(number)
            elif self.search.spells(others, number):
                shared.add(number)
        return mine

    def shown(self, path: Path, root: Path) -> str:
        """A path as a receipt may name it: what follows the place's own path is masked where it names the person."""
        names = "|".join(re.escape(text) for text in sorted([*self.texts, self.person], key=len, reverse=True))
        return str(root / re.sub(rf"(?<!\w)({names})(?!\w)", MARK, path.relative_to(root).as_posix()))


def _names(held: dict[str, Any]) -> set[str]:
    """What tells the person: a name of two words and 12 bytes, and the id as it stands in an answer."""
    id, name = held["person"]["id"], held["person"]["name"]
    asked = json.dumps(id, ensure_ascii=False)
    names = {f'"person":{asked}', f'"person": {asked}'}
    return names | ({name} if len(name.split()) > 1 and len(name.encode()) >= 12 else set())


def _texts(held: dict[str, Any]) -> set[str]:
    """Everything that the person said, asked and is called, from an export; and the ids that were given for it."""
    found = {held["person"]["id"], held["person"]["name"], *_names(held)}
    for one in held["statements"]:
        found |= {one["id"], one["text"], one["cause"]}
    for one in held["changes"]:
        found |= {one["cause"], *(value for side in (one["before"], one["after"]) for value in _words(side))}
    found |= {turn["question"] for turn in held["turns"]}
    found |= {session["id"] for session in held["sessions"]}
    titles: dict[str, set[str]] = {}
    for one in held["answers"]:
        answer, board = _read(one["answer"]), _read(one["board"])
        found |= {one["id"], *_asked(answer), *_wished(board)}
        titles[one["id"]] = set(_strings(answer, "citations", "title"))
        # What is not of this version is the person's as a whole.
        found |= {one[name] for name, read in (("answer", answer), ("board", board)) if not read}
    found |= {event["text"] for event in held["events"] if _said(event, titles)}
    return {text for text in found if text.strip()}


def _said(event: dict[str, Any], titles: dict[str, set[str]]) -> bool:
    """Whether an event's text is the person's. `titles` are those that an answer cited, by its id."""
    if event["kind"] in _SAID:
        return True
    judged = event["answer"] is not None and event["kind"] != "impression"
    return judged and event["text"] not in titles.get(event["answer"], ())


def _words(side: dict[str, Any] | None) -> Iterable[str]:
    return (side[field] for field in ("text", "cause") if side and side.get(field))


def _read(kept: str) -> dict[str, Any]:
    """A stored answer or board; empty where it is none of this version."""
    try:
        read = json.loads(kept)
    except ValueError:
        return {}
    return read if isinstance(read, dict) else {}


def _asked(answer: dict[str, Any]) -> Iterator[str]:
    yield str(answer.get("question", ""))
    yield from _strings(answer, "used", "text")


def _wished(board: dict[str, Any]) -> Iterator[str]:
    """What was asked, wished for and said before in a conversation, as it stands on a board."""
    for post in _each(board, "posts"):
        match post.get("content"):
            case {"kind": "question", "question": {"text": str(text)}} | {"kind": "wish", "wish": {"query": str(text)}}:
                yield text
            case dict() as note if note.get("kind") == "history":
                yield from _strings(note, "turns", "utterance")


def _each(value: dict[str, Any], name: str) -> Iterator[dict[str, Any]]:
    found = value.get(name)
    return (one for one in found if isinstance(one, dict)) if isinstance(found, list) else iter(())


def _strings(value: dict[str, Any], name: str, field: str) -> Iterator[str]:
    return (one[field] for one in _each(value, name) if isinstance(one.get(field), str))
