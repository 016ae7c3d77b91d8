"""Alembic migrations of the store, run when a store is opened. One file a schema version in `versions/`."""

from __future__ import annotations

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.operations import Operations
from sqlalchemy import Connection

LAST_UNRELEASED = "0006"
"""The last schema before the first release: the first release's, with four columns that nothing read."""


def upgrade(connection: Connection) -> None:
    """Bring the store to the newest schema, in the caller's transaction; a crash in it leaves the old schema."""
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent))
    config.attributes["connection"] = connection
    context = MigrationContext.configure(connection)
    if context.get_current_revision() == LAST_UNRELEASED:
        _drop_unread_columns(Operations(context))
        command.stamp(config, "0007", purge=True)
    command.upgrade(config, "head")


def _drop_unread_columns(operations: Operations) -> None:
    operations.drop_index("ix_observation_run_id", "observation")
    with operations.batch_alter_table("observation") as table:  # SQLite drops no column of a foreign key: copy it
        table.drop_column("run_id")
    for table_name, column in (("release", "attempt"), ("blob", "size"), ("place", "at")):
        operations.drop_column(table_name, column)
