import json
from pathlib import Path

import pytest

from personable.embed import make_embedder
from personable.errors import ConfigurationError
from personable.evaluation.commands import Questions, evaluate
from personable.evaluation.datasets import Row
from personable.evaluation.measure import available
from personable.evaluation.retrieval import RETRIEVAL, by_document, over_corpus
from personable.evaluation.runfile import RunFile
from personable.kit import Kit
from personable.settings import Settings
from personable.types import Hit, Passage

CORPUS = {"d1": "Apples grow on trees.", "d2": "Ships cross the sea.", "d3": "Bread is baked.", "d4": ""}


@pytest.fixture
def beir(tmp_path: Path) -> Path:
    folder = tmp_path / "toy"
    (folder / "qrels").mkdir(parents=True)
    corpus = [{"_id": id, "title": "", "text": text} for id, text in CORPUS.items()]
    queries = [{"_id": "q1", "text": "where do apples grow"}, {"_id": "q2", "text": "sea ships"}]
    for name, lines in (("corpus", corpus), ("queries", queries)):
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    (folder / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq1\td1\t1\nq2\td2\t2\n")
    return folder


async def test_a_beir_folder_is_indexed_searched_and_scored(beir: Path, tmp_path: Path) -> None:
    kit = Kit(Settings(home=tmp_path), embedder=make_embedder("hash:64"))
    questions = Questions(dataset="beir", label="toy")
    async with over_corpus(kit, beir, tmp_path / "work") as (over, about):
        assert about["unread documents"] == 1  # d4 says nothing
        await evaluate(questions, RETRIEVAL, over, data=beir, out=tmp_path / "out", model="quote", settings=about)
    for system in ("sparse", "dense", "hybrid"):
        records = RunFile.read(tmp_path / "out" / "toy-test" / system).records
        assert {id: next(iter(record.outcome.scores)) for id, record in records.items()} == {"q1": "d1", "q2": "d2"}
        ranked = next(metric for metric in available(list(records.values())) if metric.name == "nDCG@10")
        assert list(ranked.scores(list(records.values()))) == [1.0, 1.0]


async def test_the_collection_of_a_corpus_is_made_once(beir: Path, tmp_path: Path) -> None:
    kit = Kit(Settings(home=tmp_path))
    async with over_corpus(kit, beir, tmp_path / "work") as (over, _):
        first = {hit.passage.id for hit in await over.search("apples", 3)}
    (beir / "corpus.jsonl").write_text(json.dumps({"_id": "d9", "text": "Apples again."}) + "\n")
    async with over_corpus(kit, beir, tmp_path / "work") as (over, _):
        second = {hit.passage.document for hit in await over.search("apples", 3)}
    assert len(first) == 1
    assert second == {"d9"}


async def test_ranking_by_meaning_needs_an_embedder(beir: Path, tmp_path: Path) -> None:
    async with over_corpus(Kit(Settings(home=tmp_path)), beir, tmp_path / "work") as (kit, _):
        with pytest.raises(ConfigurationError, match="embedder"):
            await RETRIEVAL["hybrid"](Row(id="q", question="apples"), kit)


async def test_a_corpus_is_read_by_beirs_own_fields_titles_alone_too(beir: Path, tmp_path: Path) -> None:
    many = [{"_id": f"t{number}", "id": number, "title": f"pear {number}", "text": ""} for number in range(30)]
    (beir / "corpus.jsonl").write_text("".join(json.dumps(one) + "\n" for one in many))
    async with over_corpus(Kit(Settings(home=tmp_path)), beir, tmp_path / "work") as (over, about):
        assert about["unread documents"] == 0
        assert {hit.passage.document for hit in await over.search("pear 7", 1)} == {"t7"}
    before = about["corpus"]
    (beir / "corpus.jsonl").write_text(json.dumps({"_id": "d9", "text": "Apples again."}) + "\n")
    async with over_corpus(Kit(Settings(home=tmp_path)), beir, tmp_path / "work") as (_, about):
        assert about["corpus"] != before, "a run is not gone on with over another corpus"


def test_equal_scores_keep_the_order_of_the_system() -> None:
    hits = [Hit(passage=Passage(id=f"{id}#0", document=id, text="x"), score=0.5) for id in ("a", "b", "a", "c")]
    assert by_document(hits) == {"a": 1.0, "b": 1 / 2, "c": 1 / 3}
