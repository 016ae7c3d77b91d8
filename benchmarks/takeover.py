"""How long after the death of a keeper the next one has its run, and looks: on one host, on two, and under Temporal.

Each keeper is killed just after the site has posted; the other one is there and waits for work. Real worker processes,
real leases, the site's own ledger.
"""

from __future__ import annotations

import os
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from rich.table import Table

from benchmarks import invoices, temporal
from benchmarks.running import running, until
from browser_agent.keeper.launch import ForWorkers, submit
from browser_agent.script.task_file import load_task
from browser_agent.states import GestureState, RunState
from browser_agent.store import Store, Times
from browser_agent.testing.proxy.fault_proxy import FaultProxy
from browser_agent.testing.sites.books import Books

TIMES = 8
"""Invoices of a run: one of them is under way when the second keeper is there."""


@dataclass(frozen=True)
class Keepers:
    """Seconds from the death of the keeper."""

    claimed_s: float
    looks_s: float
    invoices: int


@dataclass(frozen=True)
class TakenOver:
    """All three ways, and the plain activity beside the last; `*_invoices`: how many there are for each one meant."""

    one_host_claimed_s: float
    one_host_looks_s: float
    one_host_invoices: float
    lease_s: float
    two_hosts_claimed_s: float
    two_hosts_claimed_ratio: float
    two_hosts_looks_s: float
    two_hosts_invoices: float
    heartbeat_s: float
    temporal_claimed_s: float
    temporal_claimed_ratio: float
    temporal_looks_s: float
    temporal_invoices: float
    plain_claimed_s: float
    plain_claimed_ratio: float
    plain_again_s: float
    plain_invoices: float


def taken_over(folder: Path) -> TakenOver:
    """One after the other."""
    one = _keepers(folder / "one", str(folder / "runs.db"), "here", "here")
    with _database() as address:
        two = _keepers(folder / "two", address, "alpha", "beta")
    (folder / "temporal").mkdir()
    engine = temporal.taken_over(folder / "temporal")
    lease = Times().lease
    return TakenOver(
        one_host_claimed_s=one.claimed_s,
        one_host_looks_s=one.looks_s,
        one_host_invoices=one.invoices / TIMES,
        lease_s=lease,
        two_hosts_claimed_s=two.claimed_s,
        two_hosts_claimed_ratio=two.claimed_s / lease,
        two_hosts_looks_s=two.looks_s,
        two_hosts_invoices=two.invoices / TIMES,
        heartbeat_s=engine.heartbeat_s,
        temporal_claimed_s=engine.claimed_s,
        temporal_claimed_ratio=engine.claimed_s / engine.heartbeat_s,
        temporal_looks_s=engine.looks_s,
        temporal_invoices=engine.invoices / temporal.TIMES,
        plain_claimed_s=engine.plain_claimed_s,
        plain_claimed_ratio=engine.plain_claimed_s / engine.heartbeat_s,
        plain_again_s=engine.plain_again_s,
        plain_invoices=engine.plain_invoices / temporal.TIMES,
    )


def table(found: TakenOver) -> Table:
    """What was measured, for people."""
    shown = Table(
        "killed just after the site has posted", "seen by", "taken over after", "it looks after", "made for each meant"
    )
    shown.add_row(
        "worker process, another on its host (SQLite)",
        "its death",
        f"{found.one_host_claimed_s:.1f} s",
        f"{found.one_host_looks_s:.1f} s",
        f"{found.one_host_invoices:g}",
    )
    shown.add_row(
        "worker process, another on another host (PostgreSQL)",
        f"its lease, {found.lease_s:g} s",
        f"{found.two_hosts_claimed_s:.1f} s ({found.two_hosts_claimed_ratio:.2f} leases)",
        f"{found.two_hosts_looks_s:.1f} s",
        f"{found.two_hosts_invoices:g}",
    )
    shown.add_row(
        "browser worker under Temporal",
        f"its heartbeat, {found.heartbeat_s:g} s",
        f"{found.temporal_claimed_s:.1f} s ({found.temporal_claimed_ratio:.2f} heartbeats)",
        f"{found.temporal_looks_s:.1f} s",
        f"{found.temporal_invoices:g}",
    )
    shown.add_row(
        "plain activity under Temporal",
        f"its heartbeat, {found.heartbeat_s:g} s",
        f"{found.plain_claimed_s:.1f} s ({found.plain_claimed_ratio:.2f} heartbeats)",
        f"never (posts again after {found.plain_again_s:.1f} s)",
        f"{found.plain_invoices:g}",
    )
    return shown


def _keepers(folder: Path, address: str, host: str, other: str) -> Keepers:
    """Two worker processes on one store; the one that has the run is killed."""
    folder.mkdir()
    with Books() as books, FaultProxy(books.url) as road, Store(address) as store:
        task = load_task(f"{invoices.__file__}:post_all")
        task.sites["books"].bind(road.url)
        run = submit(store, task, {"times": TIMES}, queue=ForWorkers()).id
        worker = (sys.executable, "-m", "browser_agent", "worker", "--set")
        os.environ |= {"BROWSER_AGENT_STORE": address, "XDG_DATA_HOME": str(folder)}
        with running(folder, *worker, f"host={host}") as dying:
            until(lambda: store.leases.run(run).attempt == 1)
            with running(folder, *worker, f"host={other}"):
                until(lambda: len(store.keepers.recent()[1]) == 2)
                dead = threading.Event()

                def kill() -> None:
                    dying.kill()
                    dead.set()

                road.when("committed", kill)
                dead.wait()
                killed, last = time.monotonic(), store.journal.gestures(run)[-1].id
                claimed = until(lambda: store.leases.run(run).attempt == 2)
                looks = until(lambda: store.journal.gesture(last).state is not GestureState.DISPATCHING)
                until(lambda: store.leases.run(run).state is RunState.FINISHED)
        return Keepers(claimed - killed, looks - killed, len(books.invoices))


@contextmanager
def _database() -> Iterator[str]:
    from tests.fix_postgres import Server  # needs what our own tests do

    with tempfile.TemporaryDirectory(prefix="browser-agent-benchmarks-", ignore_cleanup_errors=True) as name:
        server = Server(Path(name))
        try:
            yield server.new_database()
        finally:
            server.end()
