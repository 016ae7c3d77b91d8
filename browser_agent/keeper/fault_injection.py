"""Fault injection: kills or stops a part of a running attempt on purpose, so that a test sees its task survive it.

The keeper injects a fault only at the point that `KillAt` names.
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
from browser_agent.options import KillAt
from browser_agent.processes import ProcessId
from browser_agent.states import Victim

POLL_SECONDS = 0.01
_STOPPED = {Victim.STOPPED_WORKER: ("worker", "stopped"), Victim.STOPPED_KEEPER: ("keeper", "stopped")}


def inject(victim: Victim, *, worker: ProcessId | None, driver: ProcessId | None, browser: Chromium | None) -> None:
    """Kill or stop the victim, and confirm it; do nothing if there is no such process at the moment.

    Args:
        victim: what is killed or stopped.
        worker: the attempt's worker.
        driver: the worker's Playwright driver.
        browser: the run's Chromium; only its main process is killed, as the system's out-of-memory killer would do.
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


def announcement(at: KillAt) -> str:
    """A sentence that announces the fault."""
    name, act = _STOPPED.get(at.victim, (at.victim, "killed"))
    return f"The {name} is {act} as asked, at {at.point} of gesture {at.gesture}."


def _end(process: ProcessId | None) -> None:
    if process is not None:
        _signal(process, signal.SIGKILL)
        processes.end([process])


def _stop(process: ProcessId | None) -> None:
    """Stop the process and confirm it: the signal takes a moment to reach all of its threads."""
    _signal(process, signal.SIGSTOP)
    while process is not None and processes.alive(process) and not processes.stopped(process):
        time.sleep(POLL_SECONDS)


def _signal(process: ProcessId | None, number: signal.Signals) -> None:
    if process is not None and processes.alive(process):
        with suppress(ProcessLookupError):  # it has just died
            os.kill(process.pid, number)


def _renderers(browser: Chromium | None) -> list[ProcessId]:
    """The browser's renderer processes, in which its pages run."""
    found = processes.tree(browser.process) if browser is not None else frozenset()
    return [each for each in found if "--type=renderer" in _command(each)]


def _command(process: ProcessId) -> list[str]:
    try:
        return psutil.Process(process.pid).cmdline()
    except psutil.NoSuchProcess:
        return []
