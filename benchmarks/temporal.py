"""A browser worker is killed just after the site has posted: what happens next under Temporal, in time and invoices.

Beside it a plain Temporal activity, killed at the same moment. Real dev server, real processes, the site's own ledger.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import socket
import subprocess
import sys
import sysconfig
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.table import Table

from benchmarks import plain
from benchmarks.running import running, until
from browser_agent.states import GestureState, RunState
from browser_agent.store import Store
from browser_agent.testing.sites.books import Books

HEARTBEAT_SECONDS = 10.0
TIMES = 8
TASK = f"{Path(__file__).with_name('invoices.py')}:post_all"


@dataclass(frozen=True)
class TakenOver:
    """Seconds from the death of the worker, and how many invoices the site has in the end; `TIMES` are meant."""

    heartbeat_s: float
    plain_claimed_s: float
    plain_again_s: float
    plain_invoices: int
    claimed_s: float
    looks_s: float
    looks_ratio: float
    settled_s: float
    invoices: int


def taken_over(folder: Path) -> TakenOver:
    """Both, one after the other."""
    with socket.create_server(("127.0.0.1", 0)) as door:
        port = door.getsockname()[1]
    address = f"127.0.0.1:{port}"
    program = shutil.which("temporal", path=sysconfig.get_path("scripts")) or "temporal"
    server = [program, "server", "start-dev", "--headless", "--ip", "127.0.0.1", "--port", str(port)]
    with running(folder, *server, "--log-level", "error"):
        until(lambda: _listens(port))
        with Books() as books:
            begun, again, made_plainly = _plainly(folder, address, books)
        with Books() as books:
            claimed, looks, settled, made = _by_us(folder, address, books)
    ratio = looks / HEARTBEAT_SECONDS
    return TakenOver(HEARTBEAT_SECONDS, begun, again, made_plainly, claimed, looks, ratio, settled, made)


def _plainly(folder: Path, address: str, books: Books) -> tuple[float, float, int]:
    async def start() -> None:
        from temporalio.client import Client

        client = await Client.connect(address)
        words: list[Any] = [books.url, TIMES, HEARTBEAT_SECONDS]
        await client.start_workflow(plain.Plain.run, args=words, id="plain", task_queue=plain.QUEUE)

    worker = (sys.executable, "-m", "benchmarks.plain", address, books.url)
    with running(folder, *worker, "dies") as dying:
        asyncio.run(start())
        until(lambda: bool(books.invoices))
        with running(folder, *worker):  # it waits for work when the other one dies
            dying.wait()
            killed, made = time.monotonic(), len(books.invoices)
            begun = until(lambda: (folder / "log").read_text().count(plain.BEGUN) == 2)
            again = until(lambda: len(books.invoices) > made)
            until(lambda: len(books.invoices) == 2 * TIMES)
            return begun - killed, again - killed, len(books.invoices)


def _by_us(folder: Path, address: str, books: Books) -> tuple[float, float, float, int]:
    os.environ |= {
        "BROWSER_AGENT_STORE": str(folder / "runs.db"),
        "BROWSER_AGENT_TEMPORAL_ADDRESS": address,
        "BROWSER_AGENT_TEMPORAL_HEARTBEAT": f"{HEARTBEAT_SECONDS:g}",
    }
    ours = (sys.executable, "-m", "browser_agent", "temporal")
    dies = ("--kill-at", f"answered:{TIMES}@keeper")
    with (
        running(folder, *ours, "workflows"),
        Store(folder / "runs.db") as store,
        running(folder, *ours, "worker", *dies) as dying,
    ):
        submit = [*ours, "submit", TASK, f"times={TIMES}", "--key", "ours", "--site", f"books={books.url}"]
        subprocess.run(submit, check=True, stdout=subprocess.DEVNULL)
        until(lambda: bool(books.invoices))
        with running(folder, *ours, "worker"):
            dying.wait()
            killed, run = time.monotonic(), store.leases.runs()[0].id
            last = store.journal.gestures(run)[-1].id
            claimed = until(lambda: store.leases.run(run).attempt == 2)
            looks = until(lambda: store.journal.gesture(last).state is not GestureState.DISPATCHING)
            settled = until(lambda: store.leases.run(run).state is RunState.FINISHED)
            return claimed - killed, looks - killed, settled - killed, len(books.invoices)


def table(found: TakenOver) -> Table:
    """What was measured, for people."""
    shown = Table("browser worker killed after the site has posted", "plain activity", "browser-agent")
    shown.add_row(f"invoices in the end, of {TIMES} that are meant", str(found.plain_invoices), str(found.invoices))
    shown.add_row(
        "until it goes on, in heartbeat time-outs",
        f"{found.plain_again_s / found.heartbeat_s:.1f} (posts again)",
        f"{found.looks_ratio:.1f} (looks)",
    )
    return shown


def _listens(port: int) -> bool:
    with suppress(OSError), socket.create_connection(("127.0.0.1", port)):
        return True
    return False
