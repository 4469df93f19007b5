"""The tables, for SQLite and PostgreSQL alike. The migrations make them; a test holds both together.

Whatever belongs to a person carries that person's id, so that every read can be filtered by it and erasing one finds
everything. `row` orders what was written; `id` is what the outside sees.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import (
    Boolean,
    Column,
    DateTime,
    Dialect,
    Float,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    TypeDecorator,
    UniqueConstraint,
    false,
)

from personable.people.checks import utc

HEAD = "0004"
"""The migration that this code was written for."""


class Moment(TypeDecorator[datetime]):
    """A moment in UTC; SQLite keeps no zone, so it is put back on reading."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        return None if value is None else utc(value)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


class Json(TypeDecorator[dict[str, Any]]):
    """A JSON object kept as text, the same on every database; None is NULL."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: dict[str, Any] | None, dialect: Dialect) -> str | None:
        return None if value is None else json.dumps(value, ensure_ascii=False)

    def process_result_value(self, value: str | None, dialect: Dialect) -> dict[str, Any] | None:
        return None if value is None else dict(json.loads(value))


metadata = MetaData(
    naming_convention={
        "pk": "pk_%(table_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    }
)


def _person(nullable: bool = False) -> Column[str]:
    owner = ForeignKey("people.id", ondelete="CASCADE")
    return Column("person", String(200), owner, nullable=nullable)


people = Table(
    "people",
    metadata,
    Column("id", String(200), primary_key=True),
    Column("name", String(200), nullable=False),
    Column("dial", String(8), nullable=False),
    Column("created", Moment, nullable=False),
    Column("learned", String(8), nullable=False, server_default="ask"),
    Column("share_sensitive", Boolean, nullable=False, server_default=false()),
)

statements = Table(
    "statements",
    metadata,
    Column("row", Integer, primary_key=True),
    Column("id", String(64), nullable=False, unique=True),
    _person(),
    Column("text", Text, nullable=False),
    Column("sameness", String(64), nullable=False),
    Column("kind", String(16), nullable=False),
    Column("source", String(16), nullable=False),
    Column("cause", Text, nullable=False),
    Column("confidence", Float, nullable=False),
    Column("valid_from", Moment),
    Column("valid_to", Moment),
    Column("sensitive", Boolean),
    Column("state", String(16), nullable=False),
    Column("created", Moment, nullable=False),
    Index(None, "person", "sameness"),
)

sessions = Table(
    "sessions",
    metadata,
    Column("person", String(200), ForeignKey("people.id", ondelete="CASCADE"), primary_key=True),
    Column("id", String(200), primary_key=True),
    Column("opened", Moment, nullable=False),
)

turns = Table(
    "turns",
    metadata,
    Column("row", Integer, primary_key=True),
    Column("person", String(200), nullable=False),
    Column("session", String(200), nullable=False),
    Column("number", Integer, nullable=False),
    Column("question", Text, nullable=False),
    Column("answer", Text, nullable=False),
    Column("answer_id", String(200), nullable=False),
    Column("time", Moment, nullable=False),
    ForeignKeyConstraint(["person", "session"], ["sessions.person", "sessions.id"], ondelete="CASCADE"),
    UniqueConstraint("person", "session", "number"),
)

events = Table(
    "events",
    metadata,
    Column("row", Integer, primary_key=True),
    Column("id", String(200), nullable=False, unique=True),
    _person(),
    Column("session", String(200)),
    Column("kind", String(16), nullable=False),
    Column("passage", Text),
    Column("item", Text),
    Column("value", Float),
    Column("text", Text, nullable=False),
    Column("time", Moment, nullable=False),
    Column("answer", String(200)),
    Column("position", Integer),
    Column("collection", String(200)),
    Index(None, "person", "time"),
    Index(None, "person", "session", "time"),
)

answers = Table(
    "answers",
    metadata,
    Column("row", Integer, primary_key=True),
    Column("id", String(200), nullable=False, unique=True),
    _person(nullable=True),
    Column("session", String(200)),
    Column("answer", Text, nullable=False),
    Column("board", Text, nullable=False),
    Column("created", Moment, nullable=False),
    Index(None, "person"),
)

changes = Table(
    "changes",
    metadata,
    Column("row", Integer, primary_key=True),
    Column("id", String(64), nullable=False, unique=True),
    _person(),
    Column("statement", String(64), nullable=False),
    Column("what", String(16), nullable=False),
    Column("before", Json),
    Column("after", Json),
    Column("cause", Text, nullable=False),
    Column("time", Moment, nullable=False),
    Index(None, "person", "statement"),
)

weights = Table(
    "weights",
    metadata,
    Column("row", Integer, primary_key=True),
    Column("id", String(64), nullable=False, unique=True),
    _person(),
    Column("values", Json, nullable=False),
    Column("reason", Text, nullable=False),
    Column("event", String(200)),
    Column("created", Moment, nullable=False),
    Index(None, "person"),
)

runs = Table(
    "runs",
    metadata,
    Column("path", Text, primary_key=True),
    Column("registered", Moment, nullable=False),
)

keys = Table(
    "keys",
    metadata,
    Column("id", String(64), primary_key=True),
    Column("digest", String(64), nullable=False, unique=True),
    Column("label", String(200), nullable=False),
    Column("scope", String(8), nullable=False),
    _person(nullable=True),
    Column("created", Moment, nullable=False),
    Column("expires", Moment),
    Index(None, "person"),
)

logins = Table(
    "logins",
    metadata,
    Column("digest", String(64), primary_key=True),
    Column("key", String(64), ForeignKey("keys.id", ondelete="CASCADE"), nullable=False),
    Column("csrf", String(64), nullable=False),
    Column("expires", Moment, nullable=False),
    Index(None, "key"),
)

OWNED = (turns, sessions, events, answers, changes, statements, weights)
"""Every table of what is held about people, in an order in which rows can be deleted. Keys are theirs, not of them."""
