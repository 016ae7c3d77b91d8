"""A deadline for one Playwright call: `page.evaluate` and CDP's `send` and `detach` have none of their own.

A page with an open dialog, a busy script or a stopped Chromium never answers them (waits of 35 s and more were seen).
This works for the sync API: while our code runs, Playwright's event loop is the running loop of this thread. Only the
call itself is cancelled, never a call that an event listener makes meanwhile.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Generator
from typing import Any, TypeVar

T = TypeVar("T")
_Work = Coroutine[Any, Any, Any] | Generator[Any, None, Any]  # as typeshed has it


class DeadlinePassed(Exception):
    """The page didn't answer in time. It may still do what was asked, so ask it only to read."""


def within(seconds: float, call: Callable[[], T]) -> T:
    """Make one Playwright call, and stop waiting for it at a deadline.

    Args:
        seconds: the longest time to wait.
        call: makes exactly one call of Playwright's sync API. The browser may still carry it out: never pass a gesture.

    Raises:
        DeadlinePassed: there was no answer in that time.
    """
    loop = asyncio.get_running_loop()
    previous = loop.get_task_factory()
    waiting: list[asyncio.Task[Any]] = []
    passed = False

    def capture_first(running: asyncio.AbstractEventLoop, coroutine: _Work, /, **rest: Any) -> asyncio.Task[Any]:
        running.set_task_factory(previous)
        waiting.append(asyncio.Task(coroutine, loop=running, **rest))
        return waiting[0]

    def cut() -> None:
        nonlocal passed
        passed = True
        for task in waiting:
            task.cancel()

    timer = loop.call_later(max(seconds, 0.0), cut)
    loop.set_task_factory(capture_first)
    try:
        return call()
    except asyncio.CancelledError:
        if not passed:
            raise
        raise DeadlinePassed(
            f"no answer within {seconds:.1f} s (an open dialog, a busy script or a dead page)"
        ) from None
    finally:
        timer.cancel()
        loop.set_task_factory(previous)
