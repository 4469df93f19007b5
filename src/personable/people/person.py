"""A person that Personable knows, what erasing one leaves, and three questions for somebody new."""

from __future__ import annotations

from typing import Literal

from personable.people.checks import Instant
from personable.types import Dial, Value

Learned = Literal["ask", "use", "off"]
"""What becomes of what was learnt: kept until the person confirms it, used at once at its confidence, or not learnt."""


class Person(Value):
    """Somebody: `id` is exact, `name` is for display, `dial` says how much the person counts.

    `learned` says what becomes of what was learnt; `share_sensitive` is True once the person allowed that their
    sensitive statements leave for remote models.
    """

    id: str
    name: str = ""
    dial: Dial = "auto"
    learned: Learned = "ask"
    share_sensitive: bool = False
    created: Instant


class Erased(Value):
    """What was removed from the store: rows of each table, and when."""

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
