"""A person who attends a run at this machine: a screen to watch the browser on, a terminal to let each gesture through.

Knows nothing of runs, workers or stores. What may never happen: a key pressed before the question counts as a yes; an
Enter after the run was asked to stop lets a gesture through; a wait for the terminal keeps the keeper from its work.
"""

from __future__ import annotations

import asyncio
import os
import select
import signal
import sys
import termios
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from browser_agent.errors import Misuse
from browser_agent.options import Options
from browser_agent.processes import own_user


def check_attended(options: Options) -> None:
    """Look whether a person can attend the run as the options want it, before anything starts.

    Raises:
        Misuse: a browser window is wanted and there is no display, or a pause is and there is no terminal.
    """
    if options.headed and not has_display():
        raise Misuse(
            "There is no display to show the browser on (DISPLAY and WAYLAND_DISPLAY are not set): leave --headed out, "
            "or start it under xvfb-run. Nothing was started."
        )
    if options.pause_before_gesture and not _at_a_terminal():
        raise Misuse(
            "--pause-before-gesture needs a terminal to answer at, and standard input is none. Nothing was started."
        )


def watcher() -> str | None:
    """Who watches what this process does: its account, if it has a terminal. None = nobody: it runs unattended."""
    return own_user() if _at_a_terminal() else None


def has_display() -> bool:
    """Whether a browser's window could be shown here."""
    return sys.platform != "linux" or bool(os.environ.get("DISPLAY") or _wayland())


async def said_go(ask: Callable[[], None], stopping: asyncio.Event) -> bool:
    """Ask, and wait for Enter at the terminal.

    Args:
        ask: puts the question. What was typed before it is no answer; what is typed at once after it is one.
        stopping: set when the run is asked to stop; that wins, whatever is typed.

    Returns:
        True for Enter; False if the run was asked to stop, or the terminal has ended (Ctrl-D).
    """
    loop, terminal = asyncio.get_running_loop(), sys.stdin.fileno()
    typed: asyncio.Future[bytes] = loop.create_future()
    stop = loop.create_task(stopping.wait())
    either: set[asyncio.Future[Any]] = {typed, stop}

    def read() -> None:
        loop.remove_reader(terminal)
        typed.set_result(_line(terminal))

    termios.tcflush(terminal, termios.TCIFLUSH)
    ask()
    loop.add_reader(terminal, read)
    try:
        await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
    finally:
        loop.remove_reader(terminal)
        stop.cancel()
    return not stopping.is_set() and typed.done() and typed.result() != b""


class interrupts:
    """SIGINT and SIGTERM call back in the loop instead of ending it; only possible in the main thread."""

    def __init__(self, asked: Callable[[], None]) -> None:
        self._asked = asked

    def __enter__(self) -> None:
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                asyncio.get_running_loop().add_signal_handler(number, self._asked)

    def __exit__(self, *_: object) -> None:
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                asyncio.get_running_loop().remove_signal_handler(number)


class StopAsked:
    """Asks a keeper in whatever thread to stop: once = after the gesture in hand, twice = at once. For any thread."""

    def __init__(self) -> None:
        self._lock, self._times = threading.Lock(), 0
        self._call: Callable[[], object] | None = None

    def ask(self) -> None:
        """Ask, or ask again."""
        with self._lock:
            self._times += 1
            if self._call is not None:
                self._call()

    @contextmanager
    def heard_by(self, asked: Callable[[], None]) -> Iterator[None]:
        """Have each asking call back in the running loop, also those that came before."""
        loop = asyncio.get_running_loop()
        with self._lock:
            self._call = lambda: loop.call_soon_threadsafe(asked)
            for _ in range(self._times):
                self._call()
        try:
            yield
        finally:
            with self._lock:
                self._call = None


def _line(terminal: int) -> bytes:
    """What was typed; nothing if the terminal is gone."""
    try:
        return os.read(terminal, 4096)
    except OSError:
        return b""


def _wayland() -> str:
    return os.environ.get("WAYLAND_DISPLAY", "")


def enter_pressed() -> bool:
    """Whether Enter was pressed at the terminal since this was asked last. Waits for nothing."""
    if not _at_a_terminal() or not select.select([sys.stdin], [], [], 0)[0]:
        return False
    return _line(sys.stdin.fileno()) != b""


def _at_a_terminal() -> bool:
    return sys.stdin is not None and sys.stdin.isatty()
