"""Alembic's entry: runs the migrations on the connection that `upgrade` hands over."""

from alembic import context
from sqlmodel import SQLModel

from browser_agent.store import records

assert records.RunRow.metadata is SQLModel.metadata

context.configure(connection=context.config.attributes["connection"], target_metadata=SQLModel.metadata)
with context.begin_transaction():
    context.run_migrations()
