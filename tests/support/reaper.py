"""Ends every process that a test run leaves when it is over, however it ended, even by SIGKILL.

The run puts a name of its own into its environment, which all that it starts inherits. A process beside it waits for
its death (pidfd_open(2), Linux only), and then ends whatever has that name in its environment.
"""

from __future__ import annotations

import os
import select
import signal
import sys
import time
import uuid
from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # as a program it finds no package
    import pytest

VARIABLE = "TEST_RUN_OF_BROWSER_AGENT"
_DEADLINE_SECONDS = 30.0
_GLANCE_SECONDS = 0.05


def pytest_configure(config: pytest.Config) -> None:
    if sys.platform != "linux" or hasattr(config, "workerinput"):  # a worker of xdist is of the run that started it
        return
    name = uuid.uuid4().hex
    nothing = [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_RDWR, 0) for number in (0, 1)]
    command = [sys.executable, "-S", __file__, str(os.getpid()), name]
    os.posix_spawn(command[0], command, os.environ, file_actions=nothing, setsid=True)  # Ctrl-C is not for it
    os.environ[VARIABLE] = name


def processes_of(name: str) -> Iterator[int]:
    """The processes that were started in that run. Source: proc_pid_environ(5)."""
    wanted = f"{VARIABLE}={name}".encode()
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/environ", "rb") as file:
                if wanted in file.read().split(b"\0"):
                    yield int(pid)
        except OSError:  # it has ended, or is another user's
            continue


def reap(run: int, name: str) -> None:
    """Wait until that process is dead, and end all that it has started."""
    with suppress(ProcessLookupError):
        select.select([os.pidfd_open(run)], [], [])
    deadline = time.monotonic() + _DEADLINE_SECONDS
    while time.monotonic() < deadline and (left := list(processes_of(name))):
        for pid in left:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(_GLANCE_SECONDS)


if __name__ == "__main__":
    reap(int(sys.argv[1]), sys.argv[2])
