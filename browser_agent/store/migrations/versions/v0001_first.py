"""The first schema: runs, attempts, steps, gestures, releases, observations, questions, the audit log, blobs.

Triggers keep what the rules call final: an audit line is never changed or removed, and a settled gesture keeps its
outcome. `happened` without evidence is refused by a check.
"""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

_FINAL = "'happened', 'not_happened', 'refused', 'rejected', 'abandoned'"

_NO_EVIDENCE = "NEW.state = 'happened' AND (NEW.proven_by IS NULL OR NEW.proven_by IN ('', '[]', 'null'))"

_TRIGGERS = (
    ("audit_keeps_its_lines", "UPDATE ON audit", "", "an audit line is never changed"),
    ("audit_loses_no_line", "DELETE ON audit", "", "an audit line is never removed"),
    (
        "gesture_outcomes_are_final",
        "UPDATE OF state ON gesture",
        f"OLD.state IN ({_FINAL}) AND NEW.state <> OLD.state",
        "a settled gesture keeps its outcome",
    ),
    ("happened_needs_evidence", "UPDATE OF state ON gesture", _NO_EVIDENCE, "happened needs its evidence"),
    ("happened_comes_with_evidence", "INSERT ON gesture", _NO_EVIDENCE, "happened needs its evidence"),
    (
        "evidence_is_kept",
        "UPDATE OF proven_by ON gesture",
        "OLD.state = 'happened' AND NEW.proven_by IS NOT OLD.proven_by",
        "the evidence of a settled gesture is kept",
    ),
    (
        "step_ends_are_final",
        "UPDATE OF state ON step",
        "OLD.state = 'finished' AND NEW.state <> OLD.state",
        "a finished step stays finished",
    ),
    (
        "answers_are_final",
        "UPDATE OF state ON question",
        "OLD.state <> 'open' AND NEW.state <> OLD.state",
        "an ended question stays ended",
    ),
    (
        "run_ends_are_final",
        "UPDATE OF state ON run",
        "OLD.state IN ('finished', 'abandoned') AND NEW.state <> OLD.state",
        "an ended run stays ended",
    ),
)
"""Name, before what, on which condition, and why it is refused."""

_REFUSES = (
    "CREATE FUNCTION refuses_a_change() RETURNS trigger LANGUAGE plpgsql AS "
    "$$ BEGIN RAISE integrity_constraint_violation USING MESSAGE = TG_ARGV[0]; END $$"
)


