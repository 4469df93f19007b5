"""What is remembered about a person at one moment: what a portrait is drawn from."""

from __future__ import annotations

from typing import NamedTuple

from pydantic import Field

from personable.people.checks import Instant
from personable.people.events import Event, Turn
from personable.people.person import Person
from personable.people.statements import Statement, new_id
from personable.types import Value


class WeightsChange(Value):
    """A person's ranking weights as they were set: `values` by feature name, `reason` in words, the `event` behind it.

    The newest one holds; the older ones are its history.
    """

    id: str = Field(default_factory=new_id)
    person: str
    values: dict[str, float]
    reason: str
    event: str | None = None
    created: Instant


class Memory(NamedTuple):
    """The person, every statement that may be used, the latest events apart from impressions, the last turns of a
    session, and the newest ranking weights (None: never set); each list oldest first.

    Confirmed statements may be used, and proposed ones where the person lets what was learnt be used.
    """

    person: Person
    statements: list[Statement]
    events: list[Event]
    turns: list[Turn]
    weights: WeightsChange | None = None
