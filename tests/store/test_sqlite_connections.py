"""The connections to a SQLite file: they stay open, and end with the file, the process or the disk that they had."""

from __future__ import annotations

import os
import shutil
import sqlite3
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path

import psutil
import pytest
from sqlalchemy import event, text
from sqlalchemy.exc import IntegrityError
from sqlalchemy.pool import QueuePool

from browser_agent.errors import StoreUnusable
from browser_agent.states import GestureState
from browser_agent.store import Lease, Store
from browser_agent.store.sqlite_connections import IDLE
from tests.store.building import brought, submit


@pytest.fixture
def home() -> str:
    return "sqlite"


@pytest.fixture
def file(store: Store) -> Path:
    return Path(store.address)


def log_of(file: Path) -> Path:
    return file.with_name(f"{file.name}-wal")


@contextmanager
def opened(store: Store) -> Iterator[list[object]]:
    """The connections that the store opens within the block."""
    found: list[object] = []

    def add(connection: object, record: object) -> None:
        found.append(connection)

    event.listen(store.database.engine, "connect", add)
    yield found
    event.remove(store.database.engine, "connect", add)


def test_transactions_one_after_another_share_one_connection_and_one_log(
    store: Store, lease: Lease, file: Path
) -> None:
    log = log_of(file).stat().st_ino
    with opened(store) as connections:
        for number in range(5):
            brought(store, lease, GestureState.HAPPENED, f"post_invoice({number})")
            assert log_of(file).stat().st_ino == log  # a log that is made anew was checkpointed and deleted
    assert connections == []


def test_threads_write_at_once_and_only_some_connections_stay_open(store: Store) -> None:
    together = threading.Barrier(IDLE + 2)

    def read_together() -> int:
        with store.database.read() as session:
            session.connection().execute(text("SELECT 1"))
            together.wait(30)
        return len(submit(store))

    with ThreadPoolExecutor(IDLE + 2) as pool:
        written = [pool.submit(read_together) for _ in range(IDLE + 2)]
        assert all(each.result() for each in written)
    assert len(store.leases.runs()) == IDLE + 2
    assert store.verify().broken == ()
    kept = store.database.engine.pool
    assert isinstance(kept, QueuePool)
    assert kept.checkedin() == IDLE


def open_files(file: Path) -> list[str]:
    return [each.path for each in psutil.Process().open_files() if each.path == str(file)]


def test_a_closed_store_has_no_file_open_and_no_log(store: Store, file: Path) -> None:
    submit(store)
    assert open_files(file)
    store.close()
    assert open_files(file) == []
    assert [path.name for path in file.parent.glob("runs.db*")] == ["runs.db"]


def test_a_row_can_be_read_by_others_at_once_and_survives_without_a_checkpoint(store: Store, file: Path) -> None:
    run = submit(store)
    copy = file.parent / "after a crash.db"  # as the disk stands: the file and its log, not the memory of SQLite
    shutil.copy(file, copy)
    shutil.copy(log_of(file), log_of(copy))
    for path in (file, copy):
        with closing(sqlite3.connect(path)) as connection:
            assert connection.execute("SELECT id FROM run").fetchall() == [(run,)]


@pytest.mark.parametrize("replaced", [False, True], ids=["deleted", "replaced"])
def test_a_store_whose_file_is_gone_refuses_to_write_and_makes_no_other(
    store: Store, file: Path, replaced: bool
) -> None:
    submit(store)
    file.rename(file.parent / "elsewhere.db")
    if replaced:
        with Store(file) as other:
            theirs = submit(other, key="theirs")
    for use in (lambda: submit(store, key="lost"), store.leases.runs):
        with pytest.raises(StoreUnusable, match="was deleted or replaced by another file while this process used it"):
            use()
    assert file.exists() is replaced
    if replaced:
        with Store(file) as other:
            assert [row.id for row in other.leases.runs()] == [theirs]


def test_a_store_that_was_closed_may_open_another_file_in_its_place(store: Store, file: Path) -> None:
    submit(store)
    store.close()
    file.unlink()
    with Store(file) as other:
        theirs = submit(other)
    assert [row.id for row in store.leases.runs()] == [theirs]
    store.close()


def test_a_connection_that_met_an_error_of_the_disk_is_not_used_again(store: Store) -> None:
    run = submit(store)
    with opened(store) as connections:
        with pytest.raises(StoreUnusable, match="is full"), store.database.write() as session:
            session.connection().exec_driver_sql("PRAGMA max_page_count = 1")  # the limit is the connection's own
            for number in range(400):
                session.connection().exec_driver_sql(f"CREATE TABLE t{number} (a)")
        assert connections == []
        assert [row.id for row in store.leases.runs()] == [run]
        assert len(connections) == 1


def test_a_connection_that_met_another_error_is_used_again(store: Store) -> None:
    run = submit(store)
    with opened(store) as connections:
        with pytest.raises(IntegrityError), store.database.write() as session:
            session.connection().exec_driver_sql("INSERT INTO run (id) VALUES (NULL)")
        assert [row.id for row in store.leases.runs()] == [run]
        assert connections == []


def in_a_fork(act: Callable[[], object]) -> str:
    """What an act in a fork of this process returns; the fork ends at once, as a worker does."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            said = str(act())
        except BaseException as error:
            said = f"{type(error).__name__}: {error}"
        os.write(writing, said.encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as answer:
        said = answer.read()
    os.waitpid(pid, 0)
    return said


@pytest.mark.process
def test_a_fork_gets_no_connection_and_opens_its_own(store: Store, file: Path) -> None:
    mine = submit(store)
    assert in_a_fork(lambda: open_files(file)) == "[]"
    theirs = in_a_fork(lambda: submit(store))
    assert {row.id for row in store.leases.runs()} == {mine, theirs}
    assert store.verify().broken == ()


@pytest.mark.process
def test_a_fork_within_a_transaction_may_not_use_the_store_and_leaves_the_transaction_whole(store: Store) -> None:
    with store.database.write() as session:
        session.connection().execute(text("UPDATE run SET key = key"))
        assert "was forked while its parent used the store" in in_a_fork(lambda: submit(store))
        assert "was forked while its parent used the store" in in_a_fork(store.leases.runs)
        assert "was forked while its parent used the store" in in_a_fork(session.commit)
    mine = submit(store)
    assert [row.id for row in store.leases.runs()] == [mine]
