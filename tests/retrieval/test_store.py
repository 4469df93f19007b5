from __future__ import annotations

import json
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from personable.embed import Embedder, Vectors, make_embedder
from personable.errors import ConfigurationError, DataError, ModelError, NotFoundError, UsageError
from personable.retrieval.store import PassageStore
from personable.types import Passage

HASH = make_embedder("hash:16")


def piece(id: str, text: str = "some text", **fields: object) -> Passage:
    return Passage.model_validate({"id": id, "text": text, **fields})


def ids(store: PassageStore) -> set[str]:
    rows = store.rows({"document": list(store.documents())})
    assert rows is not None
    return {passage.id for passage in store.fetch(rows.tolist())}


def agree(store: PassageStore) -> None:
    rows = store._database.rows().tolist()
    assert store.sparse.rows().tolist() == rows
    assert store.dense is not None
    assert store.dense.rows().tolist() == rows


@pytest.fixture
def store(tmp_path: Path) -> PassageStore:
    return PassageStore(tmp_path / "c", embedder=HASH, write=True)


def test_what_is_put_is_there_after_the_commit_and_after_reopening(store: PassageStore) -> None:
    put = piece("a1", "cats", title="T", source="s", start=3, end=7, meta={"n": 1, "x": 1.5, "b": True, "s": "é"})
    store.put("a", "digest", [put, piece("a2")])
    assert len(store) == 0
    store.commit()
    assert len(store) == 2
    store.close()
    with PassageStore(store.folder, embedder=HASH) as again:
        assert again.documents() == {"a": "digest"}
        assert again.passage("a1") == put.model_copy(update={"document": "a"})


def test_putting_a_document_again_replaces_all_of_it(store: PassageStore) -> None:
    store.put("a", "1", [piece("a1"), piece("a2")])
    store.put("b", "1", [piece("b1")])
    store.commit()
    store.put("a", "2", [piece("a2", "new"), piece("a3")])
    store.commit()
    assert store.documents() == {"a": "2", "b": "1"}
    assert ids(store) == {"a2", "a3", "b1"}
    assert store.passage("a2").text == "new"
    agree(store)


def test_dropping_removes_a_document_and_its_metadata(store: PassageStore) -> None:
    store.put("a", "1", [piece("a1", meta={"k": 1})])
    store.put("b", "1", [piece("b1", meta={"k": 1})])
    store.commit()
    store.drop("a")
    store.drop("never there")
    store.commit()
    rows = store.rows({"k": 1})
    assert rows is not None
    assert [passage.id for passage in store.fetch(rows.tolist())] == ["b1"]
    assert store.documents() == {"b": "1"}
    agree(store)


def test_identical_text_in_two_documents_is_kept_twice(store: PassageStore) -> None:
    store.put("a", "1", [piece("a1", "same")])
    store.put("b", "1", [piece("b1", "same")])
    store.commit()
    assert ids(store) == {"a1", "b1"}


def test_a_passage_id_is_unique_in_the_collection(store: PassageStore) -> None:
    store.put("a", "1", [piece("x")])
    with pytest.raises(DataError, match="'x' of 'b' is taken"):
        store.put("b", "1", [piece("x")])
    store.commit()
    with pytest.raises(DataError, match="'x' of 'b' is taken"):
        store.put("b", "1", [piece("x")])
    with pytest.raises(DataError, match="'y' of 'b' is taken"):
        store.put("b", "1", [piece("y"), piece("y")])
    store.drop("a")
    store.put("b", "1", [piece("x")])
    store.commit()
    assert store.passage("x").document == "b"


def test_blank_passages_are_left_out_and_a_document_may_be_empty(store: PassageStore) -> None:
    store.put("a", "1", [piece("a1", " \n"), piece("a2", "", title="a title")])
    store.put("empty", "1", [])
    store.commit()
    assert ids(store) == {"a2"}
    assert store.documents() == {"a": "1", "empty": "1"}


