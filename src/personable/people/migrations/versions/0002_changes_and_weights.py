"""Changes of statements, weights, registered runs, what a person lets be learnt, events that know their answer."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"

MOMENT = sa.DateTime(timezone=True)


def upgrade() -> None:
    op.add_column("people", sa.Column("learned", sa.String(length=8), nullable=False, server_default="ask"))
    op.add_column("people", sa.Column("share_sensitive", sa.Boolean(), nullable=False, server_default=sa.false()))
    op.add_column("events", sa.Column("answer", sa.String(length=200), nullable=True))
    op.add_column("events", sa.Column("position", sa.Integer(), nullable=True))
    _create_changes()
    _create_weights()
    op.create_table(
        "runs",
        sa.Column("path", sa.Text(), nullable=False),
        sa.Column("registered", MOMENT, nullable=False),
        sa.PrimaryKeyConstraint("path", name="pk_runs"),
    )


def _create_changes() -> None:
    op.create_table(
        "changes",
        sa.Column("row", sa.Integer(), nullable=False),
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("person", sa.String(length=200), nullable=False),
        sa.Column("statement", sa.String(length=64), nullable=False),
        sa.Column("what", sa.String(length=16), nullable=False),
        sa.Column("before", sa.Text(), nullable=True),
        sa.Column("after", sa.Text(), nullable=True),
        sa.Column("cause", sa.Text(), nullable=False),
        sa.Column("time", MOMENT, nullable=False),
        sa.ForeignKeyConstraint(["person"], ["people.id"], name="fk_changes_person", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("row", name="pk_changes"),
        sa.UniqueConstraint("id", name="uq_changes_id"),
    )
    op.create_index("ix_changes_person_statement", "changes", ["person", "statement"])


def _create_weights() -> None:
    op.create_table(
        "weights",
        sa.Column("row", sa.Integer(), nullable=False),
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("person", sa.String(length=200), nullable=False),
        sa.Column("values", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("event", sa.String(length=200), nullable=True),
        sa.Column("created", MOMENT, nullable=False),
        sa.ForeignKeyConstraint(["person"], ["people.id"], name="fk_weights_person", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("row", name="pk_weights"),
        sa.UniqueConstraint("id", name="uq_weights_id"),
    )
    op.create_index("ix_weights_person", "weights", ["person"])


def downgrade() -> None:
    for table in ("runs", "weights", "changes"):
        op.drop_table(table)
    for table, columns in {"events": ("position", "answer"), "people": ("share_sensitive", "learned")}.items():
        with op.batch_alter_table(table) as batch:
            for column in columns:
                batch.drop_column(column)
