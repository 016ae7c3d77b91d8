"""The person at this machine: whether there is a display and a terminal, and what is answered at the terminal.

A keeper's loop never blocks on the terminal: `confirmed` waits for it beside the request to stop.
"""

from __future__ import annotations

import asyncio
import os
import select
import sys
import termios
from collections.abc import Callable
from typing import Any

from browser_agent.processes import own_user


def watcher() -> str | None:
    """The account of the person who watches this process at a terminal; None if it runs unattended."""
    return own_user() if at_a_terminal() else None


def has_display() -> bool:
    """Whether a browser window can be shown here."""
    return sys.platform != "linux" or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def at_a_terminal() -> bool:
    """Whether standard input is a terminal."""
    return sys.stdin is not None and sys.stdin.isatty()


async def confirmed(ask: Callable[[], None], stopping: asyncio.Event) -> bool:
    """Put a question and wait for Enter at the terminal.

    Args:
        ask: puts the question. Keys pressed before it are discarded, so that they can't answer it.
        stopping: set when the run is asked to stop, which wins over any key.

    Returns:
        True for Enter; False if the run was asked to stop, or the terminal was closed (Ctrl-D).
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


def enter_pressed() -> bool:
    """Whether Enter was pressed at the terminal since the last call. Doesn't wait."""
    if not at_a_terminal() or not select.select([sys.stdin], [], [], 0)[0]:
        return False
    return _line(sys.stdin.fileno()) != b""


def _line(terminal: int) -> bytes:
    """What was typed; nothing if the terminal is gone."""
    try:
        return os.read(terminal, 4096)
    except OSError:
        return b""
