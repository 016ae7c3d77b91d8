"""Nursing: how a keeper orders a worker from its nursery, and learns how the worker ended.

There is one nursery for each process that keeps runs, started with the first worker. An order takes along the worker's
end of the line, the folder, standard output and error, and the environment; who the worker is, and later its exit code,
comes back by a cord of its own.

Knows nothing of runs, stores and browsers. What may never happen: an order that got no answer is repeated on the same
line (two workers would read it).
"""

from __future__ import annotations

import asyncio
import atexit
import json
import os
import socket
import subprocess
import sys
import threading
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from browser_agent import processes
from browser_agent.keeper.fork_server import BIRTH, CODE, SIZE
from browser_agent.processes import ProcessId, own_pid_namespace

START_SECONDS = 60.0
"""How long an order may wait for its worker; the first one waits for all the imports, perhaps on a busy machine."""
TOLD_SECONDS = 10.0
"""How long the nursery may take to tell a death that has been seen already."""
UNKNOWN_END = "ended, its exit code is not known"
LINGERED = ", since it did not leave by itself"
"""Follows the signal by which a worker was ended here."""
_BY_SIGNAL = "ended by signal"
_HOME = str(Path(__file__).parents[2])
_COMMAND = (
    "import sys; home = sys.argv.pop(); home in sys.path or sys.path.insert(0, home); "
    "from browser_agent.keeper.fork_server import main; sys.exit(main(int(sys.argv.pop())))"
)
"""Finds this very browser_agent, also in a checkout that isn't installed, and nothing of the current folder."""


class ForkServerGone(Exception):
    """The nursery ended, or was silent too long, before it had started the worker. No worker has an order."""


@dataclass(frozen=True)
class Worker:
    """A worker that has just been started, and waits for its order.

    Args:
        process: which process it is; None if it was dead at once.
        line: the keeper's end of the line between them.
        cord: where the nursery tells how it ended.
    """

    process: ProcessId | None
    line: socket.socket
    cord: socket.socket

    async def end(self, grace_seconds: float) -> str:
        """See it dead, and say in words how it ended; it is ended if it doesn't leave by itself in that many seconds.

        Raises:
            StillAlive: it could not be ended.
        """
        with self.cord:
            words = await self._words(grace_seconds)
            if self.process is not None:
                await asyncio.to_thread(processes.end, [self.process])
            if words is not None:
                return words
            late = await self._words(TOLD_SECONDS) or UNKNOWN_END
            return late + LINGERED if late.startswith(_BY_SIGNAL) else late

    async def _words(self, seconds: float) -> str | None:
        """How it ended, None if that isn't told in time. The cord of a dead nursery ends without a word."""
        with suppress(TimeoutError):
            told = await asyncio.wait_for(asyncio.get_running_loop().sock_recv(self.cord, CODE.size), seconds)
            return _in_words(CODE.unpack(told)[0]) if told else UNKNOWN_END
        return None


def _in_words(code: int) -> str:
    return f"{_BY_SIGNAL} {-code}" if code < 0 else f"exit code {code}"


class ForkServer:
    """The keeper's side: starts the nursery when it is first needed, and again when it has died. For any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._line: socket.socket | None = None
        self._owner = 0

    def start_worker(self) -> Worker:
        """Start a worker with the folder, environment, standard output and error that this process has now.

        What Python itself reads at its start (PYTHONPATH and the like) is as it was when the nursery started.

        Raises:
            ForkServerGone: it could not be started, by a fresh nursery either; no worker is there.
        """
        with self._lock:
            if self._owner == os.getpid():  # after a fork of this process, the nursery is the parent's
                with suppress(ForkServerGone):
                    return self._ordered()
            self._start()
            return self._ordered()

    def close(self) -> None:
        """End the nursery. Its workers live on."""
        if self._line is not None and self._process is not None:
            self._line.close()
            self._process.kill()
            self._process.wait()

    @property
    def pid(self) -> int:
        """The nursery's process id; 0 before the first worker."""
        return self._process.pid if self._process is not None else 0

    def _start(self) -> None:
        self.close()
        self._line, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-c", _COMMAND, str(theirs.fileno()), _HOME],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                start_new_session=True,  # Ctrl-C is for the keeper alone
            )
        self._owner = os.getpid()

    def _ordered(self) -> Worker:
        """Order a worker, by a line that no other order ever had."""
        (line, its_line), (cord, its_cord) = socket.socketpair(), socket.socketpair()
        folder = os.open(".", os.O_RDONLY)
        cord.settimeout(START_SECONDS)
        try:
            with its_line, its_cord:
                self._send([its_line.fileno(), its_cord.fileno(), folder, 1, 2])
            told = cord.recv(BIRTH.size)  # our copies are closed, so that the nursery's death ends the cord
        except OSError:
            told = b""
        finally:
            os.close(folder)
        if not told:
            line.close()
            cord.close()
            raise ForkServerGone("The process that starts the workers has ended; what it said is on standard error.")
        cord.setblocking(False)
        pid, started = BIRTH.unpack(told)
        return Worker(ProcessId(pid, started, own_pid_namespace()) if pid else None, line, cord)

    def _send(self, descriptors: list[int]) -> None:
        if self._line is None:
            raise BrokenPipeError
        environment = json.dumps(dict(os.environ)).encode()
        socket.send_fds(self._line, [SIZE.pack(len(environment))], descriptors)
        self._line.sendall(environment)


_nursery = ForkServer()
atexit.register(_nursery.close)
start_worker = _nursery.start_worker
