"""A keeper's hold on its run: taken over, renewed by beats, checked before anything leaves, lost, attested at its end.

Two may take it away: the store (another attempt) and the engine above, if there is one. What may never happen: a gate
is passed on a lease that was not renewed in time, by a clock that nobody can set; a lost run is renewed.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

from browser_agent.errors import InOtherHands, MachineTrouble, StoreUnusable, Superseded
from browser_agent.options import Options
from browser_agent.ownership.engine import Engine, EngineOrder
from browser_agent.ownership.leftovers import earlier, unblock
from browser_agent.ownership.takeover import last_attempt, own_process, take_over
from browser_agent.reporting import log
from browser_agent.store import Lease, Store
from browser_agent.store.records import AttemptRow

HEED_SECONDS = 0.5


@dataclass(frozen=True)
class Duties:
    """What the keeper does when its hold changes.

    Args:
        mark: how far the run has come, in words: it goes along with each beat.
        let_go: the run is another's; nothing more may leave.
        stop: finish the gesture in hand, and let go of the run; said again and again.
        say: tells the person who watches, by kind and words.
    """

    mark: Callable[[], str]
    let_go: Callable[[], Awaitable[None]]
    stop: Callable[[], None]
    say: Callable[[str, str], None]


class HeldLease:
    """See the module.

    Args:
        store: where the run is written.
        run: its id.
        options: how it is kept.
        engine: who stands above the keeper.

    Attributes:
        lease: the right of the present attempt.
        lost: the run is another's.
    """

    def __init__(self, store: Store, run: str, options: Options, engine: Engine) -> None:
        self._store, self._run, self._options, self._engine = store, run, options, engine
        self.lease = Lease(run, 0, "")
        self.lost = False
        self._beaten = 0.0  # when the lease was last renewed
        self._leasing = asyncio.Lock()

    async def take(self, after: int | None) -> AttemptRow | None:
        """Take the run over, only after that attempt if one is named; the attempt before this one.

        Raises:
            InOtherHands, NotAllowed, Superseded: see `take_over`.
            StillAlive: a stopped process holds the store, and can't be ended.
        """
        if ended := await asyncio.to_thread(unblock, self._store):
            log.LOGGER.warning(ended)
        previous = await asyncio.to_thread(last_attempt, self._store, self._run)
        if after is not None and (previous.number if previous else 0) != after:
            raise InOtherHands(f"Run {self._run} was taken over meanwhile. Nothing was done.")
        self._beaten = time.monotonic()
        how = {"of_queue": self._options.queued, "only_look": self._options.only_look}
        take = partial(take_over, self._store, self._run, previous, engine=self._engine, **how)
        self.lease = await asyncio.to_thread(take)
        return previous

    async def follow(self) -> None:
        """Begin the next attempt, after the death of a worker."""
        claim = partial(self._store.leases.claim, only_look=self._options.only_look)
        async with self._leasing:  # no beat of the old lease may be under way
            after, self._beaten = self.lease.attempt, time.monotonic()
            own = own_process(self._engine)
            self.lease = await asyncio.to_thread(claim, self._run, keeper=own, keeper_dead=True, after=after)

    @asynccontextmanager
    async def held(self, duties: Duties) -> AsyncIterator[None]:
        """Beat and heed until the block is left."""
        going = [asyncio.create_task(self._beat(duties)), asyncio.create_task(self._heed(duties))]
        try:
            yield
        finally:
            for each in going:
                each.cancel()

    async def fence(self) -> None:
        """Ask the engine whether the run is still ours. Raises `Superseded`."""
        try:
            await self._engine.fence()
        except Superseded:
            self.lost = True
            raise

    def check(self) -> None:
        """Raise `MachineTrouble` if too little of the lease is left for anything to be let go."""
        if time.monotonic() - self._beaten > self._store.times.lease - self._store.times.release:
            raise MachineTrouble("the lease was not renewed in time")

    async def note(self, **facts: Any) -> None:
        """Write facts into the present attempt's row."""
        await asyncio.to_thread(self._store.leases.record, self.lease, **facts)

    async def end_attempt(self, how: str, lease: Lease | None = None) -> None:
        """Write down how an attempt ended: the present one, unless another is named."""
        await asyncio.to_thread(self._store.leases.end_attempt, lease or self.lease, how)

    async def attest(self) -> None:
        """At its end all that it and earlier keepers here have started was seen dead: other hosts may rely on it."""
        numbers = [*(row.number for row in earlier(self._store, self.lease)), self.lease.attempt]
        await asyncio.to_thread(self._store.deaths.attest, self._run, numbers, own_process())

    async def _beat(self, duties: Duties) -> None:
        while True:
            await asyncio.sleep(self._store.times.beat)
            try:
                async with self._leasing:
                    now = time.monotonic()
                    await asyncio.to_thread(self._store.leases.beat, self.lease, duties.mark())
                    self._beaten = now
            except StoreUnusable as unusable:  # the lease runs on; without a beat in time nothing more is made
                duties.say("store", str(unusable))
            except Superseded:
                self.lost = True
                await duties.let_go()
                return

    async def _heed(self, duties: Duties) -> None:
        """Do what the engine says, when it says it."""
        while True:
            await asyncio.sleep(HEED_SECONDS)
            word = self._engine.word()
            if self.lost or word is EngineOrder.OVER:
                self.lost = True
                await duties.let_go()  # again, if another worker was being started meanwhile
            elif word is EngineOrder.STOP:
                duties.stop()
