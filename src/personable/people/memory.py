"""What is remembered about a person at one moment: what a portrait is drawn from."""

from __future__ import annotations

from typing import NamedTuple

from personable.people.events import Event, Turn
from personable.people.person import Person
from personable.people.statements import Statement


class Memory(NamedTuple):
    """The person, every confirmed statement, the latest events apart from impressions, and the last turns of a session;
    each list oldest first.
    """

    person: Person
    statements: list[Statement]
    events: list[Event]
    turns: list[Turn]
