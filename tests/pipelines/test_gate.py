import pytest
from hypothesis import given
from hypothesis import strategies as st

from personable.notes import PortraitNote
from personable.pipelines.gate import gate
from personable.types import Dial, Used


def portrait(dial: Dial = "auto", score: float = 0.0) -> PortraitNote:
    return PortraitNote(known=True, dial=dial, statements=[Used(statement="1", text="I have gout", score=score)])


@pytest.mark.parametrize(
    ("question", "score", "verdict"),
    [
        ("What is the capital of France?", 0.1, "not needed"),
        ("What are the symptoms of gout?", 0.6, "helps"),
        ("What should I eat?", 0.2, "helps"),
        ("What should I eat against my gout?", 0.5, "essential"),
        ("Cosa posso mangiare io?", 0.2, "helps"),
        ("", 0.0, "not needed"),
    ],
)
def test_the_gate_tells_whether_a_question_needs_the_person(question: str, score: float, verdict: str) -> None:
    assert gate(question, portrait(score=score)).verdict == verdict


def test_the_evidence_adds_up_to_the_strength() -> None:
    note = gate("What should I eat?", portrait(score=0.35))
    assert note.evidence == {"first person": 0.4, "asks for judgement": 0.2, "nearest statement": 0.1}
    assert note.strength == 0.7


@given(st.text(max_size=60), st.floats(0, 1), st.sampled_from(["off", "auto", "on"]))
def test_the_dial_bounds_the_strength(question: str, score: float, dial: Dial) -> None:
    strength = gate(question, portrait(dial, score)).strength
    assert 0 <= strength <= 1
    assert dial != "off" or strength == 0
    assert dial != "on" or strength >= 0.5
    assert dial != "auto" or strength == 0 or strength >= 0.25
