"""Strikes: what ends, or stops, a part of a running attempt on purpose, so that a test sees that its task survives it.

Called by the keeper at the point that `KillAt` names, and never otherwise. What may never happen: a process is struck
that is not the one that was named.
"""

from __future__ import annotations

import os
import signal
import time
from contextlib import suppress
from typing import assert_never

import psutil

from browser_agent import processes
from browser_agent.browser.chromium import Chromium
from browser_agent.processes import ProcessId
from browser_agent.states import Victim

GLANCE_SECONDS = 0.01


def inject(victim: Victim, *, worker: ProcessId | None, driver: ProcessId | None, browser: Chromium | None) -> None:
    """Strike the victim and see it struck; nothing if there is none at the moment.

    Args:
        victim: whom.
        worker: the attempt's worker.
        driver: the worker's Playwright driver.
        browser: the run's Chromium; only its main process is struck, as the system's memory killer would.
    """
    match victim:
        case Victim.WORKER:
            _end(worker)
        case Victim.STOPPED_WORKER:
            _stop(worker)
        case Victim.DRIVER:
            _end(driver)
        case Victim.BROWSER:
            if browser is not None:
                _signal(browser.process, signal.SIGKILL)
        case Victim.TABS:
            for renderer in _renderers(browser):
                _signal(renderer, signal.SIGKILL)
        case Victim.KEEPER:
            os.kill(os.getpid(), signal.SIGKILL)
        case Victim.STOPPED_KEEPER:
            os.kill(os.getpid(), signal.SIGSTOP)
        case _:
            assert_never(victim)


def _end(process: ProcessId | None) -> None:
    if process is not None:
        _signal(process, signal.SIGKILL)
        processes.end([process])


def _stop(process: ProcessId | None) -> None:
    """Stop it and see it stopped: the signal takes a moment to reach all of its threads."""
    _signal(process, signal.SIGSTOP)
    while process is not None and processes.alive(process) and not processes.stopped(process):
        time.sleep(GLANCE_SECONDS)


def _signal(process: ProcessId | None, number: signal.Signals) -> None:
    if process is not None and processes.alive(process):
        with suppress(ProcessLookupError):  # it died between the two lines
            os.kill(process.pid, number)


def _renderers(browser: Chromium | None) -> list[ProcessId]:
    """The processes that the pages live in."""
    found = processes.tree(browser.process) if browser is not None else frozenset()
    return [each for each in found if "--type=renderer" in _command(each)]


def _command(process: ProcessId) -> list[str]:
    try:
        return psutil.Process(process.pid).cmdline()
    except psutil.NoSuchProcess:
        return []
