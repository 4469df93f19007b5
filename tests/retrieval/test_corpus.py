"""Collections mirror folders, through changes, failures and kills."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import pytest

from personable.embed import make_embedder
from personable.errors import ConfigurationError, DataError, ModelError, NotFoundError, UsageError
from personable.retrieval import indexing, readers
from personable.retrieval.corpus import (
    Collection,
    IndexOptions,
    IndexReport,
    Progress,
    collection_identity,
    delete_collection,
    list_collections,
    open_collection,
)


@pytest.fixture
def files(tmp_path: Path) -> Path:
    folder = tmp_path / "files"
    for name, text in (("a.txt", "Cats sleep."), ("sub/b.md", "# Dogs\n\nDogs bark."), ("c.txt", "Birds sing.")):
        write(folder / name, text)
    return folder


@pytest.fixture
def collection(tmp_path: Path) -> Iterator[Collection]:
    with open_collection(tmp_path / "home", "pets", create=True) as made:
        yield made


def write(path: Path, content: str | bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def texts(collection: Collection) -> dict[str, str]:
    """Passage id to text, of everything that is stored."""
    rows = collection.store.rows({"document": list(collection.store.documents())})
    assert rows is not None
    return {passage.id: passage.text for passage in collection.store.fetch(rows.tolist())}


def counts(report: IndexReport) -> tuple[int, int, int, int]:
    return report.added, report.replaced, report.unchanged, report.removed


def test_ids_are_paths_relative_to_the_folder(collection: Collection, files: Path) -> None:
    report = collection.index([files])
    assert counts(report) == (3, 0, 0, 0)
    assert report.passages == 3
    assert texts(collection) == {
        "a.txt#0": "Cats sleep.",
        "c.txt#0": "Birds sing.",
        "sub/b.md#0": "# Dogs\n\nDogs bark.",
    }


def test_unchanged_files_are_not_read_again(
    collection: Collection, files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    collection.index([files])
    monkeypatch.setattr(indexing, "read", None)
    os.utime(files / "a.txt", (0, 0))
    assert counts(collection.index([files])) == (0, 0, 3, 0)


def test_a_changed_file_is_replaced_also_when_size_and_date_stay(collection: Collection, files: Path) -> None:
    collection.index([files])
    before = (files / "a.txt").stat()
    write(files / "a.txt", "Cats purrr.")
    os.utime(files / "a.txt", ns=(before.st_atime_ns, before.st_mtime_ns))
    assert counts(collection.index([files])) == (0, 1, 2, 0)
    assert texts(collection)["a.txt#0"] == "Cats purrr."


def test_a_removed_file_takes_its_documents_along(collection: Collection, files: Path) -> None:
    collection.index([files])
    (files / "a.txt").unlink()
    assert counts(collection.index([files])) == (0, 0, 2, 1)
    assert sorted(texts(collection)) == ["c.txt#0", "sub/b.md#0"]


def test_the_last_file_of_a_folder_can_go_too(collection: Collection, tmp_path: Path) -> None:
    folder = write(tmp_path / "one/a.txt", "Cats sleep.").parent
    collection.index([folder])
    (folder / "a.txt").unlink()
    assert counts(collection.index([folder])) == (0, 0, 0, 1)
    assert len(collection.store) == 0


def test_another_folder_drops_nothing_of_the_first(collection: Collection, files: Path, tmp_path: Path) -> None:
    collection.index([files])
    other = write(tmp_path / "other/d.txt", "Fish swim.").parent
    assert counts(collection.index([other])) == (1, 0, 0, 0)
    assert len(texts(collection)) == 4


def test_two_files_that_claim_one_id_are_both_kept(collection: Collection, tmp_path: Path) -> None:
    for folder, text in (("x/docs", "Of x."), ("y/docs", "Of y."), ("z/docs", "Of z.")):
        collection.index([write(tmp_path / folder / "a.txt", text).parent])
    assert texts(collection) == {"a.txt#0": "Of x.", "docs/a.txt#0": "Of y.", "z/docs/a.txt#0": "Of z."}


def test_a_folder_inside_an_indexed_one_is_not_indexed_twice(collection: Collection, files: Path) -> None:
    collection.index([files])
    assert counts(collection.index([files / "sub"])) == (0, 0, 1, 0)
    assert counts(collection.index([files / "sub", files / "a.txt"])) == (0, 0, 2, 0)


def test_a_moved_folder_keeps_its_ids_and_shows_its_new_place(
    collection: Collection, files: Path, tmp_path: Path
) -> None:
    collection.index([files])
    before = texts(collection)
    moved = files.rename(tmp_path / "elsewhere")
    assert counts(collection.index([moved])) == (0, 3, 0, 0)
    assert texts(collection) == before
    assert collection.store.passage("a.txt#0").source == str(moved / "a.txt")


def test_the_same_bytes_are_stored_once_and_the_copy_inherits(collection: Collection, files: Path) -> None:
    shutil.copy(files / "a.txt", files / "copy.txt")
    report = collection.index([files])
    assert counts(report) == (3, 0, 0, 0)
    assert [(skipped.source, skipped.reason) for skipped in report.skipped] == [
        (str(files / "copy.txt"), f"the same bytes as {files / 'a.txt'}, which is cited instead")
    ]
    (files / "a.txt").unlink()
    assert counts(collection.index([files])) == (1, 0, 2, 1)
    assert sorted(texts(collection)) == ["c.txt#0", "copy.txt#0", "sub/b.md#0"]


def test_a_copy_elsewhere_inherits_when_its_original_changes(
    collection: Collection, files: Path, tmp_path: Path
) -> None:
    collection.index([files])
    other = write(tmp_path / "other/copy.txt", "Cats sleep.").parent
    assert len(collection.index([other]).skipped) == 1
    write(files / "a.txt", "Cats purr.")
    assert counts(collection.index([files])) == (1, 1, 2, 0)
    assert texts(collection)["copy.txt#0"] == "Cats sleep."


def test_a_file_that_becomes_a_copy_gives_up_its_own_text(collection: Collection, files: Path) -> None:
    collection.index([files])
    write(files / "c.txt", "Cats sleep.")
    collection.index([files])
    assert sorted(texts(collection)) == ["a.txt#0", "sub/b.md#0"]
    assert counts(collection.index([files])) == (0, 0, 2, 0)


def test_records_come_change_and_go_with_their_file(collection: Collection, tmp_path: Path) -> None:
    path = write(tmp_path / "r.jsonl", '{"id": "1", "text": "one"}\n{"id": "2", "text": "two"}\n')
    collection.index([path])
    write(path, '{"id": "1", "text": "one"}\n{"id": "2", "text": "TWO"}\n{"id": "3", "text": "three"}\n')
    assert counts(collection.index([path])) == (1, 1, 1, 0)
    write(path, '{"id": "3", "text": "three"}\n')
    assert counts(collection.index([path])) == (0, 0, 1, 2)
    assert texts(collection) == {"3#0": "three"}


def test_records_of_two_files_with_one_id_are_both_kept(collection: Collection, tmp_path: Path) -> None:
    write(tmp_path / "files/a.jsonl", '{"id": "1", "text": "of a"}\n')
    write(tmp_path / "files/b.jsonl", '{"id": "1", "text": "of b"}\n')
    collection.index([tmp_path / "files"])
    assert texts(collection) == {"1#0": "of a", "b.jsonl/1#0": "of b"}


def test_a_record_that_moves_to_another_file_keeps_its_id(collection: Collection, tmp_path: Path) -> None:
    one, two = '{"id": "1", "text": "one"}\n', '{"id": "2", "text": "two"}\n'
    write(tmp_path / "files/a.jsonl", one + two)
    write(tmp_path / "files/b.jsonl", '{"id": "3", "text": "three"}\n')
    collection.index([tmp_path / "files"])
    write(tmp_path / "files/a.jsonl", two)
    write(tmp_path / "files/b.jsonl", one)
    collection.index([tmp_path / "files"])
    assert texts(collection) == {"1#0": "one", "2#0": "two"}
    assert counts(collection.index([tmp_path / "files"])) == (0, 0, 2, 0)


def test_a_renamed_file_of_records_keeps_their_ids(collection: Collection, tmp_path: Path) -> None:
    path = write(tmp_path / "files/a.jsonl", '{"id": "1", "text": "one"}\n')
    collection.index([path.parent])
    path.rename(path.with_name("z.jsonl"))
    collection.index([path.parent])
    assert texts(collection) == {"1#0": "one"}
    assert collection.store.passage("1#0").source == str(path.with_name("z.jsonl"))


def test_other_options_read_everything_again(collection: Collection, files: Path) -> None:
    write(files / "long.txt", "A short sentence stands here. " * 40)
    collection.index([files])
    report = collection.index([files], IndexOptions(passage_tokens=64, overlap_tokens=0))
    assert counts(report) == (0, 4, 0, 0)
    assert len([id for id in texts(collection) if id.startswith("long.txt#")]) == 8


def test_bad_files_are_reported_and_the_rest_is_indexed(collection: Collection, files: Path) -> None:
    write(files / "binary.txt", bytes(range(256)))
    write(files / "empty.txt", "")
    write(files / "blank.md", " \n")
    write(files / "image.png", b"\x89PNG")
    write(files / "half.jsonl", '{"id": "1", "text": "one"}\n{"id"\n')
    (files / "broken.txt").symlink_to(files / "nowhere.txt")
    (files / "sub/loop").symlink_to(files)
    write(files / "with space 🐈\\.txt", "Named oddly.")
    write(files / ".git/config", "hidden")
    report = collection.index([files])
    assert counts(report) == (5, 0, 0, 0)
    assert {Path(failed.source).name for failed in report.failed} == {"binary.txt", "half.jsonl, line 2", "broken.txt"}
    assert {Path(skipped.source).name: skipped.reason for skipped in report.skipped} == {
        "empty.txt": "is empty",
        "blank.md": "holds no text",
        "image.png": "no reader for .png",
    }
    assert texts(collection)["with space 🐈\\.txt#0"] == "Named oddly."


def test_a_file_whose_every_record_fails_keeps_its_documents(collection: Collection, tmp_path: Path) -> None:
    path = write(tmp_path / "r.jsonl", '{"id": "1", "text": "one"}\n')
    collection.index([path])
    write(path, '{"id": "1", "x": "one"}\n')
    assert counts(collection.index([path])) == (0, 0, 0, 0)
    assert texts(collection) == {"1#0": "one"}


def test_many_problems_of_one_file_are_counted(collection: Collection, tmp_path: Path) -> None:
    path = write(tmp_path / "r.jsonl", '{"id": "1", "text": "one"}\n' + "nonsense\n" * 50)
    report = collection.index([path])
    assert len(report.failed) == 11
    assert report.failed[-1].error == "40 more problems of this kind in this file"


def test_problems_are_reported_until_the_file_is_mended(collection: Collection, tmp_path: Path) -> None:
    good = '{"id": "1", "text": "one"}\n'
    path = write(tmp_path / "files/r.jsonl", good + "nonsense\n" * 12)
    table = write(tmp_path / "files/t.csv", "id,text\n2,two\n3,three,four\n")
    first = collection.index([path.parent])
    assert len(first.failed) == 12
    again = collection.index([path.parent])
    assert (again.failed, counts(again)) == (first.failed, (0, 0, 2, 0))
    assert collection.index([table]).failed == first.failed[-1:]
    moved = path.parent.rename(tmp_path / "moved")
    assert [problem.source for problem in collection.index([moved]).failed] == [
        problem.source.replace("files", "moved") for problem in first.failed
    ]
    write(moved / "r.jsonl", good)
    assert [problem.source for problem in collection.index([moved]).failed] == [f"{moved / 't.csv'}, line 3"]
    (moved / "t.csv").unlink()
    assert collection.index([moved]).failed == []


def test_a_collection_that_lost_its_passages_is_rebuilt(tmp_path: Path, files: Path) -> None:
    other = write(tmp_path / "other/d.txt", "Fish swim.").parent
    copy = write(tmp_path / "other/e.txt", "Cats sleep.")
    embedder = make_embedder("hash:64")
    with open_collection(tmp_path, "a", embedder=embedder, create=True) as collection:
        collection.index([files])
        collection.index([other])
        before = texts(collection)
        (tmp_path / "collections/a/passages.sqlite").unlink()
    with open_collection(tmp_path, "a", embedder=embedder, create=True) as collection:
        assert counts(collection.index([other])) == (4, 0, 0, 0)
        assert texts(collection) == before
        found = collection.store.sparse.search("swim", 3)[0]
        assert [passage.text for passage in collection.store.fetch(found.tolist())] == ["Fish swim."]
        report = collection.index([files, other])
        assert counts(report) == (0, 0, 4, 0)
        assert [skipped.source for skipped in report.skipped] == [str(copy)]


def test_a_file_that_cannot_be_read_any_more_keeps_its_documents(collection: Collection, files: Path) -> None:
    collection.index([files])
    write(files / "a.txt", bytes(range(256)))
    report = collection.index([files])
    assert [failed.source for failed in report.failed] == [str(files / "a.txt")]
    assert texts(collection)["a.txt#0"] == "Cats sleep."


def test_a_file_and_a_folder_that_may_not_be_opened_keep_their_documents(
    collection: Collection, files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    collection.index([files])
    before = texts(collection)
    write(files / "c.txt", "Birds fly.")
    look, read = os.scandir, Path.open

    def scandir(path: str) -> object:
        if Path(path).name == "sub":
            raise PermissionError(13, "Permission denied", path)
        return look(path)

    def refuse(path: Path, *arguments: str, **options: str) -> object:
        if path.name == "a.txt":
            raise PermissionError(13, "Permission denied", str(path))
        return read(path, *arguments, **options)  # type: ignore[call-overload]

    monkeypatch.setattr(os, "scandir", scandir)
    monkeypatch.setattr(Path, "open", refuse)
    report = collection.index([files])
    assert {failed.source: failed.error for failed in report.failed} == {
        str(files / "sub"): "cannot open this folder: Permission denied",
        str(files / "a.txt"): f"cannot read {files / 'a.txt'}: Permission denied",
    }
    assert texts(collection) == {**before, "c.txt#0": "Birds fly."}


def test_a_run_in_which_all_fails_changes_nothing(collection: Collection, files: Path) -> None:
    collection.index([files])
    before = texts(collection)
    (files / "c.txt").unlink()
    for name in ("a.txt", "sub/b.md"):
        write(files / name, bytes(range(256)))
    report = collection.index([files])
    assert counts(report) == (0, 0, 0, 0)
    assert len(report.failed) == 2
    assert texts(collection) == before


def test_a_file_that_became_empty_takes_its_text_along(collection: Collection, files: Path) -> None:
    collection.index([files])
    write(files / "a.txt", "")
    assert collection.index([files]).removed == 1
    assert "a.txt#0" not in texts(collection)


@pytest.mark.parametrize(
    ("name", "message"), [("nowhere", "there is no file or folder"), ("empty", "no file that can be read in")]
)
def test_a_path_with_nothing_to_read_is_an_error(
    collection: Collection, tmp_path: Path, name: str, message: str
) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match=message):
        collection.index([tmp_path / name])


def test_a_missing_path_beside_a_good_one_changes_nothing(collection: Collection, files: Path) -> None:
    with pytest.raises(DataError, match="nowhere"):
        collection.index([files, files / "nowhere"])
    assert len(collection.store) == 0


def test_removing_a_document_or_a_path(collection: Collection, files: Path) -> None:
    collection.index([files])
    assert collection.remove("a.txt") == 1
    assert collection.remove(str(files / "sub")) == 1
    assert sorted(texts(collection)) == ["c.txt#0"]
    with pytest.raises(NotFoundError, match=r"holds no document or path 'a\.txt'"):
        collection.remove("a.txt")
    assert counts(collection.index([files])) == (2, 0, 1, 0)


def test_progress_goes_up_and_ends_at_the_total(
    collection: Collection, files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(indexing, "_PAUSE", 0)
    seen: list[Progress] = []
    collection.index([files], progress=seen.append)
    total = sum(path.stat().st_size for path in files.rglob("*.*"))
    assert [step.done for step in seen] == sorted(step.done for step in seen)
    assert (seen[-1].done, seen[-1].total, seen[-1].passages) == (total, total, 3)


class Failing:
    """An embedder whose service goes away after the first batch."""

    def __init__(self) -> None:
        self._inner = make_embedder("hash:64")
        self.calls = 0

    def __getattr__(self, name: str) -> object:
        return getattr(self._inner, name)

    def passages(self, texts: list[str]) -> object:
        self.calls += 1
        if self.calls > 1:
            raise ModelError("the embedding service does not answer")
        return self._inner.passages(texts)


def test_what_was_stored_before_a_failure_stays_and_the_next_run_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(indexing, "EVERY", 10)
    lines = [json.dumps({"id": str(n), "text": f"Text number {n}."}) for n in range(25)]
    path = write(tmp_path / "r.jsonl", "\n".join(lines))
    home = tmp_path / "home"
    collection = open_collection(home, "c", embedder=Failing(), create=True)  # type: ignore[arg-type]
    with pytest.raises(ModelError, match="does not answer"):
        collection.index([path])
    with open_collection(home, "c", embedder=make_embedder("hash:64"), write=True) as collection:
        assert len(collection.store) == 10
        assert counts(collection.index([path])) == (15, 0, 10, 0)


KILLED = """
import os, signal, sys
from pathlib import Path
from personable.retrieval import indexing
from personable.retrieval.corpus import open_collection
from personable.retrieval.ledger import Ledger
from personable.retrieval.store import PassageStore

