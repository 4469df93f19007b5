"""Emergencies are heard however they are typed; words that only look like one are not."""

from __future__ import annotations

import time

import pytest

from personable.retrieval.alarm import Heard

CHEST, BREATH = "chest pain", "cannot breathe"


@pytest.mark.parametrize(
    ("language", "phrase", "question"),
    [
        ("en", CHEST, "I have chest pains since noon"),
        ("en", CHEST, "CHEST-PAIN?"),
        ("en", CHEST, "I have pain in the chest"),
        ("en", CHEST, "pain in the middle of my chest"),
        ("en", CHEST, "my chest is hurting"),
        ("en", CHEST, "I have no idea why my chest hurts"),
        ("en", CHEST, "My chest. It hurts."),
        ("en", CHEST, "no chest pain"),
        ("en", CHEST, "ch\u00adest pain"),
        ("en", CHEST, "chest\u200bpain"),
        ("en", CHEST, "ch\u200best pain"),
        ("en", CHEST, "chset pain"),
        ("en", CHEST, "chesst pain"),
        ("en", CHEST, "chst pain"),
        ("en", CHEST, "hcest pain"),
        ("en", "pain in the chest", "my chest hurts"),
        ("en", BREATH, "I can not breathe"),
        ("en", BREATH, "I can’t breathe"),
        ("en", BREATH, "I can‘t breathe"),
        ("en", BREATH, "i cant breathe"),
        ("en", BREATH, "I couldn't even breathe last night"),
        ("en", BREATH, "he is not breathing"),
        ("en", BREATH, "I cannot brethe"),
        ("en", "can’t breathe", "I cannot breathe"),
        ("en", "stroke", "is this a strok?"),
        ("en", "suicidal", "I feel suicdal"),
        ("en", "heart attack", "I had a hart attack"),
        ("it", "dolore al petto", "ho dolori al petto"),
        ("it", "dolore al petto", "mi fa male il petto"),
        ("it", "dolore al petto", "ho il petto dolorante"),
        ("it", "dolore al petto", "dolore al pettto"),
        ("it", "non respiro", "non riesco più a respirare"),
        ("it", "non respiro", "mio figlio non respira"),
        ("it", "uccidermi", "voglio uccidermi, mi uccido"),
        ("it", "l'infarto", "ho avuto un infarto"),
        ("it", "perché non è cosciente", "perche non e cosciente"),
        ("it", CHEST, "my chest hurts"),
        ("it", CHEST, "chest pains"),
        ("ja", "胸が痛い", "昨日から胸が痛いです"),
    ],
)
def test_an_emergency_is_heard(language: str, phrase: str, question: str) -> None:
    assert Heard(question, language).holds(phrase)


@pytest.mark.parametrize(
    ("language", "phrase", "question"),
    [
        ("en", CHEST, ""),
        ("en", CHEST, "my chest is fine, no pain"),
        ("en", CHEST, "I play chess and the pain is gone"),
        ("en", CHEST, "pain in my knee"),
        ("en", BREATH, "I can breathe but not well"),
        ("en", BREATH, "breathing exercises"),
        ("en", "stroke", "Is stroking my cat healthy?"),
        ("en", "stroke", "a lightning strike"),
        ("en", "heart attack", "I heard about an asthma attack"),
        ("en", "end my life", "What is end of life care?"),
        ("it", "dolore al petto", "ho dolore quando sono a letto"),
        ("it", "non respiro", "respiro bene e non ho febbre"),
        ("it", "svenuto", "sono venuto per una visita"),
        ("ja", "胸が痛い", "頭が痛い"),
    ],
)
def test_what_only_looks_like_an_emergency_is_not_heard(language: str, phrase: str, question: str) -> None:
    assert not Heard(question, language).holds(phrase)


@pytest.mark.slow
def test_a_very_long_message_is_heard_to_its_end_in_time() -> None:
    story = " ".join(f"word{n} pain chess not" for n in range(10_000))
    began = time.process_time()
    assert not Heard(story, "en").holds(CHEST)
    assert Heard(f"{story} x x x x x x my chest hurts", "en").holds(CHEST)
    assert time.process_time() - began < 20
