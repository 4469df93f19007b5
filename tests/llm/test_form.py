"""The form that is shown to a model."""

from typing import Literal

from pydantic import Field

from personable.llm.form import form
from personable.types import Value


class Inner(Value):
    id: str
    score: float = Field(ge=0, le=1)


class Outer(Value):
    kind: Literal["outer"] = "outer"
    need: str = Field(description="what is wanted")
    verdict: Literal["no", "yes"]
    parts: list[Inner] = Field(max_length=3)
    note: str | None = None


class Tree(Value):
    name: str
    children: list["Tree"] = Field(default_factory=list)


def test_names_types_bounds_and_descriptions_are_said():
    assert form(Outer).splitlines()[1:] == [
        "{",
        '  "need": string (what is wanted),',
        '  "verdict": "no" | "yes",',
        '  "parts": [{"id": string, "score": number (0 to 1)}, …] (at most 3),',
        '  "note": string | null',
        "}",
    ]


def test_a_form_that_holds_itself_comes_to_an_end():
    assert '"children": [object, …]' in form(Tree)
