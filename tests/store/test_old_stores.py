"""Stores of versions before the first release: the last of them opens and is carried on, the older ones are refused.

The dumps beside this file were made by that version: one run whose doubt a person settled, one whose question is open,
and one that a person has approved.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import text
from sqlmodel import SQLModel

from browser_agent.errors import StoreUnusable
from browser_agent.reporting.html_report import write_report
from browser_agent.states import Answer, EndKind, GestureState, RunState
from browser_agent.store import AttemptEnd, PersonAnswer, Store, database
from tests.fix_postgres import Server
from tests.store.building import (
    HandClock,
    brought,
    by_raw_sql,
    claim,
    everything,
    folder_of,
    submit,
    triggers,
)

HERE = Path(__file__).parent
PICTURE = b"a picture that is not in the dump"


@pytest.fixture
def old(request: pytest.FixtureRequest, home: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path | str:
    """A store of schema 0006."""
    if home == "postgres":
        monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
        server: Server = request.getfixturevalue("postgres_server")
        url = server.new_database()
        server.sql((HERE / "store_0006_postgres.sql").read_text(), url=url)
        return url
    with closing(sqlite3.connect(tmp_path / "old.db")) as connection:
        connection.executescript((HERE / "store_0006_sqlite.sql").read_text())
    return tmp_path / "old.db"


def test_a_store_of_the_last_unreleased_schema_opens_and_loses_nothing_that_is_read(
    old: Path | str, clock: HandClock
) -> None:
    with Store(old, clock) as store:
        runs = {run.key: run for run in store.leases.runs()}
        assert {key: run.state for key, run in runs.items()} == {
            "settled": RunState.FINISHED,
            "asked": RunState.WAITING,
            "approved": RunState.WAITING,
        }
        (gesture,) = store.journal.gestures(runs["settled"].id)
        assert (gesture.state, gesture.words) == (GestureState.HAPPENED, "post an invoice of 120.00 to Nordwind")
        (look,) = store.journal.observations(gesture.id)
        (release,) = store.journal.releases(gesture.id)
        assert (look.attempt, look.look, release.method) == (1, 1, "POST")
        (question,) = store.inbox.questions(runs["settled"].id)
        assert (question.answer, question.by) == (Answer.HAPPENED, "ann")
        (yes,) = store.approvals.of_call(runs["approved"].id, "post_invoice@1", '{"id": "S-101"}')
        assert (yes.approved, yes.by) == (True, "bob")
        assert store.artifacts.missing() == [gesture.before]
        assert store.verify().size == 32 and not store.verify().broken


def test_it_has_the_tables_and_triggers_of_a_new_store(old: Path | str, store: Store) -> None:
    for _ in range(2):
        with Store(old) as opened, opened.database.engine.connect() as connection:
            context = MigrationContext.configure(connection, opts={"compare_type": True})
            assert compare_metadata(context, SQLModel.metadata) == []
            assert everything(opened)["alembic_version"] == [(database.SCHEMA,)]
            assert triggers(opened) == triggers(store)


def test_its_runs_are_carried_on(old: Path | str, clock: HandClock, home: str) -> None:
    with Store(old, clock) as store:
        (question,) = store.inbox.questions(open_only=True)
        store.inbox.answer(question.id, PersonAnswer(Answer.HAPPENED, "ann", "it is in the list"))
        gesture = store.journal.gesture(question.gesture_id or "")
        assert gesture.state is GestureState.HAPPENED
        lease = claim(store, question.run_id)
        store.journal.observe(lease, gesture.id, ['{"observer": "Record", "sight": "found"}'])
        store.artifacts.save(PICTURE, "image/webp")
        assert store.artifacts.missing() == [] and folder_of(store).exists()
        brought(store, claim(store, submit(store)), GestureState.DISPATCHING)
        assert not store.verify().broken
        if home == "sqlite":
            with store.database.read() as session:
                assert session.connection().execute(text("PRAGMA foreign_key_check")).all() == []


def test_its_reports_open(old: Path | str, tmp_path: Path) -> None:
    with Store(old) as store:
        for run in store.leases.runs():
            report = write_report(store, run.id, tmp_path / f"{run.key}.html").read_text(encoding="utf-8")
            assert run.id in report
    assert "by ann: I looked at the order list" in (tmp_path / "settled.html").read_text(encoding="utf-8")


_HOW: dict[str, tuple[EndKind, int | None, str | None]] = {
    "exit code 0": (EndKind.WORKER_ENDED, 0, None),
    "exit code 71: its browser was dead, and it did not notice": (EndKind.WORKER_ENDED, 71, None),
    "ended by signal 9: the step post took longer than 2.5 s": (EndKind.WORKER_ENDED, -9, "post"),
    "ended by signal 15, because it did not exit by itself": (EndKind.WORKER_ENDED, -15, None),
    "ended, its exit code is not known": (EndKind.WORKER_ENDED, None, None),
    "its keeper died; seen by the watcher": (EndKind.KEEPER_DIED, None, None),
    "it handed its run back; its worker was ended after that": (EndKind.RELEASED, None, None),
}


def test_the_ends_that_schema_0007_said_in_words_alone_become_values(store: Store) -> None:
    run = submit(store)
    for how in _HOW:
        store.leases.end_attempt(claim(store, run), AttemptEnd(how))
    going = claim(store, run)
    raised, broken = claim(store), claim(store)
    store.leases.end(raised, RunState.RAISED, ended_by="Rejected: HTTP 422: no such customer")
    store.leases.end(broken, RunState.RAISED, ended_by="No task in invoices.py")
    for column in ("attempt DROP COLUMN end_kind", "attempt DROP COLUMN exit_code", "attempt DROP COLUMN late_step"):
        by_raw_sql(store, f"ALTER TABLE {column}")
    by_raw_sql(store, "ALTER TABLE run DROP COLUMN error_kind")
    by_raw_sql(store, "UPDATE alembic_version SET version_num = '0007'")
    with Store(store.address) as opened:
        rows = opened.leases.attempts(run)
        ends = {row.how: (row.end_kind, row.exit_code, row.late_step) for row in rows if row.how is not None}
        assert ends == _HOW and rows[-1].end_kind is None
        assert rows[-1].number == going.attempt
        assert [opened.leases.run(lease.run).error_kind for lease in (raised, broken, going)] == [
            "Rejected",
            None,
            None,
        ]
        assert everything(opened)["alembic_version"] == [(database.SCHEMA,)]


@pytest.mark.parametrize("schema", ["0001", "0005"])
def test_a_store_of_an_older_schema_is_refused_and_left_as_it_is(store: Store, schema: str) -> None:
    submit(store)
    by_raw_sql(store, f"UPDATE alembic_version SET version_num = '{schema}'")
    before: Any = everything(store)
    with pytest.raises(StoreUnusable, match="development version before the first release") as error:
        Store(store.address)
    assert f"(schema {schema})" in str(error.value) and "Nothing was changed. Name a new store" in str(error.value)
    assert everything(store) == before
