"""A certified collection in Italian with the packaged multilingual embedder, asked in Italian and in English."""

from __future__ import annotations

from pathlib import Path

import pytest

from personable.embed import make_embedder
from personable.kit import Kit
from personable.pipelines.certify import certify
from personable.retrieval.cards import open_cards
from personable.retrieval.certified import read_approval
from personable.retrieval.certifying import certify_documents
from personable.retrieval.corpus import IndexOptions, open_collection
from personable.settings import Settings
from personable.types import CertifiedAnswer, Question

MANIFEST = Path(__file__).parent.parent / "data/italiano/manifesto.toml"


@pytest.mark.embedder
async def test_questions_and_documents_may_differ_in_language(tmp_path: Path) -> None:
    manifest = read_approval(MANIFEST)
    embedder = make_embedder(manifest.embedder, threads=1)
    with open_collection(tmp_path, "it", language="it", embedder=embedder, create=True) as collection:
        certify_documents(collection.store, MANIFEST, IndexOptions())
    kit = Kit(
        Settings(home=tmp_path), embedder=embedder, store=open_collection(tmp_path, "it", embedder=embedder).store
    )
    kit.language = "it"
    assert kit.store is not None
    cards = open_cards(kit.store, embedder)

    async def ask(text: str) -> CertifiedAnswer:
        return await certify(kit, cards, Question(text=text), keep=False)

    async with kit:
        for question, document in [
            ("posso bere vino se allatto?", "allattamento-dieta"),
            ("ho una zecca sulla gamba, come la tolgo?", "puntura-zecca"),
            ("How can I prevent kidney stones?", "calcoli-acqua"),
            ("What should a breastfeeding mother eat?", "allattamento-dieta"),
        ]:
            found = await ask(question)
            assert found.certification.sources[0].document == document, question
        ticks = await ask("How do I remove a tick?")
        assert "Non usi olio né alcol [1]." in ticks.answer.text, "the certified text stays in its language"
        assert not (await ask("Qual è la capitale della Francia?")).answer.found
        alarmed = await ask("Ho un dolore al petto e l'asma")
        assert alarmed.answer.text.startswith("Chiami subito il 112.\n\n")
