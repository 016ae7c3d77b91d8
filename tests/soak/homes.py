"""Where a soak has its store, and how that is struck: a lock that somebody else holds, a restart, a server that hangs.

Must not know: workers, runs, sites. May never happen: two outages at once; an outage that outlasts the soak.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from enum import StrEnum
from pathlib import Path
from random import Random

from browser_agent import processes
from tests.fix_postgres import Server

LOCKED_SECONDS = 8.0
SESSIONS = 300
DOWN_SECONDS = (0.0, 1.0, 4.0)
"""How long a database that was ended stays away."""
HANGS_SECONDS = (1.0, 5.0, 12.0)
"""How long a server is stopped: a little, or beyond the leases of a soak."""
LOCK = """
import sqlite3, sys, time
held = sqlite3.connect(sys.argv[1], timeout=30, isolation_level=None)
held.execute("BEGIN IMMEDIATE")
time.sleep(float(sys.argv[2]))
"""


class Kind(StrEnum):
    """Which database."""

    SQLITE = "sqlite"
    POSTGRES = "postgres"


class Home(ABC):
    """A home of stores, and its outages: one at a time, beside everything else that happens."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="outage")
        self._outage: Future[None] | None = None

    @abstractmethod
    def new_store(self, folder: Path) -> str:
        """Where a new and empty store is."""

    @abstractmethod
    def outages(self) -> Mapping[str, Callable[[Random], None]]:
        """How the newest store is struck, by name; each is over when the call returns."""

    def strikes(self, chance: Random) -> dict[str, Callable[[], bool]]:
        """The same, begun and not waited for; False while another one is under way."""
        return {name: lambda act=act: self._begin(act, chance) for name, act in self.outages().items()}  # type: ignore[misc]

    def over(self) -> None:
        """Wait until nothing is struck any more."""
        if self._outage is not None:
            self._outage.result()

    def _begin(self, act: Callable[[Random], None], chance: Random) -> bool:
        if self._outage is not None and not self._outage.done():
            return False
        self.over()
        self._outage = self._thread.submit(act, chance)
        return True


class OneFile(Home):
    """SQLite."""

    def new_store(self, folder: Path) -> str:
        self._file = folder / "soak.db"
        return str(self._file)

    def outages(self) -> Mapping[str, Callable[[Random], None]]:
        return {"store locked by another process": self._lock}

    def _lock(self, chance: Random) -> None:
        subprocess.run([sys.executable, "-c", LOCK, str(self._file), str(LOCKED_SECONDS)], check=True)


class OneServer(Home):
    """PostgreSQL: a server of the soak's own."""

    def __init__(self, server: Server) -> None:
        super().__init__()
        self._server = server

    def new_store(self, folder: Path) -> str:
        return self._server.new_database()

    def outages(self) -> Mapping[str, Callable[[Random], None]]:
        return {
            "database restarted": lambda chance: self._restart("fast", chance),
            "database crashed": lambda chance: self._restart("immediate", chance),
            "database stopped": self._hang,
        }

    def _restart(self, mode: str, chance: Random) -> None:
        self._server.stop(mode)
        time.sleep(chance.choice(DOWN_SECONDS))
        self._server.start()

    def _hang(self, chance: Random) -> None:
        main = self._server.process
        assert main is not None
        found = [main, *(processes.tree(main) - {main})]  # the main one first, so that none is added
        try:
            for number, wait in ((signal.SIGSTOP, chance.choice(HANGS_SECONDS)), (signal.SIGCONT, 0.0)):
                _signal([each.pid for each in found], number)
                time.sleep(wait)
        finally:
            _signal([each.pid for each in found], signal.SIGCONT)


def _signal(pids: list[int], number: signal.Signals) -> None:
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, number)


@contextmanager
def opened(kind: Kind) -> Iterator[Home]:
    """A home of that kind, for as long as the block lasts."""
    if kind is Kind.SQLITE:
        yield OneFile()
        return
    with tempfile.TemporaryDirectory(prefix="soak-postgres-", ignore_cleanup_errors=True) as name:
        server = Server(Path(name), SESSIONS)
        try:
            yield OneServer(server)
        finally:
            server.end()
