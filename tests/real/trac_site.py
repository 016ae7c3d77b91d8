"""A real Trac for tests: installed from PyPI into a virtual environment of its own, started on loopback, and ended.

Knows nothing of the agent. What Trac really holds is read from its own database file, never from its pages. Nothing of
it may end up in our environment or in the tree: the installation is kept in the user's cache folder.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import time
import urllib.error
import urllib.request
from base64 import b64encode
from contextlib import closing, suppress
from dataclasses import dataclass
from functools import partial
from hashlib import sha1
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from types import TracebackType
from typing import Self

import platformdirs

VERSION = "1.6"
REQUIREMENTS = (f"trac=={VERSION}", "setuptools<80", "jinja2>=3,<4")  # Trac 1.6 still imports pkg_resources
INSTALL_SECONDS = 180.0
START_SECONDS = 20.0
END_SECONDS = 5.0
ACCOUNT, PASSWORD = "ann", "open sesame"

_SEED = """
import sys
from trac.env import Environment
from trac.ticket.model import Ticket
environment = Environment(sys.argv[1])
for number in range(int(sys.argv[3])):
    ticket = Ticket(environment)
    ticket.populate({"summary": f"Seed {number}", "keywords": sys.argv[2], "reporter": "bob"})
    ticket["status"] = "closed" if number % 2 else "new"
    ticket.insert()
"""


class TracUnavailable(Exception):
    """There is no Trac to test with; the words say why in one line."""


@dataclass(frozen=True)
class Ticket:
    """A ticket as Trac's database holds it."""

    id: int
    summary: str
    description: str
    keywords: str
    reporter: str


def installed() -> Path:
    """The Python of Trac's own virtual environment; made on the first call on this machine, and seen to work.

    Raises:
        TracUnavailable: it can't be installed.
    """
    home = Path(platformdirs.user_cache_dir("browser-agent-real"))
    home.mkdir(parents=True, exist_ok=True)
    folder = home / f"trac-{VERSION}-python{sys.version_info.major}.{sys.version_info.minor}"
    if not _works(folder):
        building = home / f"{folder.name}.{os.getpid()}"  # of our own: another test run may be building too
        try:
            _install(building)
            if not _works(building):
                raise TracUnavailable(f"Trac {VERSION} was installed into {building}, and can't be imported there.")
            shutil.rmtree(folder, ignore_errors=True)
            with suppress(OSError):  # somebody else was quicker
                building.rename(folder)
        finally:
            shutil.rmtree(building, ignore_errors=True)
    return _python(folder)


def _python(folder: Path) -> Path:
    return folder / "bin" / "python"


def _works(folder: Path) -> bool:
    if not _python(folder).exists():
        return False
    sees = "import trac, sys, trac.web.standalone, trac.ticket.query; sys.exit(trac.__version__ != sys.argv[1])"
    return subprocess.run([_python(folder), "-c", sees, VERSION], capture_output=True, check=False).returncode == 0


def _install(folder: Path) -> None:
    venv = [sys.executable, "-m", "venv", str(folder)]
    pip = [str(_python(folder)), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *REQUIREMENTS]
    for command in (venv, pip):
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=INSTALL_SECONDS)
        except subprocess.TimeoutExpired as error:
            raise TracUnavailable(f"Trac {VERSION} could not be installed within {INSTALL_SECONDS:.0f} s.") from error
        if done.returncode:
            said = (done.stderr.strip() or done.stdout.strip() or "it said nothing").splitlines()[-1]
            raise TracUnavailable(f"Trac {VERSION} could not be installed from PyPI: {said}")


class Trac:
    """A running Trac with one environment of its own and one account that may file tickets. Use it with `with`.

    Args:
        folder: where its environment, its password file and its log are made.

    Raises:
        TracUnavailable: it can't be installed, or doesn't answer.
    """

    def __init__(self, folder: Path) -> None:
        self._python = str(installed())
        self._environment = folder / "environment"
        self._log = folder / "tracd.log"
        self._passwords = folder / "passwords"
        self._run("trac.admin.console", self._environment, "initenv", "Real", "sqlite:db/trac.db")
        digest = b64encode(sha1(PASSWORD.encode()).digest()).decode()  # a form of htpasswd that Trac itself reads
        self._passwords.write_text(f"{ACCOUNT}:{{SHA}}{digest}\n")
        self.url = f"http://127.0.0.1:{_free_port()}"
        self._files = _serve_files(_files_of(self._python))
        self._configure("trac", "htdocs_location", f"http://127.0.0.1:{self._files.server_port}")
        self._process = self._start()
        self._wait()

    def tickets(self, summary: str) -> list[Ticket]:
        """Every ticket of that summary that the database holds, oldest first."""
        columns = "id, summary, description, keywords, reporter"
        with closing(sqlite3.connect(f"{self._database.as_uri()}?mode=ro", uri=True)) as database:
            rows = database.execute(f"SELECT {columns} FROM ticket WHERE summary = ? ORDER BY id", [summary])
            return [Ticket(*row) for row in rows]

    def seed(self, keywords: str, count: int) -> None:
        """Have Trac's own code insert tickets of somebody else, every second of them closed."""
        done = [self._python, "-c", _SEED, str(self._environment), keywords, str(count)]
        subprocess.run(done, check=True, capture_output=True)

    def close(self) -> None:
        """End the server and whatever it started."""
        self._files.shutdown()
        self._files.server_close()
        for number in (signal.SIGTERM, signal.SIGKILL):
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, number)
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(END_SECONDS)

    @property
    def _database(self) -> Path:
        return self._environment / "db" / "trac.db"

    def _configure(self, section: str, option: str, value: str) -> None:
        self._run("trac.admin.console", self._environment, "config", "set", section, option, value)

    def _run(self, module: str, *arguments: object) -> None:
        command = [self._python, "-m", module, *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            said = (done.stderr.strip() or done.stdout.strip()).splitlines()[-1]
            raise TracUnavailable(f"Trac's environment could not be made: {said}")

    def _start(self) -> subprocess.Popen[bytes]:
        port = self.url.rpartition(":")[2]
        basic = f"--basic-auth=*,{self._passwords},Trac"
        command = [self._python, "-m", "trac.web.standalone", "-s", "--hostname=127.0.0.1", f"--port={port}", basic]
        with self._log.open("wb") as log:
            return subprocess.Popen(
                [*command, str(self._environment)],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def _wait(self) -> None:
        """Wait until it answers."""
        until = time.monotonic() + START_SECONDS
        while not _answers(self.url):
            if self._process.poll() is not None or time.monotonic() > until:
                self.close()
                said = self._log.read_text(errors="replace").strip().splitlines()[-1:] or ["it said nothing"]
                raise TracUnavailable(f"Trac was started and doesn't answer: {said[0]}")
            time.sleep(0.1)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()


class _Quiet(SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: object) -> None:
        """Nobody reads it."""


def _serve_files(folder: Path) -> ThreadingHTTPServer:
    """Serve Trac's scripts and styles beside it, as its installation guide advises: tracd takes 50 ms for each."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=folder))
    Thread(target=server.serve_forever, name="Trac's files", daemon=True).start()
    return server


def _files_of(python: str) -> Path:
    says = [python, "-c", "import trac, pathlib; print(pathlib.Path(trac.__file__).with_name('htdocs'))"]
    return Path(subprocess.run(says, check=True, capture_output=True, text=True).stdout.strip())


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port


def _answers(url: str) -> bool:
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with direct.open(f"{url}/about", timeout=START_SECONDS) as answer:
            return bool(answer.status == 200)
    except (urllib.error.URLError, ConnectionError):
        return False
