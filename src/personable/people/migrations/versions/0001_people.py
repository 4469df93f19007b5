"""People, statements, sessions, turns, events and answers."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

MOMENT = sa.DateTime(timezone=True)


def upgrade() -> None:
    op.create_table(
        "people",
        sa.Column("id", sa.String(length=200), nullable=False),
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("dial", sa.String(length=8), nullable=False),
        sa.Column("created", MOMENT, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_people"),
    )
    op.create_table(
        "answers",
        sa.Column("row", sa.Integer(), nullable=False),
        sa.Column("id", sa.String(length=200), nullable=False),
        sa.Column("person", sa.String(length=200), nullable=True),
        sa.Column("session", sa.String(length=200), nullable=True),
        sa.Column("answer", sa.Text(), nullable=False),
        sa.Column("board", sa.Text(), nullable=False),
        sa.Column("created", MOMENT, nullable=False),
        sa.ForeignKeyConstraint(["person"], ["people.id"], name="fk_answers_person", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("row", name="pk_answers"),
        sa.UniqueConstraint("id", name="uq_answers_id"),
    )
    op.create_index("ix_answers_person", "answers", ["person"])
    op.create_table(
        "events",
        sa.Column("row", sa.Integer(), nullable=False),
        sa.Column("id", sa.String(length=200), nullable=False),
        sa.Column("person", sa.String(length=200), nullable=False),
        sa.Column("session", sa.String(length=200), nullable=True),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("passage", sa.Text(), nullable=True),
        sa.Column("item", sa.Text(), nullable=True),
        sa.Column("value", sa.Float(), nullable=True),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("time", MOMENT, nullable=False),
        sa.ForeignKeyConstraint(["person"], ["people.id"], name="fk_events_person", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("row", name="pk_events"),
        sa.UniqueConstraint("id", name="uq_events_id"),
    )
    op.create_index("ix_events_person_session_time", "events", ["person", "session", "time"])
    op.create_index("ix_events_person_time", "events", ["person", "time"])
    op.create_table(
        "sessions",
        sa.Column("person", sa.String(length=200), nullable=False),
        sa.Column("id", sa.String(length=200), nullable=False),
        sa.Column("opened", MOMENT, nullable=False),
        sa.ForeignKeyConstraint(["person"], ["people.id"], name="fk_sessions_person", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("person", "id", name="pk_sessions"),
    )
    op.create_table(
        "statements",
        sa.Column("row", sa.Integer(), nullable=False),
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("person", sa.String(length=200), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("sameness", sa.String(length=64), nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("source", sa.String(length=16), nullable=False),
        sa.Column("cause", sa.Text(), nullable=False),
        sa.Column("confidence", sa.Float(), nullable=False),
        sa.Column("valid_from", MOMENT, nullable=True),
        sa.Column("valid_to", MOMENT, nullable=True),
        sa.Column("sensitive", sa.Boolean(), nullable=True),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("created", MOMENT, nullable=False),
        sa.ForeignKeyConstraint(["person"], ["people.id"], name="fk_statements_person", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("row", name="pk_statements"),
        sa.UniqueConstraint("id", name="uq_statements_id"),
    )
    op.create_index("ix_statements_person_sameness", "statements", ["person", "sameness"])
    op.create_table(
        "turns",
        sa.Column("row", sa.Integer(), nullable=False),
        sa.Column("person", sa.String(length=200), nullable=False),
        sa.Column("session", sa.String(length=200), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("question", sa.Text(), nullable=False),
        sa.Column("answer", sa.Text(), nullable=False),
        sa.Column("answer_id", sa.String(length=200), nullable=False),
        sa.Column("time", MOMENT, nullable=False),
        sa.ForeignKeyConstraint(
            ["person", "session"], ["sessions.person", "sessions.id"], name="fk_turns_person", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("row", name="pk_turns"),
        sa.UniqueConstraint("person", "session", "number", name="uq_turns_person_session_number"),
    )


def downgrade() -> None:
    for table in ("turns", "statements", "sessions", "events", "answers", "people"):
        op.drop_table(table)
