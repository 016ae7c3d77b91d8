"""A lease held by this process: claimed, renewed by heartbeats, checked before anything is sent, ended with an
attestation.

Two clocks limit it: the database's, which other hosts see, and this process's monotonic one, which nobody can set.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

from browser_agent.errors import InOtherHands, MachineTrouble, StoreUnusable, Superseded
from browser_agent.options import Options
from browser_agent.ownership.engine import Engine, EngineOrder
from browser_agent.ownership.leftovers import earlier_attempts, unblock_store
from browser_agent.ownership.takeover import last_attempt, own_process, take_over
from browser_agent.reporting import log
from browser_agent.store import AttemptEnd, Lease, Store
from browser_agent.store.records import AttemptRow

ENGINE_POLL_SECONDS = 0.5


class RenewedLease:
    """A lease that this process renews.

    Args:
        store: where the run is stored.
        lease: the lease, claimed just now.

    Attributes:
        lease: the lease of the current attempt.
        lost: another attempt owns the run; it is never renewed again.
    """

    def __init__(self, store: Store, lease: Lease) -> None:
        self._store, self.lease = store, lease
        self.lost = False
        self._renewed = time.monotonic()

    def renew(self, progress: str | None = None) -> None:
        """Send one heartbeat.

        Args:
            progress: how far the run has come, in words; None leaves what was stored before.

        Raises:
            StoreUnusable: the store can't be written; the lease runs on, and `check` soon refuses.
            Superseded: another attempt owns the run.
        """
        now = time.monotonic()  # taken first: the lease can't end earlier than this tells
        try:
            self._store.leases.beat(self.lease, progress)
        except Superseded:
            self.lost = True
            raise
        self._renewed = now

    def check(self) -> None:
        """Raise `MachineTrouble` if too little of the lease is left to send anything."""
        if time.monotonic() - self._renewed > self._store.times.lease - self._store.times.release:
            raise MachineTrouble("the lease was not renewed in time")

    @contextmanager
    def renewed_by_thread(self) -> Iterator[None]:
        """Renew it from a thread until the block is left, for a process whose own threads belong to somebody else."""
        over = threading.Event()

        def beat() -> None:
            while not over.wait(self._store.times.beat):
                try:
                    self.renew()
                except StoreUnusable:
                    continue
                except Superseded:
                    return  # the next fence raises it, where it can be handled

        thread = threading.Thread(target=beat, name="browser-agent lease", daemon=True)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()


@dataclass(frozen=True)
class LeaseEvents:
    """What a keeper does while it holds a lease.

    Args:
        progress: how far the run has come, in words; sent with each heartbeat.
        lost: called when the run belongs to another attempt: nothing more may be sent. May be called again.
        stop: finish the gesture in hand, then release the run. May be called again.
        notify: shows an event, by kind and words, to the person who watches.
    """

    progress: Callable[[], str]
    lost: Callable[[], Awaitable[None]]
    stop: Callable[[], None]
    notify: Callable[[str, str], None]


class HeldLease(RenewedLease):
    """A keeper's lease on its run, across the attempts that follow one another. See the module.

    Args:
        store: where the run is stored.
        run: its id.
        options: how it is kept.
        engine: the engine that the keeper obeys.
    """

    def __init__(self, store: Store, run: str, options: Options, engine: Engine) -> None:
        super().__init__(store, Lease(run, 0, ""))
        self._run, self._options, self._engine = run, options, engine
        self._changing = asyncio.Lock()  # the lease is being renewed, or followed by the next attempt's

    async def claim(self, after: int | None) -> AttemptRow | None:
        """Take the run over, and return the attempt before this one.

        Args:
            after: take it only if that attempt is still the last; None = whichever is.

        Raises:
            InOtherHands, NotAllowed, Superseded: see `take_over`.
            StillAlive: a stopped process holds the store, and can't be ended.
        """
        if unblocked := await asyncio.to_thread(unblock_store, self._store):
            log.LOGGER.warning(unblocked)
        previous = await asyncio.to_thread(last_attempt, self._store, self._run)
        if after is not None and (previous.number if previous else 0) != after:
            raise InOtherHands(f"Run {self._run} was taken over meanwhile. Nothing was done.")
        self._renewed = time.monotonic()
        how = {"of_queue": self._options.queued, "only_look": self._options.only_look}
        take = partial(take_over, self._store, self._run, previous, engine=self._engine, **how)
        self.lease = await asyncio.to_thread(take)
        return previous

    async def claim_next(self) -> None:
        """Begin the next attempt, after the death of a worker."""
        claim = partial(self._store.leases.claim, only_look=self._options.only_look)
        async with self._changing:  # no heartbeat of the old lease may be under way
            after, self._renewed = self.lease.attempt, time.monotonic()
            own = own_process(self._engine)
            self.lease = await asyncio.to_thread(claim, self._run, keeper=own, keeper_dead=True, after=after)

    @asynccontextmanager
    async def renewed(self, events: LeaseEvents) -> AsyncIterator[None]:
        """Send heartbeats and obey the engine until the block is left."""
        tasks = [asyncio.create_task(self._beat(events)), asyncio.create_task(self._obey(events))]
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()

    async def fence(self) -> None:
        """Ask the engine whether the run is still ours. Raises `Superseded` if it isn't."""
        try:
            await self._engine.fence()
        except Superseded:
            self.lost = True
            raise

    async def record(self, **facts: Any) -> None:
        """Store facts in the current attempt's row."""
        await asyncio.to_thread(self._store.leases.record, self.lease, **facts)

    async def end_attempt(self, end: AttemptEnd, lease: Lease | None = None) -> None:
        """Store how an attempt ended: the current one, unless another is given."""
        await asyncio.to_thread(self._store.leases.end_attempt, lease or self.lease, end)

    async def attest(self) -> None:
        """Attest, for other hosts, that all that this keeper and earlier ones here had started was confirmed dead."""
        numbers = [*(row.number for row in earlier_attempts(self._store, self.lease)), self.lease.attempt]
        await asyncio.to_thread(self._store.deaths.attest, self._run, numbers, own_process())

    async def _beat(self, events: LeaseEvents) -> None:
        while True:
            await asyncio.sleep(self._store.times.beat)
            try:
                async with self._changing:
                    await asyncio.to_thread(self.renew, events.progress())
            except StoreUnusable as unusable:
                events.notify("store", str(unusable))
            except Superseded:
                await events.lost()
                return

    async def _obey(self, events: LeaseEvents) -> None:
        """Carry out the engine's orders when they arrive."""
        while True:
            await asyncio.sleep(ENGINE_POLL_SECONDS)
            order = self._engine.latest_order()
            if self.lost or order is EngineOrder.REVOKED:
                self.lost = True
                await events.lost()  # again: another worker may have been starting meanwhile
            elif order is EngineOrder.STOP:
                events.stop()
