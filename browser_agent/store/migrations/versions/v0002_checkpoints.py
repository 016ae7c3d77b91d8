"""Checkpoints: the sealed state of a run's session, gone when the run has ended."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"

_IN_SQLITE = (
    "CREATE TRIGGER an_ended_run_keeps_no_session AFTER UPDATE OF state ON run "
    "WHEN NEW.state IN ('finished', 'abandoned') "
    "BEGIN DELETE FROM checkpoint WHERE run_id = NEW.id; END"
)
_IN_POSTGRES = (
    "CREATE FUNCTION ends_a_session() RETURNS trigger LANGUAGE plpgsql AS "
    "$$ BEGIN DELETE FROM checkpoint WHERE run_id = NEW.id; RETURN NULL; END $$",
    "CREATE TRIGGER an_ended_run_keeps_no_session AFTER UPDATE OF state ON run FOR EACH ROW "
    "WHEN (NEW.state IN ('finished', 'abandoned')) EXECUTE FUNCTION ends_a_session()",
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
    for statement in _IN_POSTGRES if _on_postgres() else (_IN_SQLITE,):
        op.execute(statement)


def downgrade() -> None:
    if _on_postgres():
        op.execute("DROP TRIGGER an_ended_run_keeps_no_session ON run")
        op.execute("DROP FUNCTION ends_a_session()")
    else:
        op.execute("DROP TRIGGER an_ended_run_keeps_no_session")
    op.drop_table("checkpoint")


def _on_postgres() -> bool:
    return op.get_bind().dialect.name == "postgresql"