def _audit() -> None:
    op.create_table(
        "audit",
        sa.Column("seq", sa.Integer(), nullable=False, autoincrement=False),
        sa.Column("run_id", sa.String(), nullable=True),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("prev", sa.String(), nullable=False),
        sa.Column("hash", sa.String(), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("seq"),
        sa.UniqueConstraint("hash"),
        sa.UniqueConstraint("prev"),
    )
    op.create_index(op.f("ix_audit_run_id"), "audit", ["run_id"], unique=False)


def _blob() -> None:
    op.create_table(
        "blob",
        sa.Column("digest", sa.String(), nullable=False),
        sa.Column("media_type", sa.String(), nullable=False),
        sa.Column("size", sa.Integer(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("digest"),
    )


def _run() -> None:
    op.create_table(
        "run",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("key", sa.String(), nullable=True),
        sa.Column("task_file", sa.String(), nullable=False),
        sa.Column("task_name", sa.String(), nullable=False),
        sa.Column("arguments", sa.String(), nullable=False),
        sa.Column("sites", sa.String(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("token", sa.String(), nullable=False),
        sa.Column("lease_until", sa.Float(), nullable=False),
        sa.Column("result", sa.String(), nullable=True),
        sa.Column("ended_by", sa.String(), nullable=True),
        sa.Column("created", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("key"),
    )


def _attempt() -> None:
    op.create_table(
        "attempt",
        sa.Column("run_id", sa.String(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("host", sa.String(), nullable=False),
        sa.Column("keeper", sa.String(), nullable=False),
        sa.Column("worker", sa.String(), nullable=True),
        sa.Column("driver", sa.String(), nullable=True),
        sa.Column("browser", sa.String(), nullable=True),
        sa.Column("page", sa.String(), nullable=True),
        sa.Column("source", sa.String(), nullable=True),
        sa.Column("packages", sa.String(), nullable=True),
        sa.Column("began", sa.DateTime(timezone=True), nullable=False),
        sa.Column("ended", sa.DateTime(timezone=True), nullable=True),
        sa.Column("how", sa.String(), nullable=True),
        sa.ForeignKeyConstraint(
            ["run_id"],
            ["run.id"],
        ),
        sa.PrimaryKeyConstraint("run_id", "number"),
    )


def _step() -> None:
    op.create_table(
        "step",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("run_id", sa.String(), nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("bookmark", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("words", sa.String(), nullable=False),
        sa.Column("arguments", sa.String(), nullable=False),
        sa.Column("writes", sa.Boolean(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("value", sa.String(), nullable=True),
        sa.Column("raised", sa.String(), nullable=True),
        sa.Column("marked", sa.String(), nullable=True),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("began", sa.DateTime(timezone=True), nullable=False),
        sa.Column("ended", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["run_id"],
            ["run.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("run_id", "bookmark"),
        sa.UniqueConstraint("run_id", "seq"),
    )
    op.create_index(op.f("ix_step_run_id"), "step", ["run_id"], unique=False)


def _gesture() -> None:
    op.create_table(
        "gesture",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("run_id", sa.String(), nullable=False),
        sa.Column("step_id", sa.String(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("words", sa.String(), nullable=False),
        sa.Column("site", sa.String(), nullable=True),
        sa.Column("sends", sa.String(), nullable=True),
        sa.Column("intent", sa.String(), nullable=False),
        sa.Column("baseline", sa.String(), nullable=True),
        sa.Column("before", sa.String(), nullable=True),
        sa.Column("after", sa.String(), nullable=True),
        sa.Column("target_box", sa.String(), nullable=True),
        sa.Column("change", sa.String(), nullable=True),
        sa.Column("guarded", sa.Boolean(), nullable=False),
        sa.Column("wire", sa.String(), nullable=True),
        sa.Column("sender_dead_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("values", sa.String(), nullable=True),
        sa.Column("count", sa.Integer(), nullable=True),
        sa.Column("reasons", sa.String(), nullable=True),
        sa.Column("proven_by", sa.String(), nullable=True),
        sa.Column("intent_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("dispatched_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("settled_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["run_id"],
            ["run.id"],
        ),
        sa.ForeignKeyConstraint(
            ["step_id"],
            ["step.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("step_id", "number"),
    )
    op.create_index(op.f("ix_gesture_run_id"), "gesture", ["run_id"], unique=False)
    op.create_index(op.f("ix_gesture_step_id"), "gesture", ["step_id"], unique=False)


def _observation() -> None:
    op.create_table(
        "observation",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("run_id", sa.String(), nullable=False),
        sa.Column("gesture_id", sa.String(), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("look", sa.Integer(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("observation", sa.String(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["gesture_id"],
            ["gesture.id"],
        ),
        sa.ForeignKeyConstraint(
            ["run_id"],
            ["run.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index(op.f("ix_observation_gesture_id"), "observation", ["gesture_id"], unique=False)
    op.create_index(op.f("ix_observation_run_id"), "observation", ["run_id"], unique=False)


def _question() -> None:
    op.create_table(
        "question",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("run_id", sa.String(), nullable=False),
        sa.Column("step_id", sa.String(), nullable=True),
        sa.Column("gesture_id", sa.String(), nullable=True),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("words", sa.String(), nullable=False),
        sa.Column("reasons", sa.String(), nullable=False),
        sa.Column("evidence", sa.String(), nullable=False),
        sa.Column("details", sa.String(), nullable=False),
        sa.Column("last_confirmed", sa.String(), nullable=False),
        sa.Column("safe_step", sa.String(), nullable=False),
        sa.Column("earliest_safe", sa.DateTime(timezone=True), nullable=True),
        sa.Column("asked_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("answer", sa.String(), nullable=True),
        sa.Column("by", sa.String(), nullable=True),
        sa.Column("reason", sa.String(), nullable=True),
        sa.Column("values", sa.String(), nullable=True),
        sa.Column("override", sa.Boolean(), nullable=False),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["gesture_id"],
            ["gesture.id"],
        ),
        sa.ForeignKeyConstraint(
            ["run_id"],
            ["run.id"],
        ),
        sa.ForeignKeyConstraint(
            ["step_id"],
            ["step.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index(op.f("ix_question_gesture_id"), "question", ["gesture_id"], unique=False)
    op.create_index(op.f("ix_question_run_id"), "question", ["run_id"], unique=False)


def _release() -> None:
    op.create_table(
        "release",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("gesture_id", sa.String(), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("method", sa.String(), nullable=False),
        sa.Column("address", sa.String(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["gesture_id"],
            ["gesture.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index(op.f("ix_release_gesture_id"), "release", ["gesture_id"], unique=False)


def upgrade() -> None:
    for table in (_audit, _blob, _run, _attempt, _step, _gesture, _observation, _question, _release):
        table()
    on_postgres = op.get_bind().dialect.name == "postgresql"
    if on_postgres:
        op.execute(_REFUSES)
        op.execute(
            "CREATE TRIGGER audit_is_never_emptied BEFORE TRUNCATE ON audit "
            "EXECUTE FUNCTION refuses_a_change('an audit line is never removed')"
        )
    for trigger in _TRIGGERS:
        op.execute(_in_postgres(*trigger) if on_postgres else _in_sqlite(*trigger))


def _in_sqlite(name: str, before: str, condition: str, why: str) -> str:
    when = f"WHEN {condition} " if condition else ""
    return f"CREATE TRIGGER {name} BEFORE {before} {when}BEGIN SELECT RAISE(ABORT, '{why}'); END"


def _in_postgres(name: str, before: str, condition: str, why: str) -> str:
    when = f"WHEN ({condition.replace('IS NOT OLD', 'IS DISTINCT FROM OLD')}) " if condition else ""
    return f"CREATE TRIGGER {name} BEFORE {before} FOR EACH ROW {when}EXECUTE FUNCTION refuses_a_change('{why}')"


def downgrade() -> None:
    raise RuntimeError("The first schema has nothing before it; keep the file and use the version that wrote it.")
