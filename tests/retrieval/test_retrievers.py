from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

import pytest

from personable.embed import Embedder, make_embedder
from personable.errors import ConfigurationError
from personable.retrieval.base import Retriever
from personable.retrieval.hybrid import DenseRetriever, HybridRetriever, SparseRetriever
from personable.retrieval.store import PassageStore
from tests.contracts.retriever import PASSAGES, RetrieverContract


@pytest.fixture(scope="module")
def embedder() -> Embedder:
    return make_embedder("hash:4096")


@pytest.fixture(scope="module")
def store(embedder: Embedder, tmp_path_factory: pytest.TempPathFactory) -> Iterator[PassageStore]:
    with PassageStore(tmp_path_factory.mktemp("collection"), embedder=embedder, write=True) as store:
        for document, passages in groupby(PASSAGES, lambda passage: passage.document):
            store.put(document, "1", list(passages))
        store.commit()
        yield store


class TestSparse(RetrieverContract):
    @pytest.fixture
    def retriever(self, store: PassageStore) -> Retriever:
        return SparseRetriever(store)


class TestDense(RetrieverContract):
    @pytest.fixture
    def retriever(self, store: PassageStore, embedder: Embedder) -> Retriever:
        return DenseRetriever(store, embedder)


class TestHybrid(RetrieverContract):
    @pytest.fixture
    def retriever(self, store: PassageStore, embedder: Embedder) -> Retriever:
        return HybridRetriever(store, embedder)


async def test_features_hold_the_raw_scores(store: PassageStore, embedder: Embedder) -> None:
    sparse = (await SparseRetriever(store).search("cat mat", 1))[0]
    dense = (await DenseRetriever(store, embedder).search("cat mat", 1))[0]
    both = (await HybridRetriever(store, embedder).search("cat mat", 1))[0]
    assert both.features == {"sparse": sparse.score, "dense": dense.score}
    assert both.score == pytest.approx(2 / 61)


async def test_function_words_do_not_speak_for_a_passage(store: PassageStore) -> None:
    assert [hit.passage.id for hit in await SparseRetriever(store).search("what is the dog on about?", 9)] == ["dog"]


async def test_a_floor_leaves_out_what_is_not_similar_enough(store: PassageStore, embedder: Embedder) -> None:
    hits = await DenseRetriever(store, embedder, floor=0.3).search("a cat sleeps on the mat", 10)
    assert [hit.passage.id for hit in hits] == ["cat"]


def test_another_embedder_is_refused(store: PassageStore) -> None:
    with pytest.raises(ConfigurationError, match="indexed with hash:4096, not with hash:8"):
        DenseRetriever(store, make_embedder("hash:8"))


def test_a_collection_without_vectors_is_refused(tmp_path: Path, embedder: Embedder) -> None:
    with PassageStore(tmp_path, write=True) as store, pytest.raises(ConfigurationError, match="has no vectors"):
        HybridRetriever(store, embedder)


@pytest.mark.embedder
async def test_minilm_finds_by_meaning_and_is_silent_about_other_subjects(tmp_path: Path) -> None:
    minilm = make_embedder("minilm", threads=1)
    with PassageStore(tmp_path, embedder=minilm, write=True) as store:
        store.put("d", "1", [passage.model_copy(update={"document": "d"}) for passage in PASSAGES[:3]])
        store.commit()
        retriever = DenseRetriever(store, minilm)
        assert (await retriever.search("the king of the savannah", 1))[0].passage.id == "lion"
        assert await retriever.search("quarterly tax return deadlines", 5) == []
