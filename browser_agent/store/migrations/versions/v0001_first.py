"""The first schema: every table, and the triggers that keep what the rules call final.

The revision is 0008 because development versions before the first release wrote 0001 to 0007.
"""

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = None

_TEXT, _BYTES, _TIME = sa.String(), sa.LargeBinary(), sa.DateTime(timezone=True)
_NUMBER, _YES_OR_NO = sa.Integer(), sa.Boolean()

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
"""Name, the change that it precedes, the condition, and the message of the refusal."""

_ENDED = "NEW.state IN ('finished', 'abandoned')"
_FORGET = "DELETE FROM checkpoint WHERE run_id = NEW.id"
_ONLY_SQLITE = (
    f"CREATE TRIGGER an_ended_run_keeps_no_session AFTER UPDATE OF state ON run WHEN {_ENDED} BEGIN {_FORGET}; END",
)
_ONLY_POSTGRES = (
    "CREATE FUNCTION refuses_a_change() RETURNS trigger LANGUAGE plpgsql AS "
    "$$ BEGIN RAISE integrity_constraint_violation USING MESSAGE = TG_ARGV[0]; END $$",
    "CREATE TRIGGER audit_is_never_emptied BEFORE TRUNCATE ON audit "
    "EXECUTE FUNCTION refuses_a_change('an audit line is never removed')",
    f"CREATE FUNCTION ends_a_session() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN {_FORGET}; RETURN NULL; END $$",
    "CREATE TRIGGER an_ended_run_keeps_no_session AFTER UPDATE OF state ON run FOR EACH ROW "
    f"WHEN ({_ENDED}) EXECUTE FUNCTION ends_a_session()",
)


def _has(kind: Any, *names: str) -> list[sa.Column[Any]]:
    return [sa.Column(name, kind, nullable=False) for name in names]


def _may_have(kind: Any, *names: str) -> list[sa.Column[Any]]:
    return [sa.Column(name, kind, nullable=True) for name in names]