home, files, where, when = sys.argv[1:]
left = int(when)

def dying(call):
    def wrapper(*arguments):
        global left
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return call(*arguments)
    return wrapper

owner = {"save": Ledger, "commit": PassageStore, "put": PassageStore}[where]
setattr(owner, where, dying(getattr(owner, where)))
indexing.EVERY = 10
with open_collection(Path(home), "c", write=True, create=True) as collection:
    collection.index([Path(files)])
"""


@pytest.mark.slow
@pytest.mark.parametrize(("where", "when"), [("put", 25), ("commit", 2), ("save", 3), ("save", 4), ("save", 5)])
def test_a_killed_run_is_taken_up_and_ends_like_one_that_was_not(tmp_path: Path, where: str, when: int) -> None:
    files, home = tmp_path / "files", tmp_path / "home"
    for n in range(12):
        write(files / f"{n:02}.txt", f"File {n}.")
    write(files / "old.txt", "Will go.")
    with open_collection(home, "c", create=True) as collection:
        collection.index([files])
    (files / "old.txt").unlink()
    write(files / "03.txt", "Changed.")
    lines = [json.dumps({"id": f"r{n}", "text": f"Record {n}."}) for n in range(30)]
    write(files / "r.jsonl", "\n".join(lines))
    died = subprocess.run([sys.executable, "-c", KILLED, str(home), str(files), where, str(when)], check=False)
    assert died.returncode == -9
    write(files / "r.jsonl", "\n".join(lines[5:]))
    with open_collection(home, "c", write=True) as collection:
        collection.index([files])
        resumed = texts(collection)
        assert counts(collection.index([files])) == (0, 0, 37, 0)
    with open_collection(home, "fresh", create=True) as collection:
        collection.index([files])
        assert resumed == texts(collection)


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_memory_does_not_grow_with_the_length_of_a_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What Python allocates; tantivy's writer keeps to the heap that it is given."""
    monkeypatch.setattr(readers, "PART", 50_000)
    monkeypatch.setattr(indexing, "EVERY", 100)
    peaks, passages = [], []
    for lines in (4_000, 16_000):
        text = "".join(f"Here kettle {n % 500} boils, and nobody knows the end.\n\n" for n in range(lines))
        path = write(tmp_path / f"{lines}.txt", text)
        with open_collection(tmp_path / "home", f"c{lines}", create=True) as collection:
            tracemalloc.start()
            try:
                passages.append(collection.index([path]).passages)
                peaks.append(tracemalloc.get_traced_memory()[1])
            finally:
                tracemalloc.stop()
    assert passages[1] > 3 * passages[0] > 300
    assert peaks[1] < 1.5 * peaks[0]


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_ten_thousand_small_files(collection: Collection, tmp_path: Path) -> None:
    for n in range(10_000):
        write(tmp_path / f"many/{n % 100}/{n}.txt", f"File {n}.")
    assert counts(collection.index([tmp_path / "many"])) == (10_000, 0, 0, 0)
    assert counts(collection.index([tmp_path / "many"])) == (0, 0, 10_000, 0)


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "a\\b", "../x", "-x", "x.", "a b", "x" * 65, "naïve", "a\n"])
def test_names_that_cannot_be_collections(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError, match="cannot name a collection"):
        open_collection(tmp_path, name, create=True)
    with pytest.raises(UsageError, match="cannot name a collection"):
        delete_collection(tmp_path, name)
    assert list(tmp_path.iterdir()) == []


