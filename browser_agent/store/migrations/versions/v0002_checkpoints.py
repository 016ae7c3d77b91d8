"""Checkpoints: the sealed state of a run's session, gone when the run has ended."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"

_TRIGGER = (
    "CREATE TRIGGER an_ended_run_keeps_no_session AFTER UPDATE OF state ON run "
    "WHEN NEW.state IN ('finished', 'abandoned') "
    "BEGIN DELETE FROM checkpoint WHERE run_id = NEW.id; END"
)


def upgrade() -> None:
    op.create_table(
        "checkpoint",
        sa.Column("run_id", sa.String(), nullable=False),
        sa.Column("purpose", sa.String(), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("sealed", sa.LargeBinary(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"]),
        sa.PrimaryKeyConstraint("run_id", "purpose"),
    )
    op.execute(_TRIGGER)


def downgrade() -> None:
    op.execute("DROP TRIGGER an_ended_run_keeps_no_session")
    op.drop_table("checkpoint")
