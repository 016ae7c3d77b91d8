"""A test run that is ended by a signal leaves no server and no browser behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from browser_agent import processes
from browser_agent.processes import ProcessId

ROOT = Path(__file__).parents[2]
DEADLINE_SECONDS = 120.0

SUITE = """
import os, signal, subprocess, sys, time
from pathlib import Path
import pytest

pytest_plugins = ["tests.fix_browser", "tests.fix_postgres"]
signal.signal(signal.SIGINT, signal.default_int_handler)  # a run in the background inherits that it is ignored

DAEMON = "import os, signal; os.setsid(); os.fork() and os._exit(0); print(os.getpid(), flush=True); signal.pause()"

@pytest.fixture
def daemon():
    process = subprocess.Popen([sys.executable, "-c", DAEMON], stdout=subprocess.PIPE)
    return int(process.stdout.readline())

@pytest.fixture
def postgres(postgres_server):
    return postgres_server.process.pid

@pytest.fixture
def browser_of_ours(chromium):
    return chromium.process.pid

@pytest.mark.parametrize("server", ["daemon", "postgres", "browser_of_ours"])
def test_a_server_is_up(request, server):
    pid = request.getfixturevalue(server)
    Path("new").write_text(f"{os.getpid()} {pid}")
    Path("new").rename("pids")
    time.sleep(600)
"""


class TestRun:
    """A test run of its own, whose only test has started a server."""

    __test__ = False

    def __init__(self, folder: Path, server: str, *arguments: str) -> None:
        (folder / "test_suite.py").write_text(SUITE)
        (folder / "pytest.ini").write_text("[pytest]")
        command = [sys.executable, "-m", "pytest", "-p", "no:browser-agent", "-p", "tests.support.reaper", *arguments]
        with (folder / "log").open("wb") as log:
            self.process = subprocess.Popen(
                [*command, f"--basetemp={folder / 'base'}", f"test_suite.py::test_a_server_is_up[{server}]"],
                cwd=folder,
                stdout=log,
                stderr=log,
                env={**os.environ, "PYTHONPATH": str(ROOT)},
                start_new_session=True,
            )
        self._folder = folder

    def started(self) -> list[ProcessId]:
        """The process of pytest in which the test runs, and the server."""
        written, deadline = self._folder / "pids", time.monotonic() + DEADLINE_SECONDS
        while not written.exists():
            assert self.process.poll() is None and time.monotonic() < deadline, (self._folder / "log").read_text()
            time.sleep(0.05)
        found = [processes.identify(int(pid)) for pid in written.read_text().split()]
        return [each for each in found if each is not None]


@pytest.fixture
def runs(tmp_path: Path) -> Iterator[list[TestRun]]:
    started = list[TestRun]()
    yield started
    for each in started:
        each.process.kill()
        each.process.wait()


@pytest.mark.parametrize(
    ("server", "number", "arguments"),
    [
        ("daemon", signal.SIGINT, ()),
        ("daemon", signal.SIGTERM, ()),
        ("daemon", signal.SIGKILL, ("-n", "1")),
        ("postgres", signal.SIGKILL, ()),
        ("browser_of_ours", signal.SIGTERM, ()),
    ],
)
def test_a_run_that_is_ended_by_a_signal_leaves_no_process(
    runs: list[TestRun], tmp_path: Path, server: str, number: signal.Signals, arguments: tuple[str, ...]
) -> None:
    run = TestRun(tmp_path, server, *arguments)
    runs.append(run)
    started = run.started()
    assert len(started) == 2
    run.process.send_signal(number)
    deadline = time.monotonic() + DEADLINE_SECONDS
    while left := [each for each in started if processes.alive(each)]:
        assert time.monotonic() < deadline, f"{left} still live\n{(tmp_path / 'log').read_text()}"
        time.sleep(0.05)
