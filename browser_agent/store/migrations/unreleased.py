"""Turns the last two schemas of development versions, 0006 and 0007, into the first one that is released."""

from __future__ import annotations

import re
from typing import Any

import sqlalchemy as sa
from alembic.operations import Operations

FIRST = "0008"

_ATTEMPT = sa.table(
    "attempt", *(sa.column(name) for name in ("run_id", "number", "how", "end_kind", "exit_code", "late_step"))
)
_RUN = sa.table("run", *(sa.column(name) for name in ("id", "state", "ended_by", "error_kind")))
_ENDED = re.compile(r"exit code (\d+)|ended by signal (\d+)|ended, its exit code|its keeper died")
_LATE = re.compile(r": the step (.+) took longer than \S+ s$", re.DOTALL)
_ERROR = re.compile(r"(\w+): ")


def to_first(operations: Operations, found: str | None) -> bool:
    """Make the first released schema of that one; whether it could be made."""
    if found not in {"0006", "0007"}:
        return False
    if found == "0006":
        _drop_unread_columns(operations)
    _add_typed_ends(operations)
    return True


def _drop_unread_columns(operations: Operations) -> None:
    operations.drop_index("ix_observation_run_id", "observation")
    with operations.batch_alter_table("observation") as table:  # SQLite drops no column of a foreign key: copy it
        table.drop_column("run_id")
    for table_name, column in (("release", "attempt"), ("blob", "size"), ("place", "at")):
        operations.drop_column(table_name, column)


def _add_typed_ends(operations: Operations) -> None:
    """Add the columns that say as values what these schemas said in words alone, and fill them from the words."""
    operations.add_column("run", sa.Column("error_kind", sa.String()))
    operations.add_column("attempt", sa.Column("end_kind", sa.String()))
    operations.add_column("attempt", sa.Column("exit_code", sa.Integer()))
    operations.add_column("attempt", sa.Column("late_step", sa.String()))
    connection, attempt, run = operations.get_bind(), _ATTEMPT.c, _RUN.c
    for row in connection.execute(sa.select(_ATTEMPT).where(attempt.how.is_not(None))).all():
        here = sa.and_(attempt.run_id == row.run_id, attempt.number == row.number)
        connection.execute(sa.update(_ATTEMPT).where(here).values(**_end(row.how)))
    for row in connection.execute(sa.select(_RUN).where(run.state == "raised")).all():
        if kind := _ERROR.match(row.ended_by or ""):
            connection.execute(sa.update(_RUN).where(run.id == row.id).values(error_kind=kind[1]))


def _end(how: str) -> dict[str, Any]:
    found, late = _ENDED.match(how), _LATE.search(how)
    if found is None:
        return {"end_kind": "released"}
    if found[0] == "its keeper died":
        return {"end_kind": "keeper_died"}
    code = int(found[1]) if found[1] else -int(found[2]) if found[2] else None
    return {"end_kind": "worker_ended", "exit_code": code, "late_step": late and late[1]}
