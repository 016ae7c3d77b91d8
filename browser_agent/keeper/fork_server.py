"""The nursery: a process that has imported all that a worker needs, and forks a worker in a few milliseconds.

Importing costs a worker nearly two seconds of processor time, and after a death the next one should look at once.
`nursing` is the other side: it starts the nursery, orders workers and hears of their ends.

Knows nothing of runs, stores and browsers. What may never happen: the nursery starts a thread or an event loop (a fork
would copy its locks as they stand); it or another worker holds the end of a worker's line (a death would not be seen).
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

SIZE = struct.Struct("!I")
"""Before an order: how long it is. Five descriptors travel with it: line, cord, folder, standard output, error."""
BIRTH = struct.Struct("!id")
"""Down the cord at once: pid and start of the worker; pid 0 if it was dead at once."""
CODE = struct.Struct("!i")
"""Down the cord at its end: its exit code, or the negative number of the signal."""


@dataclass(frozen=True)
class _Order:
    """What a worker is started with."""

    line: int
    cord: socket.socket
    folder: int
    out: int
    err: int
    environment: dict[str, str] = field(repr=False)


class _ForkServer:
    """One thread that waits for orders and for deaths."""

    def __init__(self, keeper: socket.socket) -> None:
        self._keeper, self._cords = keeper, dict[int, socket.socket]()
        self._deaths, self._bell = socket.socketpair()
        self._bell.setblocking(False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(self._bell.fileno(), warn_on_full_buffer=False)

    def serve(self) -> int:
        """Start workers until the keeper is gone. Returns in the workers alone: the descriptor of their line."""
        while True:
            ready, _, _ = select.select([self._keeper, self._deaths], [], [])
            if self._deaths in ready:
                self._deaths.recv(4096)
                self._tell_deaths()
            if self._keeper in ready:
                order = self._order()
                if order is None:
                    os._exit(0)  # the workers notice the end of their own lines
                pid = os.fork()
                if pid == 0:
                    self._leave(order)
                    return order.line
                self._tell_birth(pid, order)

    def _order(self) -> _Order | None:
        """The next order; None if the keeper is gone."""
        size, descriptors, _, _ = socket.recv_fds(self._keeper, SIZE.size, 5)
        wanted = SIZE.unpack(size)[0] if size else 0
        text = self._keeper.recv(wanted, socket.MSG_WAITALL)
        if not wanted or len(text) < wanted:
            return None
        line, cord, folder, out, err = descriptors
        return _Order(line, socket.socket(fileno=cord), folder, out, err, json.loads(text))

    def _tell_birth(self, pid: int, order: _Order) -> None:
        for descriptor in (order.line, order.folder, order.out, order.err):
            os.close(descriptor)
        self._cords[pid] = order.cord
        found = processes.identify(pid)  # before it is reaped, so that nobody else can have its pid
        _tell(order.cord, BIRTH.pack(found.pid, found.started) if found else BIRTH.pack(0, 0.0))

    def _tell_deaths(self) -> None:
        while self._cords:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if not pid:
                return
            with self._cords.pop(pid) as cord:
                _tell(cord, CODE.pack(os.waitstatus_to_exitcode(status)))

    def _leave(self, order: _Order) -> None:
        """In the worker: forget the nursery and the other workers, and begin as a new process does."""
        os.setsid()
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        for each in (self._keeper, self._deaths, self._bell, order.cord, *self._cords.values()):
            each.close()
        for source, target in ((os.open(os.devnull, os.O_RDONLY), 0), (order.out, 1), (order.err, 2)):
            os.dup2(source, target)
            os.close(source)
        os.set_inheritable(order.line, False)
        os.fchdir(order.folder)
        os.close(order.folder)
        sys.path.insert(0, "")  # as with `python -m`; a task's own folder goes before it
        os.environ.clear()
        os.environ.update(order.environment)
        time.tzset()
        if isinstance(sys.stdout, io.TextIOWrapper):
            sys.stdout.reconfigure(line_buffering=os.isatty(1))


def _tell(cord: socket.socket, words: bytes) -> None:
    with suppress(OSError):  # its keeper listens no more
        cord.sendall(words)


def main(descriptor: int) -> int:
    """Be the nursery of the process at the other end of that socket, and in each fork of it a worker.

    Returns:
        The exit code of a worker; the nursery itself never returns.

    Raises:
        RuntimeError: an import has started a thread, so that a fork would not be safe.
    """
    import sqlalchemy.dialects.sqlite  # noqa: F401  what a worker would import by and by
    from PIL import Image

    from browser_agent.keeper import worker

    Image.init()
    if threading.active_count() > 1:
        raise RuntimeError(f"an import has started a thread: {threading.enumerate()}")
    gc.freeze()  # what is there now is shared with the workers, never collected, never copied
    return worker.main(_ForkServer(socket.socket(fileno=descriptor)).serve())
