"""What every retriever keeps to. A test class inherits this and gives the fixture `retriever`, made over `PASSAGES`."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from personable.retrieval.base import Retriever
from personable.types import Passage, Where

PASSAGES = [
    Passage(
        id="cat", document="pets", title="Cats", text="A cat sleeps on the mat.", meta={"kind": "pet", "year": 2020}
    ),
    Passage(
        id="dog", document="pets", title="Dogs", text="A dog barks at the cat.", meta={"kind": "pet", "year": 2021}
    ),
    Passage(
        id="lion", document="wild", title="Lions", text="A lion is a large cat.", meta={"kind": "wild", "tame": False}
    ),
    Passage(id="café", document="food", source="menu.md", text="Le café est fermé; the café is closed."),
    Passage(id="cjk", document="中文", text="高血压怎么治疗？多运动，少吃盐。", meta={"kind": "医学"}),
    *(Passage(id=f"same{n}", document="twins", text="Twins look alike.", meta={"kind": "twin"}) for n in range(5)),
]


class RetrieverContract:
    async def test_best_first_and_no_passage_twice(self, retriever: Retriever) -> None:
        hits = await retriever.search("cat on the mat", 10)
        assert hits[0].passage.id == "cat"
        assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
        assert len({hit.passage.id for hit in hits}) == len(hits)

    @pytest.mark.parametrize("k", [0, 1, 2, 100])
    async def test_at_most_k(self, retriever: Retriever, k: int) -> None:
        hits = await retriever.search("cat", k)
        assert len(hits) <= k
        assert [hit.passage.id for hit in hits] == [hit.passage.id for hit in (await retriever.search("cat", 100))[:k]]

    async def test_a_hit_is_the_whole_passage(self, retriever: Retriever) -> None:
        assert (await retriever.search("lion", 1))[0].passage == PASSAGES[2]

    async def test_ties_have_a_stable_order(self, retriever: Retriever) -> None:
        ids = [[hit.passage.id for hit in await retriever.search("twins look alike", k)] for k in (5, 5, 3)]
        assert ids[0] == [f"same{n}" for n in range(5)]
        assert ids[1] == ids[0]
        assert ids[2] == ids[0][:3]

    @pytest.mark.parametrize("query", ["", "   ", "?!…", "\0", "xqzzvblorf", "🙂"])
    async def test_an_empty_or_unknown_query_finds_nothing(self, retriever: Retriever, query: str) -> None:
        assert await retriever.search(query, 5) == []

    @pytest.mark.parametrize(
        ("where", "allowed"),
        [
            ({"kind": "pet"}, {"cat", "dog"}),
            ({"kind": ["pet", "wild"]}, {"cat", "dog", "lion"}),
            ({"kind": "pet", "year": 2021}, {"dog"}),
            ({"year": 2021.0}, {"dog"}),
            ({"year": "2021"}, set()),
            ({"tame": False}, {"lion"}),
            ({"tame": 0}, set()),
            ({"kind": []}, set()),
            ({"no such key": "x"}, set()),
            ({"document": "pets"}, {"cat", "dog"}),
        ],
    )
    async def test_the_filter_holds_for_every_hit_and_hides_no_other(
        self, retriever: Retriever, where: Where, allowed: set[Any]
    ) -> None:
        hits = await retriever.search("cat", 10, where)
        assert {hit.passage.id for hit in hits} == allowed & {"cat", "dog", "lion"}

    async def test_an_empty_filter_is_no_filter(self, retriever: Retriever) -> None:
        assert await retriever.search("cat", 10, {}) == await retriever.search("cat", 10)

    async def test_the_filter_is_not_starved_by_better_hits_outside_it(self, retriever: Retriever) -> None:
        hits = await retriever.search("twins look alike, lion", 1, {"kind": "wild"})
        assert [hit.passage.id for hit in hits] == ["lion"]

    async def test_any_script_finds_its_passage(self, retriever: Retriever) -> None:
        assert (await retriever.search("治疗高血压", 1))[0].passage.id == "cjk"
        assert (await retriever.search("café", 1))[0].passage.id == "café"

    async def test_a_huge_query_is_answered(self, retriever: Retriever) -> None:
        hits = await retriever.search("lion " + " ".join(f"w{n}" for n in range(15_000)) + " lion", 3)
        assert all(hit.passage in PASSAGES for hit in hits)

    async def test_searches_may_run_side_by_side(self, retriever: Retriever) -> None:
        alone = await retriever.search("cat", 5)
        together = await asyncio.gather(*(retriever.search("cat", 5) for _ in range(16)))
        assert all(hits == alone for hits in together)
