"""The shipped demonstration: 206 health cards of MedQuAD (see `README.md` here) and two people who differ."""

from __future__ import annotations

from importlib.resources import as_file, files
from pathlib import Path

from personable.types import Value

QUESTION = "What should I eat?"
COLLECTION = "health"


class Neighbour(Value):
    """A person of the demonstration and what they said about themselves."""

    id: str
    name: str
    statements: list[str]


PEOPLE = (
    Neighbour(
        id="maria",
        name="Maria, 31",
        statements=[
            "I am 30 weeks pregnant and was told that I have gestational diabetes",
            "I love fruit and sweet yogurt",
            "I walk to work every day",
        ],
    ),
    Neighbour(
        id="walter",
        name="Walter, 68",
        statements=[
            "I am on hemodialysis three times a week because my kidneys failed",
            "I like cooking with salt and cheese",
            "I used to be a bus driver",
        ],
    ),
)


def cards() -> Path:
    """The file of cards (JSON lines with id, title, text, url, publisher, topic)."""
    with as_file(files("personable.demo").joinpath("cards.jsonl")) as path:
        return path


def certified() -> Path:
    """The manifest of the certified cards."""
    with as_file(files("personable.demo").joinpath("certified")) as folder:
        return folder / "manifest.toml"