def test_text_that_is_no_unicode_is_refused_before_anything_is_written(store: PassageStore) -> None:
    with pytest.raises(DataError, match="'a1' holds text that is no Unicode"):
        store.put("a", "1", [piece("a1", "\ud800")])
    store.commit()
    assert store.documents() == {}


def test_a_passage_of_another_document_is_refused(store: PassageStore) -> None:
    with pytest.raises(DataError, match="belongs to 'b', not to 'a'"):
        store.put("a", "1", [piece("a1", document="b")])


def test_fetch_keeps_the_order_and_misses_loudly(store: PassageStore) -> None:
    store.put("a", "1", [piece(f"a{n}") for n in range(1200)])
    store.commit()
    rows = store.rows({"document": "a"})
    assert rows is not None
    backwards = rows[::-1].tolist()
    assert [passage.id for passage in store.fetch(backwards)] == [f"a{n}" for n in reversed(range(1200))]
    with pytest.raises(NotFoundError, match="row 99999"):
        store.fetch([backwards[0], 99999])
    with pytest.raises(NotFoundError, match="'nobody'"):
        store.passage("nobody")


def test_no_filter_is_none_and_a_filter_gives_ascending_rows(store: PassageStore) -> None:
    store.put("a", "1", [piece(f"a{n}", meta={"even": n % 2 == 0}) for n in range(6)])
    store.commit()
    assert store.rows(None) is None
    assert store.rows({}) is None
    rows = store.rows({"even": True})
    assert rows is not None
    assert rows.dtype == np.int64
    assert rows.tolist() == sorted(rows.tolist())
    assert [passage.id for passage in store.fetch(rows.tolist())] == ["a0", "a2", "a4"]


def test_a_reader_opened_before_sees_the_commit(store: PassageStore) -> None:
    store.put("a", "1", [piece("a1", "old words")])
    store.commit()
    with PassageStore(store.folder, embedder=HASH) as reader:
        store.put("a", "2", [piece("a2", "new words")])
        store.commit()
        assert reader.documents() == {"a": "2"}
        hits = reader.search(lambda k, rows: [(row, 1.0, {}) for row in reader.sparse.search("words", k)[0]], 5, None)
        assert [hit.passage.id for hit in hits] == ["a2"]


def test_a_second_writer_is_refused_and_readers_are_not(store: PassageStore) -> None:
    with pytest.raises(DataError, match="another process is writing"):
        PassageStore(store.folder, embedder=HASH, write=True)
    PassageStore(store.folder, embedder=HASH).close()
    store.close()
    PassageStore(store.folder, embedder=HASH, write=True).close()


def test_a_refused_writer_leaves_no_lock(store: PassageStore) -> None:
    store.close()
    with pytest.raises(ConfigurationError):
        PassageStore(store.folder, embedder=make_embedder("hash:8"), write=True)
    PassageStore(store.folder, embedder=HASH, write=True).close()


def test_a_reader_cannot_write(store: PassageStore) -> None:
    with PassageStore(store.folder, embedder=HASH) as reader, pytest.raises(UsageError, match="write=True"):
        reader.put("a", "1", [])


def test_reading_where_there_is_nothing(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="no collection at"):
        PassageStore(tmp_path / "nothing")
    assert not (tmp_path / "nothing").exists()


def test_a_changed_embedder_or_language_is_refused_with_what_to_do(store: PassageStore) -> None:
    store.close()
    with pytest.raises(ConfigurationError, match=r"indexed with hash:16 .* not with hash:8"):
        PassageStore(store.folder, embedder=make_embedder("hash:8"))
    with pytest.raises(ConfigurationError, match=r"indexed with hash:16 .* add to it with the same"):
        PassageStore(store.folder, write=True)
    with pytest.raises(ConfigurationError, match="language 'en', not 'it'"):
        PassageStore(store.folder, language="it")
    PassageStore(store.folder).close()


def test_a_new_model_under_an_old_name_is_refused(store: PassageStore) -> None:
    store.close()
    path = store.folder / "manifest.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "digest": "other"}))
    with pytest.raises(ConfigurationError, match="another version of its model"):
        PassageStore(store.folder, embedder=HASH)


