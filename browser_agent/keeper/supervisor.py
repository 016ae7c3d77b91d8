"""Supervises a worker: ends it if it is stopped, takes too long for a step, uses too much memory, or waits for a dead
browser.

It also notices the worker's death if another process still holds the worker's end of the channel.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from browser_agent import processes
from browser_agent.browser.chromium import Chromium
from browser_agent.keeper.run_end import LateStep
from browser_agent.processes import ProcessId

CHECK_SECONDS = 0.5
STOPPED_SECONDS = 5.0
"""How long a worker may be stopped (SIGSTOP) before it is ended and the next one starts."""
LOST_SECONDS = 60.0
"""How long a browser that the keeper didn't end may be dead before its worker is ended. Playwright usually reports the
death at once, but one call was seen to wait for ever (measured)."""
MEMORY_CHECK_SECONDS = 2.0


@dataclass
class Supervisor:
    """Supervises one worker.

    Args:
        worker: the worker.
        browser: returns the browser that it uses at the moment.
        notify: shows an event, by kind and words, to the person who watches.
        memory_mb: how much memory both may use together; None = no limit.
        step_seconds: how long a step may take; None = no limit.
        lost: whether that browser has died although the keeper didn't end it.
        lost_seconds: see `LOST_SECONDS`.

    Attributes:
        because: why the worker was ended, without a value of the task; "" if it wasn't, or was only stopped.
        late: the step that took too long, if the worker was ended for that.
    """

    worker: ProcessId
    browser: Callable[[], Chromium | None]
    notify: Callable[[str, str], None]
    memory_mb: float | None = None
    step_seconds: float | None = None
    lost: Callable[[], bool] = lambda: False
    lost_seconds: float = LOST_SECONDS
    because: str = field(default="", init=False)
    late: LateStep | None = field(default=None, init=False)
    _step: tuple[str, str, float] = field(default=("", "", 0.0), init=False)  # name, call, when its time begins
    _late_once: tuple[str, str, float] | None = field(default=None, init=False)
    _stopped_since: float | None = field(default=None, init=False)
    _lost_since: float | None = field(default=None, init=False)
    _measured: float = field(default=0.0, init=False)

    def at_step(self, name: str, call: str, seconds: float) -> None:
        """Record the worker's current step.

        Args:
            name: the step; "" = none.
            call: the step with its arguments.
            seconds: added to its time limit: waiting that isn't the step's own.
        """
        self._step = (name, call, time.monotonic() + seconds)

    async def supervise(self, died: Callable[[], None]) -> None:
        """Check the worker until it is dead.

        Args:
            died: called when the worker is dead and its reports could be read.
        """
        while True:
            await asyncio.sleep(CHECK_SECONDS)
            if not processes.alive(self.worker):
                await asyncio.sleep(CHECK_SECONDS)  # its channel usually ends meanwhile, which ends this task
                died()
                return
            await self._check_stopped()
            await self._check_step()
            await self._check_browser()
            await self._check_memory()

    async def _check_stopped(self) -> None:
        now = time.monotonic()
        self._stopped_since = (self._stopped_since or now) if processes.stopped(self.worker) else None
        if self._stopped_since is not None and now - self._stopped_since > STOPPED_SECONDS:
            self.notify("worker_stopped", "The worker is stopped (SIGSTOP) and nothing resumes it; it is ended.")
            await asyncio.to_thread(processes.end, [self.worker])

    async def _check_step(self) -> None:
        """End a worker that is late at the same step in two checks, since its report of the next step may be unread."""
        name, call, since = self._step
        if self.step_seconds is None or not name or time.monotonic() - since <= self.step_seconds:
            return
        if self._late_once != self._step:
            self._late_once = self._step
            return
        self.late = LateStep(name, call, self.step_seconds)
        self.because = str(self.late)
        self.notify("step_too_long", f"The worker is ended: {self.late.in_full}.")
        await asyncio.to_thread(processes.end, [self.worker])

    async def _check_browser(self) -> None:
        now = time.monotonic()
        self._lost_since = (self._lost_since or now) if self.lost() else None
        if self._lost_since is not None and now - self._lost_since > self.lost_seconds:
            self.because = "its browser was dead, and it did not notice"
            self.notify("worker_waits", f"The worker is ended: {self.because}.")
            await asyncio.to_thread(processes.end, [self.worker])

    async def _check_memory(self) -> None:
        if self.memory_mb is None or time.monotonic() - self._measured < MEMORY_CHECK_SECONDS:
            return
        browser = self.browser()
        roots = [self.worker, *([browser.process] if browser is not None else [])]
        found = await asyncio.to_thread(processes.memory_mb, roots)
        self._measured = time.monotonic()
        if found <= self.memory_mb:
            return
        self.because = f"with its browser it used {found:.0f} MB, above the limit of {self.memory_mb:.0f} MB"
        self.notify("worker_too_large", f"The worker is ended: {self.because}.")
        if browser is not None:
            await asyncio.to_thread(browser.end)
        await asyncio.to_thread(processes.end, [self.worker])
