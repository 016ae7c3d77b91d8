"""The keeper's client of the fork server: starts a worker, and reports how it ended.

A process that keeps runs has one fork server, started with its first worker.
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
from dataclasses import dataclass, replace
from pathlib import Path

from browser_agent import processes
from browser_agent.keeper.fork_server import EXIT_CODE, REQUEST_SIZE, STARTED
from browser_agent.keeper.run_end import WorkerEnd
from browser_agent.processes import ProcessId, own_pid_namespace

START_SECONDS = 60.0
"""How long a request may wait for its worker. The first one waits for all imports, perhaps on a busy machine."""
REPORT_SECONDS = 10.0
"""How long the fork server may take to report a death that the keeper has already seen."""
_HOME = str(Path(__file__).parents[2])
_COMMAND = (
    "import sys; home = sys.argv.pop(); home in sys.path or sys.path.insert(0, home); "
    "from browser_agent.keeper.fork_server import main; sys.exit(main(int(sys.argv.pop())))"
)
"""Imports this same browser_agent, even from a checkout that isn't installed, and nothing from the current folder."""


class ForkServerGone(Exception):
    """The fork server ended, or was silent for too long, before it had started the worker. No worker runs."""


@dataclass(frozen=True)
class Worker:
    """A worker that has just been started and waits for its first message.

    Args:
        process: its process; None if it died before it was identified.
        channel: the keeper's end of their channel.
        status: where the fork server reports how it ended.
    """

    process: ProcessId | None
    channel: socket.socket
    status: socket.socket

    async def end(self, grace_seconds: float) -> WorkerEnd:
        """Wait for the worker's death, and return how it ended; kill it if it doesn't exit by itself in that time.

        Raises:
            StillAlive: the worker could not be ended.
        """
        with self.status:
            end = await self._reported(grace_seconds)
            if self.process is not None:
                await asyncio.to_thread(processes.end, [self.process])
            if end is not None:
                return end
            end = await self._reported(REPORT_SECONDS) or WorkerEnd()
            return replace(end, lingered=end.signal is not None)

    async def _reported(self, seconds: float) -> WorkerEnd | None:
        """How the worker ended; None if no report comes in time. A dead fork server closes the socket without one."""
        with suppress(TimeoutError):
            code = await asyncio.wait_for(asyncio.get_running_loop().sock_recv(self.status, EXIT_CODE.size), seconds)
            return WorkerEnd.of(EXIT_CODE.unpack(code)[0]) if code else WorkerEnd()
        return None


class ForkServer:
    """The client: starts the fork server on first use, and again after it has died. Any thread may use it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._requests: socket.socket | None = None
        self._owner = 0

    def start_worker(self) -> Worker:
        """Start a worker with the folder, environment, standard output and error that this process has now.

        Variables that Python reads at its start (PYTHONPATH and the like) keep the values that the fork server had.

        Raises:
            ForkServerGone: even a new fork server could not start it; no worker runs.
        """
        with self._lock:
            if self._owner == os.getpid():  # after a fork of this process, the fork server is the parent's
                with suppress(ForkServerGone):
                    return self._started()
            self._start()
            return self._started()

    def close(self) -> None:
        """End the fork server. Its workers live on."""
        if self._requests is not None and self._process is not None:
            self._requests.close()
            self._process.kill()
            self._process.wait()

    @property
    def pid(self) -> int:
        """The fork server's process id; 0 before the first worker."""
        return self._process.pid if self._process is not None else 0

    def _start(self) -> None:
        self.close()
        self._requests, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-c", _COMMAND, str(theirs.fileno()), _HOME],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                start_new_session=True,  # only the keeper handles Ctrl-C
            )
        self._owner = os.getpid()

    def _started(self) -> Worker:
        """Request a worker, on sockets made for this request: one without an answer may still start a worker later."""
        (channel, its_channel), (status, its_status) = socket.socketpair(), socket.socketpair()
        folder = os.open(".", os.O_RDONLY)
        status.settimeout(START_SECONDS)
        try:
            with its_channel, its_status:
                self._send([its_channel.fileno(), its_status.fileno(), folder, 1, 2])
            started = status.recv(STARTED.size)  # our copies are closed, so the fork server's death closes the socket
        except OSError:
            started = b""
        finally:
            os.close(folder)
        if not started:
            channel.close()
            status.close()
            raise ForkServerGone("The process that starts the workers has ended. Standard error shows what it printed.")
        status.setblocking(False)
        pid, since = STARTED.unpack(started)
        return Worker(ProcessId(pid, since, own_pid_namespace()) if pid else None, channel, status)

    def _send(self, descriptors: list[int]) -> None:
        if self._requests is None:
            raise BrokenPipeError
        environment = json.dumps(dict(os.environ)).encode()
        socket.send_fds(self._requests, [REQUEST_SIZE.pack(len(environment))], descriptors)
        self._requests.sendall(environment)


_fork_server = ForkServer()
atexit.register(_fork_server.close)
start_worker = _fork_server.start_worker
