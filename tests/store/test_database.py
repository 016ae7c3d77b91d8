"""The file: opened, migrated, locked, full, foreign, or written by a process that is killed."""

from __future__ import annotations

import hashlib
import json
import random
import re
import resource
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import event, text
from sqlalchemy.exc import IntegrityError, OperationalError
from sqlmodel import SQLModel

from browser_agent.errors import StoreUnusable
from browser_agent.states import OPEN_GESTURE_STATES, GestureState
from browser_agent.store import Lease, Store, database
from browser_agent.store import migrations as migrations_package
from tests.store.building import (
    VERSIONED,
    by_raw_sql,
    called,
    claim,
    everything,
    folder_of,
    intended,
    only_sqlite,
    submit,
)


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_the_tables_are_what_the_records_say(store: Store) -> None:
    with store.database.engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, SQLModel.metadata) == []


def test_the_schema_constant_is_the_last_migration(store: Store) -> None:
    versions = Path(migrations_package.__file__).parent / "versions"
    texts = [path.read_text() for path in sorted(versions.glob("v*.py"))]
    numbers = [found[1] for text in texts if (found := re.search(r'^revision = "(\w+)"', text, re.MULTILINE))]
    assert len(numbers) == len(texts)
    assert max(numbers) == database.SCHEMA
    assert everything(store)["alembic_version"] == [(database.SCHEMA,)]


def test_the_first_schema_has_no_way_back() -> None:
    from browser_agent.store.migrations.versions import v0001_first

    with pytest.raises(RuntimeError, match="nothing before it"):
        v0001_first.downgrade()


@only_sqlite
def test_a_committed_row_survives_a_power_cut(store: Store) -> None:
    with store.database.read() as session:
        asked = [
            session.connection().execute(text(f"PRAGMA {name}")).scalar_one()
            for name in ("journal_mode", "synchronous")
        ]
    assert asked == ["wal", 2]


def test_a_store_and_its_folder_are_made_for_their_owner_alone(tmp_path: Path) -> None:
    with Store(tmp_path / "deep" / "er" / "runs.db") as store:
        assert store.leases.runs() == []
    assert (tmp_path / "deep" / "er").stat().st_mode & 0o777 == 0o700


def test_a_store_is_opened_again_as_it_was_left(store: Store) -> None:
    run = submit(store)
    before = everything(store)
    with Store(store.address) as again:
        assert again.leases.run(run).task_name == "invoice_shipments"
    assert everything(store) == before


def test_a_store_that_was_shut_writes_nothing_more_and_can_be_read(store: Store) -> None:
    run = store.leases.submit(task_file="t.py", task_name="t", arguments="{}", sites="{}", key="k")
    store.database.shut()
    with pytest.raises(StoreUnusable, match="was shut to this process by a test. Nothing was written"):
        store.leases.submit(task_file="t.py", task_name="t", arguments="{}", sites="{}")
    assert store.leases.keyed("k") == run and [each.id for each in store.leases.runs()] == [run.id]


def test_many_who_open_a_new_store_at_once_make_one(new_place: Path | str) -> None:
    def open_it(number: int) -> str:
        with Store(new_place) as store:
            return submit(store, key=str(number))

    with ThreadPoolExecutor(8) as pool:
        runs = set(pool.map(open_it, range(8)))
    with Store(new_place) as store:
        assert {row.id for row in store.leases.runs()} == runs
        assert not store.verify().broken


@only_sqlite
def test_a_store_of_a_newer_schema_is_refused_and_left_as_it_is(store: Store) -> None:
    submit(store)
    store.close()
    by_raw_sql(store, "UPDATE alembic_version SET version_num = '9999'")
    before, rows = digest(Path(store.address)), everything(store)
    with pytest.raises(StoreUnusable, match=r"has schema 9999; .* Nothing was changed. Upgrade browser-agent"):
        Store(store.address)
    assert (digest(Path(store.address)), everything(store)) == (before, rows)


@pytest.fixture
def new_place(request: pytest.FixtureRequest, home: str, tmp_path: Path) -> Path | str:
    """Where no store is yet."""
    return str(request.getfixturevalue("postgres_url")) if home == "postgres" else tmp_path / "new.db"


def test_a_version_table_without_its_row_is_migrated_like_a_new_file(tmp_path: Path) -> None:
    by_raw_sql(tmp_path / "runs.db", VERSIONED)
    with Store(tmp_path / "runs.db") as store:
        assert store.leases.runs() == []


def test_a_file_that_is_no_database_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "letter.db"
    path.write_text("Dear Ann,\n" * 400)
    before = digest(path)
    with pytest.raises(StoreUnusable, match=r"is not a store: file is not a database. Nothing was changed"):
        Store(path)
    assert digest(path) == before