def _of(table: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint([f"{table}_id"], [f"{table}.id"])


def _table(name: str, *columns: Any, indexed: tuple[str, ...] = ()) -> None:
    op.create_table(name, *columns)
    for column in indexed:
        op.create_index(f"ix_{name}_{column}", name, [column])


def _run() -> None:
    _table(
        "run",
        *_has(_TEXT, "id", "task_file", "task_name", "arguments", "sites", "state", "token"),
        *_has(_NUMBER, "attempt", "deaths", "looks"),
        *_has(_YES_OR_NO, "queued"),
        *_has(sa.Float(), "lease_until"),
        *_has(_TIME, "created", "updated"),
        *_may_have(_TEXT, "key", "result", "submitted_by", "ended_by", "error_kind"),
        *_may_have(_NUMBER, "budget"),
        *_may_have(_TIME, "not_before", "look_after"),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("key"),
    )
    op.create_index("ix_run_queue", "run", ["queued", "state"])
    _table(
        "attempt",
        *_has(_TEXT, "run_id", "host", "keeper"),
        *_has(_NUMBER, "number"),
        *_has(_TIME, "began"),
        *_may_have(_TEXT, "worker", "driver", "browser", "page", "source", "packages", "present"),
        *_may_have(_TEXT, "how", "end_kind", "late_step", "progress", "attested_by"),
        *_may_have(_NUMBER, "exit_code"),
        *_may_have(_TIME, "ended", "beaten", "progressed", "attested"),
        _of("run"),
        sa.PrimaryKeyConstraint("run_id", "number"),
    )
    _table(
        "keeper",
        *_has(_TEXT, "id", "host", "process"),
        *_has(_NUMBER, "concurrency"),
        *_has(_TIME, "began", "beaten"),
        *_may_have(_TIME, "ended"),
        sa.PrimaryKeyConstraint("id"),
        indexed=("host",),
    )


def _step() -> None:
    _table(
        "step",
        *_has(_TEXT, "id", "run_id", "bookmark", "name", "words", "arguments", "state"),
        *_has(_NUMBER, "seq", "attempt"),
        *_has(_YES_OR_NO, "writes"),
        *_has(_TIME, "began"),
        *_may_have(_TEXT, "value", "raised", "marked", "files"),
        *_may_have(_TIME, "ended"),
        _of("run"),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("run_id", "bookmark"),
        sa.UniqueConstraint("run_id", "seq"),
        indexed=("run_id",),
    )


def _gesture() -> None:
    _table(
        "gesture",
        *_has(_TEXT, "id", "run_id", "step_id", "state", "kind", "words", "intent"),
        *_has(_NUMBER, "number", "attempt"),
        *_has(_YES_OR_NO, "guarded"),
        *_has(_TIME, "intent_at"),
        *_may_have(_TEXT, "site", "sends", "baseline", "before", "after", "target_box", "change", "wire"),
        *_may_have(_TEXT, "values", "reasons", "proven_by", "approval", "reverse"),
        *_may_have(_NUMBER, "count"),
        *_may_have(_TIME, "sender_dead_at", "dispatched_at", "settled_at"),
        *(_of("run"), _of("step")),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("step_id", "number"),
        indexed=("run_id", "step_id"),
    )
    _table(
        "release",
        *_has(_NUMBER, "id"),
        *_has(_TEXT, "gesture_id", "method", "address"),
        *_has(_TIME, "at"),
        _of("gesture"),
        sa.PrimaryKeyConstraint("id"),
        indexed=("gesture_id",),
    )
    _table(
        "observation",
        *_has(_TEXT, "id", "gesture_id", "observation"),
        *_has(_NUMBER, "attempt", "look", "position"),
        *_has(_TIME, "at"),
        _of("gesture"),
        sa.PrimaryKeyConstraint("id"),
        indexed=("gesture_id",),
    )


def _question() -> None:
    _table(
        "question",
        *_has(_TEXT, "id", "run_id", "kind", "state", "words", "reasons", "evidence", "details"),
        *_has(_TEXT, "last_confirmed", "safe_step"),
        *_has(_TIME, "asked_at"),
        *_has(_YES_OR_NO, "override"),
        *_may_have(_TEXT, "step_id", "gesture_id", "answer", "by", "reason", "values"),
        *_may_have(_TIME, "earliest_safe", "ended_at"),
        *(_of("run"), _of("step"), _of("gesture")),
        sa.PrimaryKeyConstraint("id"),
        indexed=("run_id", "gesture_id"),
    )
    _table(
        "approval",
        *_has(_TEXT, "id", "run_id", "question_id", "step", "arguments", "by"),
        *_has(_NUMBER, "position"),
        *_has(_YES_OR_NO, "approved", "until_done"),
        *_has(_TIME, "at"),
        *_may_have(_TIME, "expires"),
        *(_of("run"), _of("question")),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("question_id", "position"),
        indexed=("run_id", "question_id"),
    )


def _session() -> None:
    _table(
        "checkpoint",
        *_has(_TEXT, "run_id", "purpose", "shown"),
        *_has(_NUMBER, "attempt"),
        *_has(_BYTES, "sealed"),
        *_has(_TIME, "at"),
        _of("run"),
        sa.PrimaryKeyConstraint("run_id", "purpose"),
    )
    _table(
        "login",
        *_has(_TEXT, "site", "account"),
        *_has(_BYTES, "sealed"),
        *_has(_TIME, "at"),
        sa.PrimaryKeyConstraint("site", "account"),
    )


def _audit_and_evidence() -> None:
    _table(
        "audit",
        sa.Column("seq", _NUMBER, nullable=False, autoincrement=False),
        *_may_have(_TEXT, "run_id"),
        *_has(_TEXT, "kind", "prev", "hash"),
        *_has(_BYTES, "body"),
        sa.PrimaryKeyConstraint("seq"),
        *(sa.UniqueConstraint("hash"), sa.UniqueConstraint("prev")),
        indexed=("run_id",),
    )
    _table("blob", *_has(_TEXT, "digest", "media_type"), *_has(_TIME, "at"), sa.PrimaryKeyConstraint("digest"))
    _table("place", *_has(_NUMBER, "id"), *_has(_TEXT, "store", "address"), sa.PrimaryKeyConstraint("id"))


def upgrade() -> None:
    for tables in (_run, _step, _gesture, _question, _session, _audit_and_evidence):
        tables()
    on_postgres = op.get_bind().dialect.name == "postgresql"
    for statement in _ONLY_POSTGRES if on_postgres else _ONLY_SQLITE:
        op.execute(statement)
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
