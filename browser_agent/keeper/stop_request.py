"""Requests to stop, from SIGINT, SIGTERM or another thread. No other module handles these signals."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from queue import SimpleQueue

STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class StopRequest:
    """Asks a part of this process to stop: once = after the gesture in hand, twice = at once.

    Any thread and any signal handler may ask, because this takes no lock that the interrupted code could hold.
    """

    def __init__(self) -> None:
        self._asked = SimpleQueue[None]()
        self._wake: Callable[[], object] = lambda: None

    def ask(self) -> None:
        """Ask, or ask again."""
        self._asked.put(None)
        with suppress(RuntimeError):  # the loop to wake has just been closed
            self._wake()

    def wait(self) -> None:
        """Block this thread until somebody asks."""
        self._asked.get()

    @contextmanager
    def heard_by(self, stop: Callable[[], object]) -> Iterator[None]:
        """Call `stop` in the running loop for each request, including earlier ones."""
        loop = asyncio.get_running_loop()

        def deliver() -> None:
            while not self._asked.empty():
                self._asked.get()
                stop()

        self._wake = lambda: loop.call_soon_threadsafe(deliver)
        self._wake()
        try:
            yield
        finally:
            self._wake = lambda: None


@contextmanager
def stop_signals(call: Callable[[], object]) -> Iterator[None]:
    """Make SIGINT and SIGTERM call `call` instead of ending the process.

    Only the main thread receives signals; in any other thread this does nothing.

    Args:
        call: must not take a lock, because it may interrupt the code that holds it.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    loop, before = running_loop(), {number: signal.getsignal(number) for number in STOP_SIGNALS}
    for number in STOP_SIGNALS:
        if loop is not None:  # wakes a waiting loop, whichever thread the system interrupts
            loop.add_signal_handler(number, call)
        else:
            signal.signal(number, lambda *_: call())
    try:
        yield
    finally:
        for number, handler in before.items():
            if loop is not None:
                loop.remove_signal_handler(number)
            signal.signal(number, handler if handler is not None else signal.SIG_DFL)


def ignore_interrupts() -> None:
    """Ignore Ctrl-C in this process: its parent handles it, and asks this process to stop in another way."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def running_loop() -> asyncio.AbstractEventLoop | None:
    """The event loop that runs in this thread, if there is one."""
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None