@pytest.mark.parametrize(
    "tables",
    [
        ("CREATE TABLE customer (name TEXT)", "INSERT INTO customer VALUES ('Nordwind')"),
        ("CREATE TABLE run (distance INTEGER)",),
        ("CREATE TABLE customer (name TEXT)", VERSIONED, "INSERT INTO alembic_version VALUES ('a1b2c3')"),
        ("CREATE TABLE customer (name TEXT)", VERSIONED, "INSERT INTO alembic_version VALUES ('0003')"),
        (VERSIONED, "INSERT INTO alembic_version VALUES ('a1b2c3')"),
    ],
)
def test_a_file_of_another_program_is_refused_and_left_as_it_is(tmp_path: Path, tables: tuple[str, ...]) -> None:
    path = tmp_path / "theirs.db"
    by_raw_sql(path, *tables)
    before = digest(path)
    with pytest.raises(StoreUnusable) as error:
        Store(path)
    assert str(error.value) == f"{path} holds tables of another program; not a store. Nothing was changed."
    assert digest(path) == before and list(tmp_path.iterdir()) == [path]


def test_an_empty_file_becomes_a_store_and_one_whose_tables_are_gone_too(tmp_path: Path) -> None:
    (tmp_path / "empty.db").touch()
    gone = "CREATE TABLE customer (number INTEGER PRIMARY KEY AUTOINCREMENT)", "DROP TABLE customer"
    by_raw_sql(tmp_path / "gone.db", *gone)
    for name in ("empty.db", "gone.db"):
        with Store(tmp_path / name) as store:
            assert store.leases.runs() == []


@only_sqlite
def test_a_damaged_store_is_said_to_be_damaged(store: Store) -> None:
    for number in range(40):
        submit(store, key=f"{number}")
    store.close()
    content = bytearray(Path(store.address).read_bytes())
    content[4096:] = b"\xff" * (len(content) - 4096)
    Path(store.address).write_bytes(content)
    with pytest.raises(StoreUnusable, match=r"is not a store: .*malformed"):
        Store(store.address).leases.runs()


def test_a_folder_in_the_place_of_the_store_is_refused(tmp_path: Path) -> None:
    (tmp_path / "runs.db").mkdir()
    with pytest.raises(StoreUnusable, match="cannot be opened for writing"):
        Store(tmp_path / "runs.db")


def test_a_file_in_the_place_of_the_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("")
    with pytest.raises(StoreUnusable, match=r"folder .*data cannot be created"):
        Store(tmp_path / "data" / "runs.db")


def test_a_network_file_system_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mounts = [SimpleNamespace(mountpoint="/", fstype="ext4"), SimpleNamespace(mountpoint=str(tmp_path), fstype="nfs4")]
    monkeypatch.setattr(psutil, "disk_partitions", lambda all: mounts)
    with pytest.raises(StoreUnusable, match="network file system"):
        Store(tmp_path / "runs.db")
    assert not (tmp_path / "runs.db").exists()


def test_a_machine_that_names_no_mounts_is_not_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(psutil, "disk_partitions", lambda all: [])
    Store(tmp_path / "runs.db").close()


class RunBrowser:
    """Another process's hold on the write lock."""

    def __init__(self, path: Path) -> None:
        self._connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        self._connection.execute("BEGIN IMMEDIATE")

    def let_go(self) -> None:
        self._connection.rollback()
        self._connection.close()


@pytest.fixture
def opened_with(store: Store, monkeypatch: pytest.MonkeyPatch) -> Callable[[float], Store]:
    """The same store, opened with another limit on the wait for the write lock, in seconds."""

    def open_it(seconds: float) -> Store:
        monkeypatch.setattr(database, "BUSY_SECONDS", seconds)
        return Store(store.address)

    return open_it


@only_sqlite
def test_a_lock_that_is_let_go_in_time_loses_nothing(opened_with: Callable[[float], Store]) -> None:
    store = opened_with(20)
    holding = RunBrowser(Path(store.address))
    timer = threading.Timer(0.5, holding.let_go)
    timer.start()
    run = submit(store)
    timer.join()
    assert store.leases.run(run).id == run


@only_sqlite
def test_a_lock_that_is_held_too_long_writes_nothing_and_says_what_that_means(
    opened_with: Callable[[float], Store],
) -> None:
    store = opened_with(0.05)
    lease = claim(store)
    _, gesture = intended(store, lease)
    before = everything(store)
    holding = RunBrowser(Path(store.address))
    with pytest.raises(StoreUnusable, match=r"was locked .* is in doubt, and a resume will look"):
        store.journal.dispatch(lease, gesture.id, guarded=True)
    holding.let_go()
    assert everything(store) == before
    store.journal.dispatch(lease, gesture.id, guarded=True)


