"""Logins kept for later runs, what of a checkpoint may be shown without a key, and the files that a step has made."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    op.create_table(
        "login",
        sa.Column("site", sa.String(), nullable=False),
        sa.Column("account", sa.String(), nullable=False),
        sa.Column("sealed", sa.LargeBinary(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("site", "account"),
    )
    op.add_column("checkpoint", sa.Column("shown", sa.String(), nullable=False, server_default="{}"))
    op.add_column("step", sa.Column("files", sa.String(), nullable=True))


def downgrade() -> None:
    op.drop_column("step", "files")
    op.drop_column("checkpoint", "shown")
    op.drop_table("login")
