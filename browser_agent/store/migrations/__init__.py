"""Alembic migrations of the store, run when a store is opened. One file a schema version in `versions/`."""

from __future__ import annotations

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.operations import Operations
from sqlalchemy import Connection

from browser_agent.store.migrations import unreleased


def upgrade(connection: Connection) -> None:
    """Bring the store to the newest schema, in the caller's transaction; a crash in it leaves the old schema."""
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent))
    config.attributes["connection"] = connection
    context = MigrationContext.configure(connection)
    if unreleased.to_first(Operations(context), context.get_current_revision()):
        command.stamp(config, unreleased.FIRST, purge=True)
    command.upgrade(config, "head")
