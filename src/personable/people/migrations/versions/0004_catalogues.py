"""The catalogue that an event's item is of: two catalogues may name different things alike."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    op.add_column("events", sa.Column("collection", sa.String(length=200), nullable=True))


def downgrade() -> None:
    op.drop_column("events", "collection")
