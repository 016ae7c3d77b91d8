"""Worker processes for the acceptance tests: the real command, and one whose leases are short, on a world's store."""

from __future__ import annotations

import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from browser_agent import processes
from browser_agent.keeper.launch import ForWorkers, submit
from browser_agent.states import RunState
from browser_agent.store.records import RunRow

if TYPE_CHECKING:  # it is a plugin of its own, which must not be imported before it is registered
    from tests.fix_world import World

DEADLINE_SECONDS = 240.0

SHORT = """
import sys
from browser_agent.options import KillAt, Options
from browser_agent.store import Store, Times
from browser_agent.keeper.queue_worker import WorkerLimits, serve

options = Options(kill_at=KillAt.parse(sys.argv[4]) if sys.argv[4] else None)
with Store(sys.argv[1], times=Times.shortened(2.5), host=sys.argv[2]) as store:
    serve(store, WorkerLimits(until_idle=sys.argv[3] == "until-idle"), options, lambda event: print(event, flush=True))
"""
"""A worker process whose leases last 12 s: for what happens after they have run out."""

STOPPED = """
import os, signal, sys, time
from browser_agent.options import Options
from browser_agent.store import Store, Times
from browser_agent.keeper.queue_worker import WorkerLimits, serve

def stop(event):
    if event.run:
        with store.database.write():
            os.kill(os.getpid(), signal.SIGSTOP)
            time.sleep(1)  # another thread may be the one that takes the signal

with Store(sys.argv[1], times=Times.shortened(2.5), host=sys.argv[2]) as store:
    serve(store, WorkerLimits(), Options(), stop)
"""
"""The same, stopped in the middle of a write as soon as it keeps a run."""

STOPPED_COMMAND = """
import os, signal, sys
from browser_agent.store import Store

with Store(sys.argv[1]) as store, store.database.write():
    os.kill(os.getpid(), signal.SIGSTOP)
"""
"""A person's command, stopped (Ctrl-Z) in the middle of a write."""


class Workers:
    """Starts worker processes, and ends those that a test leaves behind."""

    def __init__(self, world: World, folder: Path) -> None:
        self.world, self._folder, self._started = world, folder, list[subprocess.Popen[bytes]]()

    def start(self, *words: str) -> subprocess.Popen[bytes]:
        """`browser-agent worker` with these words."""
        return self.command("worker", *words)

    def command(self, *words: str) -> subprocess.Popen[bytes]:
        """Any command on the world's store."""
        return self._run(["-m", "browser_agent", *words, "--store", self.world.store.address])

    def short(self, host: str, *, until_idle: bool = False, kill_at: str = "") -> subprocess.Popen[bytes]:
        """A worker process of that host whose leases are short; perhaps one that is struck."""
        stays = "until-idle" if until_idle else "stay"
        return self._run(["-c", SHORT, self.world.store.address, host, stays, kill_at])

    def stopped_in_a_write(self, host: str) -> subprocess.Popen[bytes]:
        """A worker process of that host that is stopped while it writes."""
        return self._run(["-c", STOPPED, self.world.store.address, host])

    def stopped_command(self) -> subprocess.Popen[bytes]:
        """A command that is stopped while it writes."""
        return self._run(["-c", STOPPED_COMMAND, self.world.store.address])

    def _run(self, words: list[str]) -> subprocess.Popen[bytes]:
        with (self._folder / "workers.log").open("ab") as log:
            process = subprocess.Popen([sys.executable, *words], stdout=log, stderr=log, cwd=self._folder)
        self._started.append(process)
        return process

    def submit(self, name: str, file: str = "posting.py", *, attempts: int | None = None, **arguments: Any) -> str:
        """Write a run down for them."""
        return submit(self.world.store, self.world.bound(name, file), arguments, queue=ForWorkers(attempts=attempts)).id

    def drained(self, process: subprocess.Popen[bytes]) -> int:
        """Ask it to stop, and wait for its end; its exit code."""
        process.send_signal(signal.SIGTERM)
        return process.wait(DEADLINE_SECONDS)

    def until(self, run: str, holds: Callable[[RunRow], bool]) -> RunRow:
        """Wait until that holds for a run."""
        deadline = time.monotonic() + DEADLINE_SECONDS
        while not holds(row := self.world.store.leases.run(run)):
            assert time.monotonic() < deadline, f"{row!r}\n{(self._folder / 'workers.log').read_text()[-6000:]}"
            time.sleep(0.2)
        return row

    def until_said(self, words: str) -> None:
        """Wait until one of them has said that."""
        log, deadline = self._folder / "workers.log", time.monotonic() + DEADLINE_SECONDS
        while words not in log.read_text():
            assert time.monotonic() < deadline, log.read_text()[-6000:]
            time.sleep(0.1)

    def until_stopped(self, process: subprocess.Popen[bytes]) -> None:
        """Wait until it is stopped (SIGSTOP)."""
        deadline = time.monotonic() + DEADLINE_SECONDS
        while (found := processes.identify(process.pid)) is None or not processes.stopped(found):
            assert time.monotonic() < deadline and found is not None, "it is not stopped"
            time.sleep(0.1)

    def store_is_held(self) -> bool:
        """Whether somebody has the store's file to itself, as a stopped process may."""
        with closing(sqlite3.connect(self.world.store.address, timeout=2.0, isolation_level=None)) as connection:
            try:
                connection.execute("BEGIN IMMEDIATE")
                connection.execute("ROLLBACK")
            except sqlite3.OperationalError:
                return True
        return False

    def until_state(self, run: str, *states: RunState) -> RunRow:
        """Wait until the run stands so."""
        return self.until(run, lambda row: row.state in states)

    def close(self) -> None:
        """End what still runs; workers and browsers of a dead keeper end by themselves."""
        for process in self._started:
            process.send_signal(signal.SIGCONT)
            process.kill()
            process.wait()


@pytest.fixture
def workers(world: World, tmp_path: Path) -> Iterator[Workers]:
    """Worker processes on the world's store."""
    with_them = Workers(world, tmp_path)
    yield with_them
    with_them.close()