@only_sqlite
def test_a_reader_is_not_kept_waiting_by_a_writer(opened_with: Callable[[float], Store]) -> None:
    store = opened_with(0.05)
    run = submit(store)
    holding = RunBrowser(Path(store.address))
    assert [row.id for row in store.leases.runs()] == [run]
    holding.let_go()


@only_sqlite
def test_a_full_disk_writes_nothing_and_says_so(store: Store, lease: Lease) -> None:
    pages = "PRAGMA max_page_count = 1"  # SQLite never goes below the pages that there are

    @event.listens_for(store.database.engine, "connect")
    def _no_more_pages(connection: sqlite3.Connection, record: object) -> None:
        connection.execute(pages)

    store.close()  # the limit is the connection's own
    before = everything(store)
    with pytest.raises(StoreUnusable, match=r"The disk of the store .* is full. Nothing was written"):
        for number in range(400):
            store.journal.begin_step(lease, called(f"step {number} " + "x" * 4000))
            before = everything(store)
    assert everything(store) == before
    assert not store.verify().broken


def test_a_picture_that_is_too_large_for_the_disk_has_neither_row_nor_file(store: Store) -> None:
    before, most = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, most))
    try:
        with pytest.raises(StoreUnusable, match="A picture could not be stored"):
            store.artifacts.save(b"a picture" * 1000, "image/webp")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (before, most))
    assert everything(store)["blob"] == []
    assert [path for path in folder_of(store).rglob("*") if path.is_file()] == []


def test_a_picture_that_cannot_be_written_has_no_row(store: Store) -> None:
    folder_of(store).parent.mkdir(parents=True, exist_ok=True)
    folder_of(store).write_text("a file where the folder should be")
    with pytest.raises(StoreUnusable, match="A picture could not be stored"):
        store.artifacts.save(b"a picture", "image/webp")
    assert everything(store)["blob"] == []


@only_sqlite
@pytest.mark.usefixtures("lease")
def test_what_is_no_fault_of_the_file_passes_unchanged(store: Store) -> None:
    with pytest.raises(OperationalError, match="no such table"), store.database.read() as session:
        session.connection().execute(text("SELECT * FROM nowhere"))
    with pytest.raises(IntegrityError, match="UNIQUE"), store.database.write() as session:
        session.connection().execute(text("INSERT INTO audit SELECT NULL, run_id, kind, prev, hash, body FROM audit"))


WRITER = """
import sys
from pathlib import Path
from browser_agent.states import GestureState, StepState
from browser_agent.store import Store
from tests.store.building import brought, claim

with Store(sys.argv[1]) as store:
    lease = claim(store)
    for number in range(10_000):
        gesture = brought(store, lease, GestureState.HAPPENED, f"post_invoice({number})")
        store.artifacts.save(f"picture {number} of {lease.run}".encode(), "image/webp")
        store.journal.end_step(lease, gesture.step_id, StepState.FINISHED, str(number))
        print(number, flush=True)
"""


@pytest.mark.process
def test_a_writer_that_is_killed_leaves_a_store_that_opens_and_holds(store: Store, home: str) -> None:
    dice = random.Random(20261130)
    for _ in range(4):
        _kill_a_writer(store.address, after_lines=dice.randrange(1, 6))
        if home == "sqlite":
            with closing(sqlite3.connect(store.address)) as connection:
                assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        with Store(store.address) as again:
            assert not again.verify().broken
            assert again.artifacts.missing() == []
            for run in again.leases.runs():
                _rows_and_log_agree(again, run.id)


def _kill_a_writer(where: str, after_lines: int) -> None:
    writer = subprocess.Popen([sys.executable, "-c", WRITER, where], stdout=subprocess.PIPE)
    assert writer.stdout is not None
    for _ in range(after_lines):
        assert writer.stdout.readline(), "the writer ended by itself"
    writer.kill()
    writer.communicate()
    assert writer.returncode == -9


def _rows_and_log_agree(store: Store, run: str) -> None:
    told = {line["gesture"]: line for line in store.audit_lines(run) if "gesture" in line}  # the last line of each
    gestures = {row.id: row for row in store.journal.gestures(run)}
    assert set(told) == set(gestures)
    ends = {"intent": GestureState.INTENT, "dispatch": GestureState.DISPATCHING, "verdict": GestureState.HAPPENED}
    assert {row.id: row.state for row in gestures.values()} == {g: ends[line["kind"]] for g, line in told.items()}
    assert len([row for row in gestures.values() if row.state in OPEN_GESTURE_STATES]) <= 1
    finished = [json.loads(row.value) for row in store.journal.steps(run) if row.value]
    assert finished == list(range(len(finished)))
