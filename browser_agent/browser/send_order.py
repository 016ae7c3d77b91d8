"""The order in which requests leave the browser: one write after another, and no read while a write leaves.

A write leaves on a fresh connection, so all connections are closed before it. That would cut off the HTTP/2 response to
an earlier write, so a write waits for that response. A read with a higher priority would overtake the write and leave a
used connection for it, so reads wait until the write is answered (both measured). So would a read that was released
just before and starts only after the connections were closed, so the write waits for such reads. Every wait here has a
limit.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from browser_agent.browser.interception import PausedRequest

PATIENCE_SECONDS = 3.0
"""How long a write waits for the response to an earlier write."""
BODY_SECONDS = 1.0
"""How long the body of such a response may take; a page that never reads it never reports its end."""
READS_SECONDS = 0.5
"""How long reads wait for the response to a write: longer than it takes to open a connection. So long a released read
may take until it has a connection; after that, it returns none that could be used again once all were closed."""


class SendOrder:
    """The send order of one browser."""

    def __init__(self) -> None:
        self._write_lock = asyncio.Lock()
        self._reads_free = asyncio.Event()
        self._reads_free.set()
        self._reads_timer: asyncio.TimerHandle | None = None
        self._unended: dict[PausedRequest, asyncio.Event] = {}
        self._starting: dict[PausedRequest, asyncio.Event] = {}

    async def read_turn(self, read: PausedRequest) -> None:
        """Wait until a read may leave; it must be released at once."""
        while not self._reads_free.is_set():  # a write may have had its turn again before a waiting read runs
            await self._reads_free.wait()
        self._starting[read] = asyncio.Event()
        asyncio.get_running_loop().call_later(READS_SECONDS, self.read_ended, read)

    def read_ended(self, read: PausedRequest) -> None:
        """Record that a read has ended, or must have a connection by now."""
        end = self._starting.pop(read, None)
        if end is not None:
            end.set()

    @asynccontextmanager
    async def write_turn(
        self, write: PausedRequest, *, may_cut_off: Callable[[PausedRequest], bool]
    ) -> AsyncIterator[bool]:
        """The turn of one write: no other write and no read leaves during it.

        Yields whether connections may be closed: not if an earlier write is still unanswered after `PATIENCE_SECONDS`,
        unless all such writes may be cut off.

        Args:
            write: the write; call `sent` when it has been released.
            may_cut_off: whether an earlier write is worth less than a fresh connection for this one.
        """
        async with self._write_lock:
            await self._wait_for_earlier()
            self._block_reads()
            for starting in tuple(self._starting.values()):
                await starting.wait()
            try:
                yield all(may_cut_off(earlier) for earlier in self._unended)
            finally:
                self._free_reads(READS_SECONDS if write in self._unended else 0)

    def sent(self, write: PausedRequest) -> None:
        """Record that a write was released; later writes wait for its end."""
        self._unended[write] = asyncio.Event()

    def answered(self, write: PausedRequest, *, more: bool) -> None:
        """Record a write's response head or error; `more` = a living page may still be reading the body."""
        self._free_reads(0)
        if more:
            asyncio.get_running_loop().call_later(BODY_SECONDS, self.ended, write)
        else:
            self.ended(write)

    def ended(self, write: PausedRequest) -> None:
        """Record that a write has ended."""
        end = self._unended.pop(write, None)
        if end is not None:
            end.set()

    @property
    def unended(self) -> tuple[PausedRequest, ...]:
        """The writes that were sent and have not ended, oldest first."""
        return tuple(self._unended)

    @property
    def starting(self) -> tuple[PausedRequest, ...]:
        """The reads that may not have started yet, oldest first."""
        return tuple(self._starting)

    def reset(self) -> None:
        """Stop waiting for the writes of an earlier gesture."""
        for write in self.unended:
            self.ended(write)

    async def _wait_for_earlier(self) -> None:
        waiting = [asyncio.ensure_future(ended.wait()) for ended in self._unended.values()]
        if waiting:
            await asyncio.wait(waiting, timeout=PATIENCE_SECONDS)
        for each in waiting:
            each.cancel()

    def _block_reads(self) -> None:
        self._reads_free.clear()
        if self._reads_timer is not None:
            self._reads_timer.cancel()

    def _free_reads(self, seconds: float) -> None:
        if seconds:
            self._block_reads()
            self._reads_timer = asyncio.get_running_loop().call_later(seconds, self._reads_free.set)
        else:
            self._reads_free.set()