@pytest.mark.parametrize(
    ("content", "error"), [("{", DataError), ("[]", ConfigurationError), ('{"format": 99}', ConfigurationError)]
)
def test_a_damaged_or_foreign_manifest(store: PassageStore, content: str, error: type[Exception]) -> None:
    store.close()
    (store.folder / "manifest.json").write_text(content)
    with pytest.raises(error, match="index again"):
        PassageStore(store.folder)


def test_a_damaged_database_is_a_clear_error(store: PassageStore) -> None:
    store.put("a", "1", [piece("a1")])
    store.commit()
    store.close()
    (store.folder / "passages.sqlite").write_bytes(b"not a database" * 1000)
    with pytest.raises(DataError, match=r"passages.sqlite"):
        PassageStore(store.folder)


class Failing:
    """The hash embedder, failing while `broken`."""

    name, dim, digest, remote = HASH.name, HASH.dim, HASH.digest, False
    broken = True

    def passages(self, texts: Sequence[str]) -> Vectors:
        if self.broken:
            raise ModelError("down")
        return HASH.passages(texts)

    queries = passages


def test_a_failing_embedder_loses_nothing(tmp_path: Path) -> None:
    failing = Failing()
    with PassageStore(tmp_path, embedder=failing, write=True) as store:
        store.put("a", "1", [piece("a1")])
        with pytest.raises(ModelError):
            store.commit()
        assert store.documents() == {}
        failing.broken = False
        store.commit()
        assert ids(store) == {"a1"}
        agree(store)


@pytest.mark.parametrize("lost", ["sparse", "dense"])
def test_a_lost_engine_is_built_again(store: PassageStore, lost: str) -> None:
    store.put("a", "1", [piece("a1", "cats"), piece("a2", "dogs")])
    store.commit()
    store.close()
    shutil.rmtree(store.folder / lost)
    with PassageStore(store.folder, embedder=HASH, write=True) as again:
        agree(again)
        assert len(again.sparse.search("cats", 5)[0]) == 1


def test_a_reader_of_a_collection_that_lost_an_engine_says_so(store: PassageStore) -> None:
    store.put("a", "1", [piece("a1", "cats")])
    store.commit()
    store.close()
    shutil.rmtree(store.folder / "sparse")
    with pytest.raises(DataError, match="lost a part of its index"):
        PassageStore(store.folder, embedder=HASH)


def test_a_damaged_engine_is_a_clear_error_and_mended_once_deleted(store: PassageStore) -> None:
    store.put("a", "1", [piece("a1", "cats")])
    store.commit()
    store.close()
    (store.folder / "sparse" / "meta.json").write_text("{")
    with pytest.raises(DataError, match="delete it and index again to mend it"):
        PassageStore(store.folder, embedder=HASH, write=True)
    shutil.rmtree(store.folder / "sparse")
    with PassageStore(store.folder, embedder=HASH, write=True) as mended:
        agree(mended)


def test_a_commit_that_failed_half_way_may_be_tried_again(store: PassageStore, monkeypatch: pytest.MonkeyPatch) -> None:
    store.put("a", "1", [piece("a1", "cats"), piece("a2", "dogs")])
    for owner, name in ((store.sparse, "commit"), (store.dense, "update"), (store._database, "publish")):
        with monkeypatch.context() as patch:
            patch.setattr(owner, name, failing_disk)
            with pytest.raises(OSError, match="disk full"):
                store.commit()
        assert store.documents() == {}
    store.commit()
    assert ids(store) == {"a1", "a2"}
    agree(store)


def failing_disk(*args: object) -> None:
    raise OSError("disk full")


