"""In which order requests leave the browser: one write after the other, and no read beside a write that leaves.

A write is to leave on a fresh connection, so all connections are closed before it. That would cut off the HTTP/2 answer
to an earlier write, which is therefore waited for; and a read that the browser ranks higher would be quicker and leave
a used connection behind for the write, so reads wait until the write is answered (both measured).

Knows nothing of browsers or fences. What may never happen: somebody waits without an end.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from browser_agent.browser.interception import Paused

PATIENCE_SECONDS = 3.0
"""How long a write waits for an answer to one that left before it."""
BODY_SECONDS = 1.0
"""How long after its head the rest of such an answer may take; a page that never reads it never tells its end."""
READS_SECONDS = 0.5
"""How long reads wait for the answer to a write: longer than it takes to make a connection."""


class Leaving:
    """The way out of one browser."""

    def __init__(self) -> None:
        self._turn = asyncio.Lock()
        self._reads = asyncio.Event()
        self._reads.set()
        self._reads_later: asyncio.TimerHandle | None = None
        self._under_way: dict[Paused, asyncio.Event] = {}

    async def read(self) -> None:
        """Return when a read may leave."""
        await self._reads.wait()

    @asynccontextmanager
    async def turn(self, write: Paused, *, may_cut_off: Callable[[Paused], bool]) -> AsyncIterator[bool]:
        """The turn of one write: no other write and no read leaves meanwhile.

        Gives whether connections may be closed. Not so if an earlier write is still without an answer after
        `PATIENCE_SECONDS`, unless all of those may be cut off.

        Args:
            write: whose turn it is; say `left` when it has been let go.
            may_cut_off: whether an earlier write is worth less than a fresh connection for this one.
        """
        async with self._turn:
            await self._earlier_ones()
            self._stop_reads()
            try:
                yield all(may_cut_off(earlier) for earlier in self._under_way)
            finally:
                self._let_reads_go(READS_SECONDS if write in self._under_way else 0)

    def left(self, write: Paused) -> None:
        """It has been let go, and its end is waited for."""
        self._under_way[write] = asyncio.Event()

    def answered(self, write: Paused, *, more: bool) -> None:
        """The head of its answer came, or its end; `more` = the rest may still be on its way to a living page."""
        self._let_reads_go(0)
        if more:
            asyncio.get_running_loop().call_later(BODY_SECONDS, self.over, write)
        else:
            self.over(write)

    def over(self, write: Paused) -> None:
        """Nothing of it is under way any more."""
        ended = self._under_way.pop(write, None)
        if ended is not None:
            ended.set()

    @property
    def under_way(self) -> tuple[Paused, ...]:
        """The writes that left and have not ended, the oldest first."""
        return tuple(self._under_way)

    def forget(self) -> None:
        """Wait for nothing of an earlier gesture."""
        for write in self.under_way:
            self.over(write)

    async def _earlier_ones(self) -> None:
        waiting = [asyncio.ensure_future(ended.wait()) for ended in self._under_way.values()]
        if waiting:
            await asyncio.wait(waiting, timeout=PATIENCE_SECONDS)
        for each in waiting:
            each.cancel()

    def _stop_reads(self) -> None:
        self._reads.clear()
        if self._reads_later is not None:
            self._reads_later.cancel()

    def _let_reads_go(self, seconds: float) -> None:
        if seconds:
            self._stop_reads()
            self._reads_later = asyncio.get_running_loop().call_later(seconds, self._reads.set)
        else:
            self._reads.set()
