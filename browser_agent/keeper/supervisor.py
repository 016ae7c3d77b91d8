"""A keeper's eye on its worker: dead though something else holds its line, stopped, too long at one step, too large, or
waiting for a browser that is dead.

Ends only the worker and the browser that it was given. What may never happen: the worker's death is told before what
it has said last was read.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from browser_agent import processes
from browser_agent.browser.chromium import Chromium
from browser_agent.processes import ProcessId

WATCH_SECONDS = 0.5
STOPPED_SECONDS = 5.0
"""How long a worker may be stopped (SIGSTOP) before it is ended and followed by another."""
LOST_SECONDS = 60.0
"""How long a browser may be dead, and not by our hand, before the worker is ended: mostly Playwright tells it at once,
but a call was seen to wait for ever (measured)."""
WEIGH_SECONDS = 2.0
"""How often its memory is looked at, where that is limited."""


@dataclass
class Supervisor:
    """Oversees one worker.

    Args:
        worker: the worker.
        browser: the browser that is held for it at the moment.
        say: tells the person who watches.
        lost: whether that browser has died without having been ended.
        lost_seconds: how long it may be so.
        memory_mb: how much both may use together; None = any.
        step_seconds: how long it may be at a step; None = for ever.

    Attributes:
        because: why it was ended here, in words without a value; empty if it wasn't.
        late: the same with the step as it was called, where it was ended since that took too long; else empty.
    """

    worker: ProcessId
    browser: Callable[[], Chromium | None]
    say: Callable[[str, str], None]
    memory_mb: float | None = None
    step_seconds: float | None = None
    lost: Callable[[], bool] = lambda: False
    lost_seconds: float = LOST_SECONDS
    because: str = field(default="", init=False)
    late: str = field(default="", init=False)
    _at: tuple[str, float] = field(default=("", 0.0), init=False)
    _seen_late: tuple[str, float] | None = field(default=None, init=False)
    _stopped_since: float | None = field(default=None, init=False)
    _lost_since: float | None = field(default=None, init=False)
    _weighed: float = field(default=0.0, init=False)

    def at(self, step: str, seconds: float) -> None:
        """The worker says at which step it is (none: empty), and what will take so long without being the step's."""
        self._at = (step, time.monotonic() + seconds)

    async def oversee(self, reader: asyncio.StreamReader) -> None:
        """Go on until the worker is dead; then end its line, and with it what waits for its words."""
        while True:
            await asyncio.sleep(WATCH_SECONDS)
            if not processes.alive(self.worker):
                await asyncio.sleep(WATCH_SECONDS)  # what it said last is read first; then this is over by itself
                reader.feed_eof()
                return
            await self._see_stopped()
            await self._see_late()
            await self._see_lost()
            await self._weigh()

    async def _see_stopped(self) -> None:
        now = time.monotonic()
        self._stopped_since = (self._stopped_since or now) if processes.stopped(self.worker) else None
        if self._stopped_since is not None and now - self._stopped_since > STOPPED_SECONDS:
            self.say("worker_stopped", "The worker is stopped and does not go on; it is ended.")
            await asyncio.to_thread(processes.end, [self.worker])

    async def _see_late(self) -> None:
        """It is late if it still is a glance later: what it has said meanwhile may wait to be read."""
        step, since = self._at
        if self.step_seconds is None or not step or time.monotonic() - since <= self.step_seconds:
            return
        if self._seen_late != self._at:
            self._seen_late = self._at
            return
        took = f"took longer than {self.step_seconds:g} s"
        self.late, self.because = f"the step {step} {took}", f"the step {step.partition('(')[0]} {took}"
        self.say("step_too_long", f"The worker is ended: {self.late}.")
        await asyncio.to_thread(processes.end, [self.worker])

    async def _see_lost(self) -> None:
        now = time.monotonic()
        self._lost_since = (self._lost_since or now) if self.lost() else None
        if self._lost_since is not None and now - self._lost_since > self.lost_seconds:
            self.because = "its browser was dead, and it did not notice"
            self.say("worker_waits", f"The worker is ended: {self.because}.")
            await asyncio.to_thread(processes.end, [self.worker])

    async def _weigh(self) -> None:
        if self.memory_mb is None or time.monotonic() - self._weighed < WEIGH_SECONDS:
            return
        browser = self.browser()
        roots = [self.worker, *([browser.process] if browser is not None else [])]
        found = await asyncio.to_thread(processes.memory_mb, roots)
        self._weighed = time.monotonic()
        if found <= self.memory_mb:
            return
        self.because = f"with its browser it used {found:.0f} MB, above the limit of {self.memory_mb:.0f} MB"
        self.say("worker_too_large", f"The worker is ended: {self.because}.")
        if browser is not None:
            await asyncio.to_thread(browser.end)
        await asyncio.to_thread(processes.end, [self.worker])