STEPS = {
    "while embedding": "HashEmbedder.passages",
    "before the words are added": "SparseIndex.add",
    "before the words are committed": "SparseIndex.commit",
    "before the vectors are added": "DenseIndex.update",
    "before the vectors' file is renamed": "Path.replace",
    "before publishing": "Database.publish",
    "within publishing": "database._values",
    "before words are taken out": "SparseIndex.commit 2",
    "before vectors are taken out": "DenseIndex.update 2",
    "after everything": "PassageStore.close",
}
CHILD = """
import os, signal, sys
from pathlib import Path
from personable.embed import make_embedder
from personable.embed.hashed import HashEmbedder
from personable.retrieval import database
from personable.retrieval.database import Database
from personable.retrieval.dense import DenseIndex
from personable.retrieval.sparse import SparseIndex
from personable.retrieval.store import PassageStore
from personable.types import Passage

folder, target, calls = sys.argv[1], sys.argv[2], int(sys.argv[3])
owner, name = target.split(".")
owner = globals()[owner]
true, counted = getattr(owner, name), []

def deadly(*args, **kwargs):
    counted.append(1)
    if len(counted) == calls:
        os.kill(os.getpid(), signal.SIGKILL)
    return true(*args, **kwargs)

store = PassageStore(Path(folder), embedder=make_embedder("hash:16"), write=True)
setattr(owner, name, deadly)
store.put("a", "2", [Passage(id="a1", text="new"), Passage(id="a9", text="nine")])
store.put("c", "1", [Passage(id="c1", text="sea")])
store.drop("b")
store.commit()
store.close()
"""
OLD, NEW = ({"a": "1", "b": "1"}, {"a1", "a2", "b1"}), ({"a": "2", "c": "1"}, {"a1", "a9", "c1"})


@pytest.mark.slow
@pytest.mark.parametrize("step", STEPS)
def test_a_kill_at_any_step_heals_to_the_old_or_the_new_state(store: PassageStore, step: str) -> None:
    store.put("a", "1", [piece("a1", "old"), piece("a2", "two")])
    store.put("b", "1", [piece("b1", "bee")])
    store.commit()
    store.close()
    target, _, calls = STEPS[step].partition(" ")
    died = subprocess.run([sys.executable, "-c", CHILD, str(store.folder), target, calls or "1"], check=False)
    assert died.returncode == -9
    expected = NEW if list(STEPS).index(step) >= list(STEPS).index("before words are taken out") else OLD
    with PassageStore(store.folder, embedder=HASH) as reader:  # before anybody has healed it
        assert (reader.documents(), ids(reader)) == expected
        found = reader.search(
            lambda k, rows: [(row, 1.0, {}) for row in reader.sparse.search("old new", k)[0]], 5, None
        )
        assert [hit.passage.text for hit in found] == (["new"] if expected is NEW else ["old"])
    with PassageStore(store.folder, embedder=HASH, write=True) as healed:
        assert (healed.documents(), ids(healed)) == expected
        agree(healed)
        healed.put("a", "3", [piece("a1", "third")])
        healed.commit()
        agree(healed)


WRITER = """
import sys
from pathlib import Path
from personable.embed import make_embedder
from personable.retrieval.store import PassageStore
from personable.types import Passage

store = PassageStore(Path(sys.argv[1]), embedder=make_embedder("hash:16"), write=True)
for n in range(10_000):
    store.put(f"d{n % 7}", str(n), [Passage(id=f"d{n % 7}-{i}", text=f"round {n} piece {i}") for i in range(5)])
    store.commit()
    print(n, flush=True)
"""


@pytest.mark.slow
def test_a_writer_killed_at_random_loses_nothing_it_committed(tmp_path: Path) -> None:
    for rounds in (1, 4, 9, 13, 20):
        shutil.rmtree(tmp_path / "c", ignore_errors=True)
        with subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path / "c")], stdout=subprocess.PIPE) as writer:
            assert writer.stdout is not None
            for _ in range(rounds):
                last = int(writer.stdout.readline())
            writer.kill()
        with PassageStore(tmp_path / "c", embedder=HASH, write=True) as healed:
            agree(healed)
            newest = max(int(digest) for digest in healed.documents().values())
            assert newest >= last
            for n in range(max(0, newest - 6), newest + 1):
                assert healed.documents()[f"d{n % 7}"] == str(n)
                assert healed.passage(f"d{n % 7}-4").text == f"round {n} piece 4"


