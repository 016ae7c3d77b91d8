"""The worker processes of a soak: real ones, replaced as soon as they die.

Must not know: which run they keep. May never happen: one of them outlives the soak.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from random import Random
from types import TracebackType
from typing import Self

LEAVE_SECONDS = 60.0


class Crew:
    """So many worker processes.

    Args:
        store: the store, as it is written on a command line.
        folder: where their output goes.
        size: how many there are.
        concurrency: how many runs each keeps at once.
        shorter: how many times shorter than usual their leases are.
    """

    def __init__(self, store: str, folder: Path, size: int, concurrency: int, shorter: float) -> None:
        self._command = [sys.executable, "-m", "tests.soak.worker", store, str(concurrency), str(shorter)]
        self._folder, self._size, self._born = folder, size, 0
        self._environment = {**os.environ, "XDG_DATA_HOME": str(folder / "data")}  # for what lies beside a database
        self.members: list[subprocess.Popen[bytes]] = []

    def __enter__(self) -> Self:
        self.fill()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def fill(self) -> None:
        """Put another one in the place of each that has died."""
        self.members = [one for one in self.members if one.poll() is None]
        while len(self.members) < self._size:
            self._born += 1
            with (self._folder / f"worker-{self._born}.log").open("wb") as log:
                started = subprocess.Popen(
                    self._command, stdout=log, stderr=log, start_new_session=True, env=self._environment
                )
            self.members.append(started)

    def kill_one(self, chance: Random) -> None:
        """SIGKILL, as the system's memory killer sends it."""
        self._signal(chance.choice(self.members), signal.SIGKILL)

    def stop_one(self, chance: Random) -> subprocess.Popen[bytes]:
        """SIGSTOP: it lives, and does nothing until `resume`."""
        chosen = chance.choice(self.members)
        self._signal(chosen, signal.SIGSTOP)
        return chosen

    def resume(self, stopped: subprocess.Popen[bytes]) -> None:
        """SIGCONT."""
        self._signal(stopped, signal.SIGCONT)

    def close(self) -> None:
        """End all of them: in good order if they still can."""
        for one in self.members:
            self._signal(one, signal.SIGCONT)
            self._signal(one, signal.SIGTERM)
        for one in self.members:
            with suppress(subprocess.TimeoutExpired):
                one.wait(LEAVE_SECONDS)
            self._signal(one, signal.SIGKILL)
            one.wait()

    def _signal(self, one: subprocess.Popen[bytes], number: signal.Signals) -> None:
        if one.poll() is None:
            with suppress(ProcessLookupError):  # it died between the two lines
                os.kill(one.pid, number)
