"""The queue: runs for any worker process, their budget and their looks; heartbeats with progress, attested deaths,
and the worker processes themselves."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def _time() -> sa.DateTime:
    return sa.DateTime(timezone=True)


def upgrade() -> None:
    op.add_column("run", sa.Column("queued", sa.Boolean(), nullable=False, server_default=sa.false()))
    op.add_column("run", sa.Column("not_before", _time(), nullable=True))
    op.add_column("run", sa.Column("budget", sa.Integer(), nullable=True))
    op.add_column("run", sa.Column("deaths", sa.Integer(), nullable=False, server_default="0"))
    op.add_column("run", sa.Column("looks", sa.Integer(), nullable=False, server_default="0"))
    op.add_column("run", sa.Column("look_after", _time(), nullable=True))
    op.create_index("ix_run_queue", "run", ["queued", "state"])
    for column in ("beaten", "progressed", "attested"):
        op.add_column("attempt", sa.Column(column, _time(), nullable=True))
    for column in ("progress", "attested_by"):
        op.add_column("attempt", sa.Column(column, sa.String(), nullable=True))
    op.create_table(
        "keeper",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("host", sa.String(), nullable=False),
        sa.Column("process", sa.String(), nullable=False),
        sa.Column("concurrency", sa.Integer(), nullable=False),
        sa.Column("began", _time(), nullable=False),
        sa.Column("beaten", _time(), nullable=False),
        sa.Column("ended", _time(), nullable=True),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("ix_keeper_host", "keeper", ["host"])


def downgrade() -> None:
    op.drop_table("keeper")
    for column in ("attested_by", "progress", "attested", "progressed", "beaten"):
        op.drop_column("attempt", column)
    op.drop_index("ix_run_queue", "run")
    for column in ("look_after", "looks", "deaths", "budget", "not_before", "queued"):
        op.drop_column("run", column)
