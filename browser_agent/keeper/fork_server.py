"""The fork server: a process that has imported everything a worker needs, and forks a worker in a few milliseconds.

Imports cost a worker nearly two seconds, and after a death the next worker should look at once. The fork server of
`multiprocessing` doesn't fit, because when it is killed it reports its living workers as dead with exit code 255
(measured on Python 3.11). It also imports the keeper's main module again in each worker, and gives every worker the
environment that its first one had.

The server stays single-threaded, because a fork would copy locks that other threads hold. No worker keeps another
worker's socket, because the keeper could then not see that worker's death.
"""

from __future__ import annotations

import gc
import io
import json
import os
import select
import signal
import socket
import struct
import sys
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field

from browser_agent import processes

REQUEST_SIZE = struct.Struct("!I")
"""Precedes a request, in bytes. Five descriptors travel with it: channel, status socket, folder, output and error."""
STARTED = struct.Struct("!id")
"""First message on the status socket: the worker's pid and start time (pid 0 if it died before it was identified)."""
EXIT_CODE = struct.Struct("!i")
"""Last message on the status socket: the exit code, or the signal's number as a negative one."""


@dataclass(frozen=True)
class _StartRequest:
    """A request to start a worker, with the descriptors that it receives."""

    channel: int
    status: socket.socket
    folder: int
    output: int
    error: int
    environment: dict[str, str] = field(repr=False)


class _ServerLoop:
    """The server: one thread that waits for requests and for workers' deaths."""

    def __init__(self, keeper: socket.socket) -> None:
        self._keeper, self._statuses = keeper, dict[int, socket.socket]()
        self._deaths, self._wakeup = socket.socketpair()
        self._wakeup.setblocking(False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(self._wakeup.fileno(), warn_on_full_buffer=False)

    def serve(self) -> int:
        """Start workers until the keeper is gone.

        Returns:
            The descriptor of a worker's channel; it returns only in the workers.
        """
        while True:
            ready, _, _ = select.select([self._keeper, self._deaths], [], [])
            if self._deaths in ready:
                self._deaths.recv(4096)
                self._report_deaths()
            if self._keeper in ready:
                request = self._request()
                if request is None:
                    os._exit(0)  # the workers see their own channels end
                pid = os.fork()
                if pid == 0:
                    self._become_worker(request)
                    return request.channel
                self._report_start(pid, request)

    def _request(self) -> _StartRequest | None:
        """The next request; None if the keeper is gone."""
        size, descriptors, _, _ = socket.recv_fds(self._keeper, REQUEST_SIZE.size, 5)
        expected = REQUEST_SIZE.unpack(size)[0] if size else 0
        text = self._keeper.recv(expected, socket.MSG_WAITALL)
        if not expected or len(text) < expected:
            return None
        channel, status, folder, output, error = descriptors
        return _StartRequest(channel, socket.socket(fileno=status), folder, output, error, json.loads(text))

    def _report_start(self, pid: int, request: _StartRequest) -> None:
        for descriptor in (request.channel, request.folder, request.output, request.error):
            os.close(descriptor)
        self._statuses[pid] = request.status
        found = processes.identify(pid)  # it isn't reaped yet, so its pid can't belong to another process
        _send(request.status, STARTED.pack(found.pid, found.started) if found else STARTED.pack(0, 0.0))

    def _report_deaths(self) -> None:
        while self._statuses:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if not pid:
                return
            with self._statuses.pop(pid) as listener:
                _send(listener, EXIT_CODE.pack(os.waitstatus_to_exitcode(status)))

    def _become_worker(self, request: _StartRequest) -> None:
        """In the fork: close what belongs to the server and other workers, and set up what a new process would have."""
        os.setsid()
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        for each in (self._keeper, self._deaths, self._wakeup, request.status, *self._statuses.values()):
            each.close()
        for source, target in ((os.open(os.devnull, os.O_RDONLY), 0), (request.output, 1), (request.error, 2)):
            os.dup2(source, target)
            os.close(source)
        os.set_inheritable(request.channel, False)
        os.fchdir(request.folder)
        os.close(request.folder)
        sys.path.insert(0, "")  # as `python -m` does; a task's own folder will precede it
        os.environ.clear()
        os.environ.update(request.environment)
        time.tzset()
        if isinstance(sys.stdout, io.TextIOWrapper):
            sys.stdout.reconfigure(line_buffering=os.isatty(1))


def _send(listener: socket.socket, message: bytes) -> None:
    with suppress(OSError):  # its keeper is gone
        listener.sendall(message)


def main(descriptor: int) -> int:
    """Run the fork server of the process at the other end of that socket, and a worker in each fork.

    Returns:
        A worker's exit code; the server itself never returns.

    Raises:
        RuntimeError: an import has started a thread, so forking would not be safe.
    """
    import sqlalchemy.dialects.sqlite  # noqa: F401  what a worker would import later
    from PIL import Image

    from browser_agent.keeper import worker

    Image.init()
    if threading.active_count() > 1:
        raise RuntimeError(f"an import has started a thread: {threading.enumerate()}")
    gc.freeze()  # what exists now is shared with the workers: never collected, so never copied
    return worker.main(_ServerLoop(socket.socket(fileno=descriptor)).serve())