def test_a_missing_collection_names_those_there_are(tmp_path: Path, files: Path) -> None:
    with pytest.raises(NotFoundError, match="no collection 'b'; there are none yet; make it with"):
        open_collection(tmp_path, "b")
    with open_collection(tmp_path, "a", create=True) as collection:
        collection.index([files])
    with pytest.raises(NotFoundError, match="no collection 'b'; there are: a; make it with"):
        open_collection(tmp_path, "b", write=True)


def test_a_collection_that_stayed_empty_leaves_nothing(tmp_path: Path) -> None:
    open_collection(tmp_path, "a", create=True).close()
    assert list_collections(tmp_path) == []
    assert list((tmp_path / "collections").iterdir()) == []


def test_deleting_a_collection_leaves_the_others(tmp_path: Path, files: Path) -> None:
    for name in ("a", "b"):
        with open_collection(tmp_path, name, create=True) as collection:
            collection.index([files])
    assert list_collections(tmp_path) == ["a", "b"]
    delete_collection(tmp_path, "a")
    assert [place.name for place in (tmp_path / "collections").iterdir()] == ["b"]
    with pytest.raises(NotFoundError, match="no collection 'a'; there are: b"):
        delete_collection(tmp_path, "a")


def test_a_collection_keeps_its_embedder_and_language(tmp_path: Path, files: Path) -> None:
    with open_collection(tmp_path, "a", language="de", embedder=make_embedder("hash:64"), create=True) as collection:
        collection.index([files])
    with pytest.raises(ConfigurationError, match="hash:64"):
        open_collection(tmp_path, "a", embedder=make_embedder("hash:32"), write=True)
    with open_collection(tmp_path, "a", embedder=make_embedder("hash:64"), create=True) as collection:
        assert collection.store.manifest.language == "de"


def test_a_second_writer_is_refused(tmp_path: Path) -> None:
    with (
        open_collection(tmp_path, "a", create=True),
        pytest.raises(DataError, match="another process is writing"),
    ):
        open_collection(tmp_path, "a", write=True)


def test_a_file_that_stands_where_a_collection_would_is_none(tmp_path: Path) -> None:
    write(tmp_path / "collections" / "pets", "no folder")
    assert collection_identity(tmp_path, "pets") is collection_identity(tmp_path, "birds") is None
