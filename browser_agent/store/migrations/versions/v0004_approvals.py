"""Approvals, each bound to one call; who submitted a run, who was present, and which step reverses a gesture."""

import json

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"

_NEW_COLUMNS = (("run", "submitted_by"), ("attempt", "present"), ("gesture", "approval"), ("gesture", "reverse"))


def upgrade() -> None:
    for table, column in _NEW_COLUMNS:
        op.add_column(table, sa.Column(column, sa.String(), nullable=True))
    approval = op.create_table(
        "approval",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("run_id", sa.String(), nullable=False),
        sa.Column("question_id", sa.String(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("step", sa.String(), nullable=False),
        sa.Column("arguments", sa.String(), nullable=False),
        sa.Column("approved", sa.Boolean(), nullable=False),
        sa.Column("until_done", sa.Boolean(), nullable=False),
        sa.Column("expires", sa.DateTime(timezone=True), nullable=True),
        sa.Column("by", sa.String(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"]),
        sa.ForeignKeyConstraint(["question_id"], ["question.id"]),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("question_id", "position"),
    )
    op.create_index("ix_approval_run_id", "approval", ["run_id"])
    op.create_index("ix_approval_question_id", "approval", ["question_id"])
    _carry_over(approval)


def _carry_over(approval: sa.Table) -> None:
    """What was answered before: a yes or a no to all calls of the question. Calls had no version then: it was 1."""
    names = ("id", "run_id", "kind", "details", "answer", "by")
    question = sa.table(
        "question", *(sa.column(name) for name in names), sa.column("ended_at", sa.DateTime(timezone=True))
    )
    answered = sa.select(question).where(question.c.kind == "approval", question.c.answer.in_(["approve", "refuse"]))
    for row in op.get_bind().execute(answered).mappings():
        for position, call in enumerate(json.loads(row["details"]).get("calls", ())):
            op.execute(
                approval.insert().values(
                    id=f"y-{row['id']}-{position}",
                    run_id=row["run_id"],
                    question_id=row["id"],
                    position=position,
                    step=f"{call['step']}@1",
                    arguments=call["arguments"],
                    approved=row["answer"] == "approve",
                    until_done=False,
                    by=row["by"],
                    at=row["ended_at"],
                )
            )


def downgrade() -> None:
    op.drop_table("approval")
    for table, column in _NEW_COLUMNS:
        op.drop_column(table, column)
