"""`submit`, `watch`, `workers` and what other commands say of runs for workers. Nothing is kept here."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest

from browser_agent import processes
from browser_agent.cli.queue import time_of
from browser_agent.errors import Misuse
from browser_agent.options import OPEN_TASK
from browser_agent.ownership.takeover import own_process, stored_process
from browser_agent.processes import identify
from browser_agent.secrets.seal import KEY_VARIABLE
from browser_agent.settings_sources import FILE_NAME, STORE_VARIABLE
from browser_agent.states import Answer, QuestionKind, RunState
from browser_agent.store import Store
from tests.fix_cli import HAPPENED, Cli, Keeper, waiting
from tests.store.building import by_raw_sql, claim, submit

SECRETIVE = """
from browser_agent import Secret, task

@task
def enter(run, password: Secret) -> None:
    return None
"""


@pytest.fixture
def secretive(here: Path) -> Iterator[Path]:
    """A task that takes a secret, and the file that holds one."""
    (here / "secretive.py").write_text(SECRETIVE)
    (here / "secret.txt").write_text("open sesame, please")
    yield here
    sys.modules.pop("secretive", None)


@pytest.fixture
def stopped() -> Iterator[str]:
    """A process that is stopped (SIGSTOP), as a keeper is stored."""
    process = subprocess.Popen(["sleep", "600"])
    try:
        found = identify(process.pid)
        assert found is not None
        process.send_signal(signal.SIGSTOP)
        while not processes.stopped(found):
            time.sleep(0.01)
        yield stored_process(found)
    finally:
        process.kill()
        process.wait()


def test_a_submitted_run_is_written_down_for_workers_and_not_kept(cli: Cli, keeper: Keeper, store: Store) -> None:
    said = cli("submit", "invoices.py", "day=2026-11-30", "--key", "nov-30", "--attempts", "3", "--json")
    run = store.leases.run(said.document["id"])
    assert (said.code, run.state, run.queued, run.budget, run.key) == (0, RunState.NEW, True, 3, "nov-30")
    assert not keeper.options
    again = cli("submit", "invoices.py", "day=2026-11-30", "--key", "nov-30")
    assert (again.code, again.out) == (0, f"Run {run.id}: invoice waits for a worker in {store.where}.\n")
    other = cli("submit", "invoices.py", "day=2026-12-01", "--key", "nov-30")
    assert other.code == 2 and "has the key 'nov-30' already" in other.err
    assert len(store.leases.runs()) == 1


def test_a_mistyped_address_makes_no_store_whoever_says_it(
    cli: Cli, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = ("submit", "invoices.py", "day=2026-11-30")
    before = sorted(here.iterdir())
    for mistyped in ("postgres//nobody", "postgresql:/nobody@127.0.0.1:9/x"):
        said = cli(*work, "--store", mistyped)
        assert said.code == 2 and "A store is a file, or a database as postgresql://user@host/name" in said.err
        monkeypatch.setenv(STORE_VARIABLE, mistyped)
        assert cli(*work).code == 2
        monkeypatch.delenv(STORE_VARIABLE)
        (here / FILE_NAME).write_text(f'store = "{mistyped}"')
        assert cli(*work).code == 2
        (here / FILE_NAME).unlink()
    assert sorted(here.iterdir()) == before
    assert cli(*work, "--store", "postgres.db").code == 0 and (here / "postgres.db").exists()


def test_a_run_that_was_begun_otherwise_is_not_changed_by_submitting_it_again(
    cli: Cli, keeper: Keeper, store: Store
) -> None:
    cli("run", "invoices.py", "day=2026-11-30", "--key", "nov-30")
    said = cli("submit", "invoices.py", "day=2026-11-30", "--key", "nov-30")
    assert said.code == 0 and "has that key already: it is finished. Nothing was changed." in said.out
    assert not store.leases.runs()[0].queued


def test_runs_tells_what_waits_for_a_worker_and_until_when(cli: Cli, store: Store) -> None:
    cli("submit", "invoices.py", "day=2026-11-30", "--not-before", "+2h")
    (run,) = store.leases.runs()
    assert run.not_before is not None and run.not_before > datetime.now(UTC) + timedelta(minutes=110)
    said = cli("runs")
    assert "queued" in said.out
    assert f"{run.id}: no worker takes it before {run.not_before:%Y-%m-%d %H:%M:%S} UTC" in said.out
    assert cli("runs", "--json").document[0]["queued"] is True


def test_a_time_is_read_with_its_zone_or_from_now() -> None:
    assert time_of(None) is None
    assert time_of("+90s") == timedelta(seconds=90)
    assert time_of("2026-12-01T06:00+02:00") == datetime(2026, 12, 1, 6, tzinfo=timezone(timedelta(hours=2)))
    with pytest.raises(Misuse, match="is not a time"):
        time_of("tomorrow")


@pytest.mark.parametrize(("source", "code"), [("@secret.txt", 2), ("@{here}/secret.txt", 0)])
def test_a_secret_that_a_worker_could_not_have_is_refused(cli: Cli, secretive: Path, source: str, code: int) -> None:
    said = cli("submit", "secretive.py", f"password={source.format(here=secretive)}")
    assert said.code == code, said
    assert ("A worker can't read the secret @secret.txt" in said.err) is (code == 2)


@pytest.mark.usefixtures("secretive")
def test_with_a_key_a_secret_travels_sealed(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY_VARIABLE, "a2tra2tra2tra2tra2tra2tra2tra2tra2tra2tra2s=")
    assert cli("submit", "secretive.py", "password=@secret.txt").code == 0


def test_a_run_is_given_to_the_queue_and_its_attempts_count_anew(cli: Cli, keeper: Keeper, store: Store) -> None:
    run = submit(store)
    for _ in range(3):
        lease = claim(store, run)
    store.leases.end(lease, RunState.NEEDS_ATTENTION, ended_by="used up")
    said = cli("resume", run, "--queue", "--json")
    row = store.leases.run(run)
    assert (said.code, said.document["state"], row.queued, row.deaths) == (0, "ready", True, 0)
    assert not keeper.options
    assert [offer.run for offer in store.queue.offers()] == [run]


def test_an_open_run_is_not_for_workers(cli: Cli, store: Store) -> None:
    store.leases.submit(task_file=OPEN_TASK, task_name=OPEN_TASK, arguments="{}", sites="{}")
    said = cli("resume", "last", "--queue")
    assert said.code == 2 and "was opened by other code" in said.err


def test_an_answer_to_a_run_for_workers_leaves_it_to_them(cli: Cli, keeper: Keeper, store: Store) -> None:
    question = waiting(store, QuestionKind.VALUES)
    run = store.inbox.question(question).run_id
    store.leases.requeue(claim(store, run), "by ann")
    store.leases.end(claim(store, run), RunState.WAITING, ended_by="asked")
    said = cli("answer", question, *HAPPENED)
    assert said.code == 0 and "The run waits for a worker; start one with: browser-agent worker" in said.out
    assert f"{run}: answered; the run waits for a worker; start one with: browser-agent worker" in cli("runs").out
    store.keepers.begin(own_process(), 1)
    assert "  answered; a worker will resume the run" in cli("show", run).out
    assert (keeper.options, store.inbox.question(question).answer) == ([], Answer.HAPPENED)
    assert [offer.run for offer in store.queue.offers()] == [run]


@pytest.mark.process
def test_workers_tells_of_each_process_and_what_it_keeps(cli: Cli, store: Store) -> None:
    store.keepers.begin(own_process(), 2)
    lease = store.leases.claim(submit(store), keeper=own_process(), keeper_dead=False)
    store.leases.beat(lease, "step 12: post invoice 7")
    said = cli("workers")
    assert "alive" in said.out and "1 of 2" in said.out
    assert f"  {os.getpid()} keeps {lease.run}, attempt 1: heartbeat 0 s ago; step 12: post invoice 7" in said.out
    (told,) = cli("workers", "--json").document
    assert (told["state"], told["keeps"][0]["progress"]) == ("alive", "step 12: post invoice 7")


@pytest.mark.process
def test_workers_tells_a_stopped_process_and_a_silent_one_from_one_that_lives(
    cli: Cli, store: Store, stopped: str
) -> None:
    store.keepers.begin(stopped, 1)
    store.keepers.begin(own_process(), 1)
    assert [told["state"] for told in cli("workers", "--json").document] == ["stopped", "alive"]
    a_while_ago = f"{datetime.now(UTC) - timedelta(seconds=82):%Y-%m-%d %H:%M:%S.%f}"
    by_raw_sql(store, f"UPDATE keeper SET beaten = '{a_while_ago}' WHERE process = '{own_process()}'")
    said = cli("workers").out
    assert "stopped" in said and re.search(r"silent for 8\d s", said) and "alive" not in said
    assert [told["state"] for told in cli("workers", "--json").document] == ["stopped", "silent"]


@pytest.mark.process
def test_a_worker_that_ends_idle_says_which_run_a_stopped_process_holds(cli: Cli, store: Store, stopped: str) -> None:
    run = store.leases.submit(task_file="a.py", task_name="a", arguments="{}", sites="{}", queued=True).id
    store.leases.claim(run, keeper=stopped, keeper_dead=False)
    said = cli("worker", "--until-idle")
    pid = json.loads(stopped)["pid"]
    held = rf"{run} is held by process {pid} on \S+, stopped, silent for \d+ s; its lease ends in \d+ s"
    assert said.code == 0 and re.search(held, said.out), said
    (told,) = cli("worker", "--until-idle", "--json").document["held"]
    assert (told["run"], told["pid"], told["stopped"]) == (run, pid, True)


def test_without_any_worker_process_it_says_how_to_start_one(cli: Cli, store: Store) -> None:
    assert "browser-agent worker" in cli("workers").out
    dead = '{"pid": 1, "started": 1.0}'
    store.keepers.begin(dead, 1)
    assert "dead" in cli("workers").out


def test_a_watch_that_looks_once_tells_of_a_run_that_nobody_keeps(cli: Cli, store: Store) -> None:
    run = claim(store).run
    assert "interrupted" in cli("runs").out
    assert cli("watch", "--once").code == 0
    assert store.leases.run(run).state is RunState.NEEDS_ATTENTION
