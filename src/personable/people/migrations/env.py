"""Alembic's entry: runs the migrations on the connection that the store hands over."""

from alembic import context

context.configure(connection=context.config.attributes["connection"], render_as_batch=True)
context.run_migrations()