edits = st.lists(
    st.one_of(
        st.tuples(st.just("put"), st.sampled_from("abc"), st.integers(0, 3)),
        st.tuples(st.just("drop"), st.sampled_from("abc"), st.just(0)),
        st.tuples(st.just("commit"), st.just(""), st.just(0)),
        st.tuples(st.just("reopen"), st.just(""), st.just(0)),
    ),
    max_size=12,
)


@given(edits)
@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_sequence_of_edits_ends_where_a_dictionary_does(tmp_path: Path, edits: list[tuple[str, str, int]]) -> None:
    folder = tmp_path / "c"
    shutil.rmtree(folder, ignore_errors=True)
    committed: dict[str, int] = {}
    buffered: dict[str, int | None] = {}
    store = PassageStore(folder, embedder=HASH, write=True)
    for action, document, count in edits:
        if action == "put":
            store.put(document, str(count), [piece(f"{document}{n}") for n in range(count)])
            buffered[document] = count
        elif action == "drop":
            store.drop(document)
            buffered[document] = None
        elif action == "commit":
            store.commit()
            committed = {key: n for key, n in {**committed, **buffered}.items() if n is not None}
            buffered = {}
        else:
            store.close()
            store, buffered = PassageStore(folder, embedder=HASH, write=True), {}
    assert store.documents() == {document: str(n) for document, n in committed.items()}
    assert ids(store) == {f"{document}{n}" for document, count in committed.items() for n in range(count)}
    agree(store)
    store.close()


def test_stats(store: PassageStore) -> None:
    store.put("a", "1", [piece("a1"), piece("a2")])
    store.commit()
    stats = store.stats()
    assert stats.pop("bytes") > 1000
    assert stats == {"passages": 2, "documents": 1, "language": "en", "embedder": "hash:16", "dim": 16}


def test_a_collection_without_embedder(tmp_path: Path) -> None:
    with PassageStore(tmp_path / "日本 🙂 x", write=True, language="it") as store:
        store.put("a", "1", [piece("a1", "I gatti dormono")])
        store.commit()
        assert store.dense is None
        assert len(store.sparse.search("gatto", 5)[0]) == 1
        assert store.stats()["embedder"] is None


def test_embedder_is_typed_by_its_protocol() -> None:
    embedder: Embedder = Failing()
    assert embedder.name == "hash:16"


def test_the_lock_is_free_after_a_crash(tmp_path: Path) -> None:
    lock = sqlite3.connect(tmp_path / "writer.lock", isolation_level=None)
    lock.execute("BEGIN EXCLUSIVE")
    with pytest.raises(DataError):
        PassageStore(tmp_path, write=True)
    lock.close()
    PassageStore(tmp_path, write=True).close()


CLOSED_WHILE_READ = """
import sqlite3, sys, threading, time
from pathlib import Path
from personable.retrieval.store import PassageStore

ended = []
for _ in range(5):
    store = PassageStore(Path(sys.argv[1]))
    def read():
        try:
            while True:
                store.fetch(range(1, 301))
        except sqlite3.ProgrammingError:
            ended.append(True)
    readers = [threading.Thread(target=read) for _ in range(4)]
    for reader in readers:
        reader.start()
    time.sleep(0.02)
    store.close()
    for reader in readers:
        reader.join()
print(len(ended))
"""


@pytest.mark.slow
def test_closing_waits_for_who_reads(tmp_path: Path) -> None:
    with PassageStore(tmp_path, write=True) as store:
        store.put("a", "1", [piece(f"a{number}", f"word {number} of many " * 40) for number in range(300)])
        store.commit()
    asked = [sys.executable, "-c", CLOSED_WHILE_READ, str(tmp_path)]
    done = subprocess.run(asked, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (0, "20\n"), done.stderr
