"""A person that Personable knows, what erasing one leaves, and three questions for somebody new."""

from __future__ import annotations

from personable.people.checks import Instant
from personable.types import Dial, Value


class Person(Value):
    """Somebody: `id` is exact, `name` is for display, `dial` says how much the person counts."""

    id: str
    name: str = ""
    dial: Dial = "auto"
    created: Instant


class Receipt(Value):
    """What an erasure removed: rows of each table, and when."""

    person: str
    removed: dict[str, int]
    time: Instant


def start_questions() -> tuple[str, str, str]:
    """Three questions whose answers, told as statements, end a cold start."""
    return (
        "What should every answer take into account (such as a diet, an allergy, a disability, a budget)?",
        "What do you want to reach or learn in the next months?",
        "What do you like, and what would you rather not see?",
    )
