"""Going round in circles is seen, ordinary text and lists are not taken for it."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from personable.llm.repetition import LEAST_REPEATED, repetition

UNITS = st.text(st.sampled_from("abc ,.\n"), min_size=1, max_size=60).filter(str.strip)


@settings(deadline=None)
@given(st.text(max_size=300), UNITS, st.integers(0, 60))
def test_a_unit_said_again_and_again_is_found_and_what_is_kept_does_not_go_on(before: str, unit: str, more: int):
    text = before + unit * (4 + LEAST_REPEATED // len(unit) + more)
    at = repetition(text)
    assert at is not None
    assert len(text[:at]) <= len(before) + 2 * len(unit)


@settings(deadline=None)
@given(st.text(max_size=2000))
def test_the_offset_lies_within_the_text_and_cuts_off_its_end(text: str):
    at = repetition(text)
    assert at is None or 0 < at <= len(text) - LEAST_REPEATED // 2


@pytest.mark.parametrize(
    "text",
    [
        "",
        "ha ha ha ha ha",
        "\n".join(f"{n}. item number {n}" for n in range(1, 200)),
        "| a | b |\n|---|---|\n" + "\n".join(f"| {n} | {n * n} |" for n in range(100)),
        "Ada likes tea. " * 3,
        "-" * 100,
    ],
)
def test_ordinary_text_is_left_alone(text: str):
    assert repetition(text) is None


def test_the_first_saying_is_kept():
    text = "Tea. " + "It is good for you. " * 100
    assert text[: repetition(text)] == "Tea. It is good for you."
