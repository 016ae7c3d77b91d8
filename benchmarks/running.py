"""Processes that a measurement starts, and waiting for what they do. Must not know what is measured."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

GLANCE_SECONDS = 0.02


@contextmanager
def running(folder: Path, *command: str) -> Iterator[subprocess.Popen[bytes]]:
    """A process, ended afterwards with all that it started; what it says stands in the folder's `log`."""
    with (folder / "log").open("ab") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True)
    try:
        yield process
    finally:
        process.terminate()  # a killed keeper could leave a browser whose worker has left already
        with suppress(subprocess.TimeoutExpired):
            process.wait(30)
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def until(found: Callable[[], bool]) -> float:
    """Wait until it is found; when that was, in seconds of the monotonic clock."""
    while not found():
        time.sleep(GLANCE_SECONDS)
    return time.monotonic()
