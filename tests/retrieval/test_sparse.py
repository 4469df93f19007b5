from __future__ import annotations

import math
import random
from pathlib import Path

import numpy as np
import pytest

from personable.retrieval import sparse
from personable.retrieval.sparse import SparseIndex

# Three passages of 4, 2 and 6 terms: average 4. No length over 40, so Lucene's one-byte lengths are exact.
TEXTS = ["apple banana apple cherry", "banana cherry", "apple date date date elder fig"]
TITLES = ["", "apple tree", ""]


@pytest.fixture
def index(tmp_path: Path) -> SparseIndex:
    index = SparseIndex(tmp_path, "en")
    index.add((n, TITLES[n], TEXTS[n]) for n in range(3))
    index.commit()
    return index


def test_scores_are_lucenes_by_hand(index: SparseIndex) -> None:
    # idf = ln(1 + (N - df + .5) / (df + .5)); score = idf * tf * 2.2 / (tf + 1.2 * (.25 + .75 * length / average))
    idf_text = math.log(1 + (3 - 2 + 0.5) / (2 + 0.5))
    # The title field: only one of three passages has one, of two terms; the average over all three is 2/3.
    idf_title = math.log(1 + (3 - 1 + 0.5) / (1 + 0.5))
    expected = {
        0: idf_text * 2 * 2.2 / (2 + 1.2 * (0.25 + 0.75 * 4 / 4)),
        1: sparse.TITLE_WEIGHT * idf_title * 1 * 2.2 / (1 + 1.2 * (0.25 + 0.75 * 2 / (2 / 3))),
        2: idf_text * 1 * 2.2 / (1 + 1.2 * (0.25 + 0.75 * 6 / 4)),
    }
    rows, scores = index.search("apples", 10)
    assert dict(zip(rows.tolist(), scores.tolist(), strict=True)) == pytest.approx(expected, rel=1e-5)


def test_a_term_asked_twice_counts_twice(index: SparseIndex) -> None:
    once, twice = index.search("date", 1)[1], index.search("date date", 1)[1]
    assert twice[0] == pytest.approx(2 * once[0])


def test_only_the_rarest_terms_of_a_huge_query_are_looked_up(tmp_path: Path) -> None:
    index = SparseIndex(tmp_path, "en")
    index.add((n, "", f"common rare{n}") for n in range(100))
    index.commit()
    query = "common " + " ".join(f"rare{n}" for n in range(100)) + " absent" * 10_000
    assert len(index.search(query, 100)[0]) == sparse.MOST_TERMS


def test_nothing_is_found_before_the_commit_and_nothing_after_the_deletion(tmp_path: Path) -> None:
    index = SparseIndex(tmp_path, "en")
    index.add([(1, "", "apple"), (2, "", "apple")])
    assert index.search("apple", 5)[0].tolist() == []
    index.commit()
    index.delete(np.array([1, 77]))
    index.commit()
    assert index.search("apple", 5)[0].tolist() == [2]
    assert index.rows().tolist() == [2]
    assert len(index) == 1


def test_what_was_not_committed_is_forgotten(tmp_path: Path) -> None:
    index = SparseIndex(tmp_path, "en")
    index.add([(1, "", "apple")])
    index.close()
    assert len(SparseIndex(tmp_path, "en")) == 0


@pytest.mark.parametrize("cost", [10_000, 0], ids=["thrown away", "inside the engine"])
def test_a_filter_gives_what_filtering_everything_gives(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cost: int
) -> None:
    monkeypatch.setattr(sparse, "_ROW_COST", cost)
    chance = random.Random(0)
    index = SparseIndex(tmp_path, "en")
    index.add((n, "", " ".join(chance.choices(["apple", "banana", "cherry", "date"], k=8))) for n in range(500))
    index.commit()
    everything, scores = index.search("apple date", 500)
    for size in (1, 10, 200, 500):
        rows = np.array(sorted(chance.sample(range(500), size)))
        kept = np.isin(everything, rows)
        found = index.search("apple date", 20, rows)
        assert found[0].tolist() == everything[kept][:20].tolist()
        np.testing.assert_allclose(found[1], scores[kept][:20], rtol=1e-5)


def test_another_process_view_changes_with_reload(tmp_path: Path) -> None:
    writer, reader = SparseIndex(tmp_path, "en"), SparseIndex(tmp_path, "en")
    writer.add([(1, "", "apple")])
    writer.commit()
    assert len(reader) == 0
    reader.reload()
    assert len(reader) == 1


@pytest.mark.parametrize("query", ['apple AND "', "title:apple", "(", "*", "apple~2", "row:1", "\\"])
def test_query_syntax_is_just_text(index: SparseIndex, query: str) -> None:
    assert set(index.search(query, 5)[0].tolist()) == ({0, 1, 2} if "apple" in query else set())


@pytest.mark.slow
def test_many_small_commits_are_merged_though_each_begins_with_a_rollback(tmp_path: Path) -> None:
    index = SparseIndex(tmp_path, "en")
    for n in range(40):
        index.rollback()
        index.add([(n, "", f"apple {n}")])
        index.commit()
    index.close()
    index.reload()
    assert len(index) == 40
    assert index._index.searcher().num_segments < 20


def test_a_rollback_with_nothing_to_forget_keeps_what_was_committed(index: SparseIndex) -> None:
    index.rollback()
    index.add([(7, "", "grape")])
    index.rollback()
    index.delete(np.array([0]))
    index.commit()
    assert index.rows().tolist() == [1, 2]
