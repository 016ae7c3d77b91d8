"""What only a shared database can do to a store: two machines, a lost server, a writer that hangs, another clock."""

from __future__ import annotations

import re
import subprocess
import sys
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path

import psutil
import psycopg
import pytest
from sqlalchemy import event, text

from browser_agent.errors import InOtherHands, Misuse, StoreUnusable, Superseded, installing
from browser_agent.store import Store, database, postgres
from browser_agent.store.address import located, shown
from browser_agent.store.records import RunRow
from tests.fix_postgres import PASSWORD, Server
from tests.store.building import VERSIONED, HandClock, by_raw_sql, called, claim, everything, intended, submit


@pytest.fixture(params=["postgres"])
def home(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def said(error: pytest.ExceptionInfo[BaseException]) -> str:
    """All that an error and its causes say."""
    words, cause = "", error.value
    while cause is not None:
        words += f"{cause!r} {cause}\n"
        cause = cause.__cause__  # type: ignore[assignment]
    return words


def child(script: str, store: Store, *words: str) -> subprocess.Popen[str]:
    """A process of its own, that is told the store by its line, not by its arguments."""
    process = subprocess.Popen(
        [sys.executable, "-c", script, *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdin is not None
    process.stdin.write(store.address + "\n")
    process.stdin.flush()
    return process


def heard(process: subprocess.Popen[str]) -> str:
    """The next line that it says."""
    assert process.stdout is not None
    return process.stdout.readline().strip()


TAKER = """
import sys
from browser_agent.errors import InOtherHands
from browser_agent.store import Store

with Store(sys.stdin.readline().strip()) as store:
    print("ready", flush=True)
    for run in sys.stdin.readline().split():
        try:
            store.leases.claim(run, keeper="{}", keeper_dead=False)
            print(run, flush=True)
        except InOtherHands:
            pass
"""


def test_of_two_processes_that_get_two_hundred_runs_twice_each_run_has_one_taker(store: Store) -> None:
    runs = [submit(store) for _ in range(200)]
    takers = [child(TAKER, store) for _ in range(2)]
    assert [heard(taker) for taker in takers] == ["ready", "ready"]
    won: list[list[str]] = [[], []]

    def give(number: int) -> None:
        out, _ = takers[number].communicate(" ".join(runs) + "\n")
        won[number] = out.split()

    threads = [threading.Thread(target=give, args=(number,)) for number in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted([*won[0], *won[1]]) == sorted(runs)
    assert {row.attempt for row in store.leases.runs()} == {1}
    assert store.verify().broken == ()


WRITER = """
import sys
from sqlalchemy import text
from browser_agent.errors import StoreUnusable, Superseded
from browser_agent.store import Lease, Store, postgres

where, lease = sys.stdin.readline().strip(), Lease(sys.argv[1], 1, sys.argv[2])
postgres.IDLE_SECONDS = float(sys.argv[3])
with Store(where) as store:
    try:
        with store.database.write() as session:
            session.connection().execute(text("UPDATE run SET task_name = 'half'"))
            print("inside", flush=True)
            sys.stdin.readline()
    except StoreUnusable as unusable:
        print(unusable, flush=True)
    try:
        store.leases.beat(lease)
    except Superseded:
        print("superseded", flush=True)
"""


def test_a_process_that_is_killed_inside_a_transaction_holds_nothing_and_has_written_nothing(store: Store) -> None:
    lease = claim(store)
    writer = child(WRITER, store, lease.run, lease.token, "600")
    assert heard(writer) == "inside"
    before = everything(store)
    writer.kill()
    writer.communicate()
    assert everything(store) == before
    store.leases.beat(lease)
    assert store.leases.run(lease.run).task_name == "invoice_shipments"


def test_a_process_that_is_stopped_inside_a_transaction_holds_nobody_for_long_and_comes_back_too_late(
    store: Store,
) -> None:
    lease = claim(store)
    writer = child(WRITER, store, lease.run, lease.token, "1")
    assert heard(writer) == "inside"
    psutil.Process(writer.pid).suspend()
    by_raw_sql(store, "SET lock_timeout = '60s'", "UPDATE run SET lease_until = 0")
    newer = store.leases.claim(lease.run, keeper="{}", keeper_dead=False)
    psutil.Process(writer.pid).resume()
    out, _ = writer.communicate("\n")
    first, second = out.splitlines()
    assert "lost its connection: nothing was written" in first
    assert second == "superseded"
    row = store.leases.run(lease.run)
    assert (row.attempt, row.token, row.task_name) == (2, newer.token, "invoice_shipments")


def test_a_statement_after_the_lease_was_taken_over_is_superseded(store: Store, where: str) -> None:
    lease = claim(store)
    with Store(where) as elsewhere:
        by_raw_sql(store, "UPDATE run SET lease_until = 0")
        elsewhere.leases.claim(lease.run, keeper="{}", keeper_dead=False)
    with pytest.raises(Superseded):
        store.leases.beat(lease)


def test_a_lock_that_is_held_too_long_writes_nothing_and_holds_no_reader(
    store: Store, where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    lease = claim(store)
    _, gesture = intended(store, lease)
    before = everything(store)
    monkeypatch.setattr(database, "BUSY_SECONDS", 0.2)
    with Store(where) as hasty, store.database.write():
        with pytest.raises(StoreUnusable, match=r"was locked .* Nothing was written; .* a resume will look"):
            hasty.journal.dispatch(lease, gesture.id, guarded=True)
        assert [row.id for row in hasty.leases.runs()] == [lease.run]
    assert everything(store) == before


def test_a_commit_is_kept_by_a_crash_and_one_order_is_kept_by_a_lock(store: Store) -> None:
    with store.database.write() as session:
        asked = [session.connection().execute(text(f"SHOW {name}")).scalar_one() for name in SETTINGS]
    assert asked == ["on", "30s", "10s", "read committed"]
    with store.database.read() as session:
        assert session.connection().execute(text("SHOW transaction_isolation")).scalar_one() == "repeatable read"


SETTINGS = ("synchronous_commit", "lock_timeout", "idle_in_transaction_session_timeout", "transaction_isolation")


# clocks


@pytest.mark.parametrize("minutes", [-10, 10])
def test_a_host_whose_clock_is_wrong_takes_no_lease_and_gives_none(where: str, minutes: int) -> None:
    wrong = HandClock(datetime.now(UTC) + timedelta(minutes=minutes))
    with Store(where) as right, Store(where, wrong) as off:
        run = submit(off)
        lease = off.leases.claim(run, keeper="{}", keeper_dead=False)
        with right.database.read() as session:
            left = right.leases.run(run).lease_until - right.database.now(session)
        assert 0 < left <= right.times.lease
        with pytest.raises(InOtherHands):
            right.leases.claim(run, keeper="{}", keeper_dead=False)
        right.leases.beat(lease)
        with pytest.raises(InOtherHands):
            off.leases.claim(run, keeper="{}", keeper_dead=False)


def test_rows_are_written_with_the_time_of_the_database_and_read_in_utc(
    where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres.PostgresBackend, "now", lambda self, connection: 86400.0)
    with Store(where) as store:
        run = store.leases.run(submit(store))
    assert (run.created.date().isoformat(), run.created.tzinfo) == ("1970-01-02", UTC)  # the server is in Asia/Kolkata


# the server


def test_a_server_that_is_restarted_between_two_writes_is_waited_for(own_postgres_server: Server) -> None:
    with Store(own_postgres_server.new_database()) as store:
        lease = claim(store)
        own_postgres_server.stop()
        back = threading.Timer(1.0, own_postgres_server.start)
        back.start()
        store.leases.beat(lease)
        back.join()
        assert store.leases.run(lease.run).attempt == 1


def test_a_server_that_crashes_inside_a_transaction_has_nothing_of_it(own_postgres_server: Server) -> None:
    with Store(own_postgres_server.new_database()) as store:
        lease = claim(store)
        lost = pytest.raises(StoreUnusable, match="lost its connection: nothing was written")
        with lost as error, store.database.write() as session:
            session.get_one(RunRow, lease.run).task_name = "half"
            session.flush()
            own_postgres_server.stop("immediate")
            session.get_one(RunRow, lease.run, populate_existing=True)
        own_postgres_server.start()
        assert PASSWORD not in said(error)
        assert store.leases.run(lease.run).task_name == "invoice_shipments"


def test_a_server_that_crashes_at_a_commit_leaves_it_unknown_and_says_so(own_postgres_server: Server) -> None:
    with Store(own_postgres_server.new_database()) as store:
        lease = claim(store)
        stops = [True]

        @event.listens_for(store.database.engine, "commit")
        def _crash(connection: object) -> None:
            if stops:
                stops.clear()
                own_postgres_server.stop("immediate")

        with pytest.raises(StoreUnusable, match="it is not known whether the last row was written"):
            store.journal.begin_step(lease, called())
        own_postgres_server.start()
        store.leases.beat(lease)


def test_a_server_that_is_not_there_is_said_so_without_the_password(
    own_postgres_server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres, "OPENING_SECONDS", 0.3)
    wrong = own_postgres_server.url().replace("ann:", "ann:not")
    for address in (wrong, own_postgres_server.url("nowhere"), "postgresql://ann:p%2Fw@127.0.0.1:1/runs"):
        with pytest.raises(
            StoreUnusable, match=r"The store postgresql://ann@127.0.0.1:\d+/\w+ does not answer"
        ) as error:
            Store(address)
        assert PASSWORD not in said(error) and "p%2Fw" not in said(error)


# what it refuses


def test_a_store_of_a_newer_schema_is_refused_and_left_as_it_is(store: Store) -> None:
    submit(store)
    by_raw_sql(store, "UPDATE alembic_version SET version_num = '9999'")
    before = everything(store)
    with pytest.raises(StoreUnusable, match=r"has schema 9999; .* Nothing was changed. Upgrade browser-agent"):
        Store(store.address)
    assert everything(store) == before


def test_a_database_that_is_not_in_utf_8_is_refused(postgres_server: Server) -> None:
    postgres_server.sql("CREATE DATABASE latin ENCODING LATIN1 TEMPLATE template0")
    with pytest.raises(StoreUnusable, match="is in LATIN1, not in UTF-8"):
        Store(postgres_server.url("latin"))


def test_a_user_who_may_not_write_is_told_so(store: Store, postgres_server: Server) -> None:
    postgres_server.sql("DROP ROLE IF EXISTS guest", "CREATE ROLE guest LOGIN PASSWORD 'guest'")
    name = store.address.rpartition("/")[2]
    with pytest.raises(StoreUnusable, match="cannot be written by this user: permission denied"):
        Store(f"postgresql://guest:guest@127.0.0.1:{postgres_server.port}/{name}").leases.runs()


@pytest.mark.parametrize(
    "tables",
    [
        ("CREATE TABLE run (distance INTEGER)",),
        (VERSIONED, "INSERT INTO alembic_version VALUES ('a1b2c3')"),
        ("CREATE TABLE customer (name TEXT)", VERSIONED),
    ],
)
def test_tables_of_another_program_that_are_in_the_way_are_left_as_they_are(
    postgres_url: str, tables: tuple[str, ...]
) -> None:
    def found() -> list[str]:
        with psycopg.connect(postgres_url) as connection:
            return sorted(name for (name,) in connection.execute("SELECT tablename FROM pg_tables").fetchall())

    with psycopg.connect(postgres_url) as connection:
        for statement in tables:
            connection.execute(statement)
    before = found()
    with pytest.raises(
        StoreUnusable, match="holds tables of another program; not a store. Nothing was changed"
    ) as error:
        Store(postgres_url)
    assert "Upgrade" not in said(error) and found() == before


def test_a_database_is_shared_with_tables_that_are_not_in_the_way(postgres_url: str) -> None:
    with psycopg.connect(postgres_url) as connection:
        connection.execute("CREATE TABLE customer (name TEXT)")
    with Store(postgres_url) as store:
        assert store.leases.runs() == []


def test_a_schema_of_its_own_is_beside_another_program_s_tables(postgres_url: str) -> None:
    with psycopg.connect(postgres_url) as connection:
        connection.execute("CREATE TABLE run (distance INTEGER)")
        connection.execute("CREATE SCHEMA ours")
    for path in ("ours", "ours,public"):
        with Store(f"{postgres_url}?options=-csearch_path%3D{path}") as store:
            assert store.leases.runs() == []


def test_the_log_is_never_emptied(store: Store) -> None:
    submit(store)
    with pytest.raises(Exception, match="an audit line is never removed"):
        by_raw_sql(store, "TRUNCATE audit")
    assert store.verify().size == 1


def test_a_text_with_a_character_that_it_cannot_keep_is_kept_as_a_browser_shows_it(store: Store) -> None:
    lease = claim(store)
    step = store.journal.begin_step(lease, called("post(a\0b)"))
    assert [row.words for row in store.journal.steps(lease.run)] == ["post(a\ufffdb)"]
    assert store.journal.begin_step(lease, called("post(a\0b)")).id == step.id


@pytest.mark.process
def test_a_missing_driver_is_said_with_the_command_that_gets_it() -> None:
    script = "import sys; sys.modules['psycopg'] = None\nfrom browser_agent.store import Store\nStore('postgres://h/x')"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert f"needs its driver; {installing('postgres')}" in done.stderr.splitlines()[-1]


# addresses


def test_an_address_is_shown_without_its_password_however_it_is_spelled() -> None:
    for spelled in ("postgres://ann:p%2Fw@db:5433/runs?sslmode=require", "postgresql+psycopg://ann:x@db:5433/runs"):
        assert shown(located(spelled)).partition("?")[0] == "postgresql://ann@db:5433/runs"
    for wrong in ("ann:a/b@c@db/runs", "ann:a?b@db/runs", "db/runs?password=secret"):
        assert not any(part in shown(f"postgresql://{wrong}") for part in ("a/b", "a?b", "?b", "secret"))
    with pytest.raises(Misuse, match="mysql:// is neither"):
        located("mysql://db/runs")
    for path in ("runs.db", "postgres.db", "./postgres/runs.db", "postgres/runs.db", "./postgres:/runs.db", "a b:c.db"):
        assert located(path) == Path(path).absolute()
    assert located(Path("mysql:/runs")) == Path("mysql:/runs").absolute()


@pytest.mark.parametrize(
    ("mistyped", "head"),
    [
        ("postgres//nobody", "postgres//"),
        ("postgresql:/nobody:pw@127.0.0.1:9/x", "postgresql:/"),
        ("postgresql+psycopg//nobody:pw@h/x", "postgresql+psycopg//"),
        ("postgres:nobody:pw@h", "postgres:"),
        ("Postgresql:runs", "Postgresql:"),
        ("sqlite:/runs.db", "sqlite:/"),
        ("mysql:/ann:pw@h/x://y", "mysql:/"),
    ],
)
def test_a_mistyped_address_is_never_taken_for_a_file(mistyped: str, head: str) -> None:
    with pytest.raises(
        Misuse, match=f": {re.escape(head)} is neither. If it is a file whose name begins like that"
    ) as error:
        located(mistyped)
    assert "pw" not in said(error)


def test_an_address_that_cannot_be_read_is_not_quoted() -> None:
    with pytest.raises(StoreUnusable, match="cannot be read as an address") as error:
        Store(f"postgresql://ann:{PASSWORD}@db/runs")
    assert PASSWORD not in said(error) and "so:on" not in said(error)
