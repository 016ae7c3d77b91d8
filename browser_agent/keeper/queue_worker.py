"""A worker process: the keeper of up to N runs at once, each in a thread of its own, taken from the queue one by one.

The main thread asks the queue, beats, hears signals, and takes nothing more once it is asked to stop. Each run is kept
as `keep` keeps any run: a child process and a Chromium for each attempt. What may never happen: a run of its own that
lives is taken once more; a run is lost because the process that had it was ended.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from queue import Empty, SimpleQueue

from browser_agent.errors import InOtherHands, Misuse, NotAllowed, StoreUnusable
from browser_agent.keeper.keeper import keep
from browser_agent.options import Ended, Event, Options, Tell
from browser_agent.ownership.takeover import is_over, own_process
from browser_agent.ownership.terminal import StopAsked
from browser_agent.ownership.watchdog import Watchdog
from browser_agent.reporting import log
from browser_agent.store import Offer, Store, Work

POLL_SECONDS = (0.1, 0.2, 0.4, 0.8)
"""How long it waits before it asks the queue again while there is nothing to do; the end of a run wakes it."""
SHUN_SECONDS = 60.0
"""A run that it can't keep here (a secret that it can't have, say) is left to others for so long."""


@dataclass(frozen=True)
class WorkerLimits:
    """What a worker process is asked for.

    Args:
        concurrency: how many runs it keeps at once.
        most: so many runs are taken, and then it ends; None = it goes on.
        until_idle: it ends when it keeps nothing and there is nothing to take.
    """

    concurrency: int = 1
    most: int | None = None
    until_idle: bool = False


def shun_seconds(error: BaseException) -> float:
    """How long a run whose keeping has ended with that error is left to others.

    A store that was away is away for all: whoever reaches it first goes on.
    """
    return 0.0 if isinstance(error, StoreUnusable) else SHUN_SECONDS


class QueueWorker:
    """The runs that this process keeps.

    Args:
        store: where the runs are written.
        duty: see `WorkerLimits`.
        options: how each run is kept.
        tell: called with each event, from many threads.
    """

    def __init__(self, store: Store, duty: WorkerLimits, options: Options, tell: Tell) -> None:
        self._store, self._duty, self._tell = store, duty, tell
        self._options = replace(options, queued=True)
        self._bell = SimpleQueue[tuple[Offer, Future[Ended]] | None]()  # safe to ring from a signal's handler
        self._asked, self._heard = 0, 0
        self._kept: dict[str, StopAsked] = {}
        self._shunned: dict[str, float] = {}
        self._taken = 0  # how often one was taken, which may be the same one again
        self._runs: set[str] = set()
        self._beaten = 0.0

    def serve(self) -> int:
        """Keep runs until it is asked to stop, or its duty is done; how many different ones it has taken."""
        watch = Watchdog(self._store, self._options, self._tell)
        threads = ThreadPoolExecutor(self._duty.concurrency, thread_name_prefix="keeper")
        with watch.going():  # before anything is written: a stopped keeper may hold the store
            keeper = self._store.keepers.begin(own_process(), self._duty.concurrency)
            with threads, self._signals():
                self._go_on(threads, keeper)
                self._drain(keeper)
        self._store.keepers.end(keeper)
        return len(self._runs)

    def ask_to_stop(self) -> None:
        """Take nothing more and hand all back after the gesture in hand; asked again: end at once. For any thread."""
        self._asked += 1
        self._bell.put(None)

    # the main thread

    def _go_on(self, threads: ThreadPoolExecutor, keeper: str) -> None:
        idle = 0
        while not self._asked:
            self._beat(keeper)
            took = self._take(threads)
            idle = 0 if took else idle + 1
            if self._is_done(idle):
                return
            self._wait(POLL_SECONDS[min(idle, len(POLL_SECONDS) - 1)])

    def _is_done(self, idle: int) -> bool:
        if self._duty.most is not None and self._taken >= self._duty.most:
            return True
        return self._duty.until_idle and idle > 1 and not self._kept

    def _drain(self, keeper: str) -> None:
        """Wait for what is still kept; each asking goes on to all of it."""
        while self._kept:
            self._beat(keeper)
            while self._heard < self._asked:
                self._heard += 1
                for stop in list(self._kept.values()):
                    stop.ask()
            self._wait(POLL_SECONDS[-1])

    def _wait(self, seconds: float) -> None:
        """Wait until a run ends or a signal comes, and no longer than that."""
        try:
            ended = self._bell.get(timeout=seconds)
        except Empty:
            return
        if ended is not None:
            self._ended(*ended)

    def _beat(self, keeper: str) -> None:
        if time.monotonic() - self._beaten < self._store.times.beat:
            return
        try:
            self._store.keepers.beat(keeper)
            self._beaten = time.monotonic()
        except StoreUnusable as unusable:
            self._say("store", str(unusable))

    def _take(self, threads: ThreadPoolExecutor) -> int:
        """Take what there is room for; how many runs. The claim itself is made by the keeper, which may lose it."""
        if not self._room:
            return 0
        try:
            offers = self._store.queue.offers()
        except StoreUnusable as unusable:
            self._say("store", str(unusable))
            return 0
        took = 0
        for offer in offers:
            if self._room and self._wanted(offer):
                took += 1
                self._begin(threads, offer)
        return took

    @property
    def _room(self) -> bool:
        taken_all = self._duty.most is not None and self._taken >= self._duty.most
        return len(self._kept) < self._duty.concurrency and not taken_all

    def _wanted(self, offer: Offer) -> bool:
        if offer.run in self._kept or self._shunned.get(offer.run, 0.0) > time.monotonic():
            return False
        if offer.work is not Work.INTERRUPTED:
            return True
        over = offer.lease_over or (offer.last is not None and is_over(self._store, offer.last))
        return over and offer.deaths + 1 < (offer.budget or self._options.attempts)

    def _begin(self, threads: ThreadPoolExecutor, offer: Offer) -> None:
        stop = self._kept[offer.run] = StopAsked()
        self._taken += 1
        future = threads.submit(self._keep, offer, stop)
        future.add_done_callback(lambda done: self._bell.put((offer, done)))

    def _ended(self, offer: Offer, done: Future[Ended]) -> None:
        error = done.exception()
        del self._kept[offer.run]
        if isinstance(error, InOtherHands | NotAllowed):  # somebody was faster: normal
            self._taken -= 1
            return
        self._runs.add(offer.run)
        if error is None:
            ended = done.result()
            self._tell(Event("ended", f"{ended.state.replace('_', ' ')}: {ended.words}", ended.run, ended.attempts))
        else:
            self._shunned[offer.run] = time.monotonic() + shun_seconds(error)
            self._say("trouble", f"Run {offer.run} can't be kept here now: {error}", offer.run)
            if not isinstance(error, Misuse):
                log.LOGGER.error("run %s was let go", offer.run, exc_info=error)

    def _keep(self, offer: Offer, stop: StopAsked) -> Ended:
        """In a thread of its own. An open question is looked at by the queue's times, not while a run waits here."""
        look = offer.work is Work.LOOK
        options = replace(self._options, only_look=look, keep_looking_seconds=0.0)
        return keep(self._store, offer.run, options, self._tell, after=offer.attempt, stop=stop)

    def _say(self, kind: str, words: str, run: str = "") -> None:
        self._tell(Event(kind, words, run, 0))

    @contextmanager
    def _signals(self) -> Iterator[None]:
        numbers = (signal.SIGINT, signal.SIGTERM)
        old = [signal.signal(number, lambda *_: self.ask_to_stop()) for number in numbers]
        try:
            yield
        finally:
            for number, handler in zip(numbers, old, strict=True):
                signal.signal(number, handler)


def serve(
    store: Store, duty: WorkerLimits, options: Options, tell: Callable[[Event], None] = lambda event: None
) -> int:
    """Be a worker process; see `QueueWorker`. Only in the main thread, since it hears signals."""
    return QueueWorker(store, duty, options, tell).serve()
