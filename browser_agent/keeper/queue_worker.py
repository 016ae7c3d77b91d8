"""A queue worker: a process that takes runs from the queue and keeps up to N of them at once, each in its own thread.

The main thread polls the queue, sends heartbeats and handles signals. Each run is kept as `keep` keeps any run.
"""

from __future__ import annotations

import time
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from queue import Empty, SimpleQueue

from browser_agent.errors import InOtherHands, Misuse, NotAllowed, StoreUnusable
from browser_agent.keeper.keeper import keep
from browser_agent.keeper.stop_request import StopRequest, stop_signals
from browser_agent.options import Ended, Event, OnEvent, Options
from browser_agent.ownership.takeover import is_over, own_process
from browser_agent.ownership.watchdog import Watchdog
from browser_agent.reporting import log
from browser_agent.store import Offer, Store, Work

POLL_SECONDS = (0.1, 0.2, 0.4, 0.8)
"""How long it waits between two polls of the queue while there is nothing to do; the end of a run wakes it."""
BACK_OFF_SECONDS = 60.0
"""How long it leaves a run to other workers if it can't keep it here (if it can't read one of its secrets, say)."""


@dataclass(frozen=True)
class WorkerLimits:
    """How much a queue worker takes.

    Args:
        concurrency: how many runs it keeps at once.
        max_runs: how many runs it takes before it ends; None = any number.
        until_idle: end when it keeps no run and can take none.
    """

    concurrency: int = 1
    max_runs: int | None = None
    until_idle: bool = False


def back_off_seconds(error: BaseException) -> float:
    """How long a run is left to other workers after its keeper has ended with that error.

    A store that can't be reached is out of reach for every worker, so the first one that reaches it may resume the run.
    """
    return 0.0 if isinstance(error, StoreUnusable) else BACK_OFF_SECONDS


class QueueWorker:
    """The runs that this process keeps.

    Args:
        store: where the runs are stored.
        limits: see `WorkerLimits`.
        options: how each run is kept.
        on_event: called with each event, from many threads.
    """

    def __init__(self, store: Store, limits: WorkerLimits, options: Options, on_event: OnEvent) -> None:
        self._store, self._limits, self._on_event = store, limits, on_event
        self._options = replace(options, queued=True)
        self._wakeups = SimpleQueue[tuple[Offer, Future[Ended]] | None]()  # signal handlers may put to it
        self._stops_asked, self._stops_passed_on = 0, 0
        self._stop_requests: dict[str, StopRequest] = {}
        self._backed_off_until: dict[str, float] = {}  # until when a run is left to others
        self._taken = 0  # how often a run was taken, perhaps the same one again
        self._runs: set[str] = set()
        self._beaten = 0.0

    def serve(self) -> int:
        """Keep runs until it is asked to stop or reaches its limits.

        Returns:
            How many different runs it has taken.
        """
        watchdog = Watchdog(self._store, self._options, self._on_event)
        threads = ThreadPoolExecutor(self._limits.concurrency, thread_name_prefix="keeper")
        with watchdog.running():  # before anything is stored: a stopped keeper may hold a lock of the store
            keeper = self._store.keepers.begin(own_process(), self._limits.concurrency)
            with threads, stop_signals(self.ask_to_stop):
                self._serve(threads, keeper)
                self._drain(keeper)
        self._store.keepers.end(keeper)
        return len(self._runs)

    def ask_to_stop(self) -> None:
        """Take nothing more, and release all runs after the gestures in hand. Asked again: end at once."""
        self._stops_asked += 1
        self._wakeups.put(None)

    # the main thread

    def _serve(self, threads: ThreadPoolExecutor, keeper: str) -> None:
        idle = 0
        while not self._stops_asked:
            self._beat(keeper)
            took = self._take(threads)
            idle = 0 if took else idle + 1
            if self._is_done(idle):
                return
            self._wait(POLL_SECONDS[min(idle, len(POLL_SECONDS) - 1)])

    def _is_done(self, idle: int) -> bool:
        if self._limits.max_runs is not None and self._taken >= self._limits.max_runs:
            return True
        return self._limits.until_idle and idle > 1 and not self._stop_requests

    def _drain(self, keeper: str) -> None:
        """Wait for the runs still kept, and pass each request to stop on to all of them."""
        while self._stop_requests:
            self._beat(keeper)
            while self._stops_passed_on < self._stops_asked:
                self._stops_passed_on += 1
                for stop in list(self._stop_requests.values()):
                    stop.ask()
            self._wait(POLL_SECONDS[-1])

    def _wait(self, seconds: float) -> None:
        """Wait until a run ends or a signal arrives, at most that long."""
        try:
            ended = self._wakeups.get(timeout=seconds)
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
            self._notify("store", str(unusable))

    def _take(self, threads: ThreadPoolExecutor) -> int:
        """Take as many runs as there is room for; returns how many. A run's keeper claims it, and may be too late."""
        if not self._room:
            return 0
        try:
            offers = self._store.queue.offers()
        except StoreUnusable as unusable:
            self._notify("store", str(unusable))
            return 0
        took = 0
        for offer in offers:
            if self._room and self._wanted(offer):
                took += 1
                self._begin(threads, offer)
        return took

    @property
    def _room(self) -> bool:
        taken_all = self._limits.max_runs is not None and self._taken >= self._limits.max_runs
        return len(self._stop_requests) < self._limits.concurrency and not taken_all

    def _wanted(self, offer: Offer) -> bool:
        if offer.run in self._stop_requests or self._backed_off_until.get(offer.run, 0.0) > time.monotonic():
            return False
        if offer.work is not Work.INTERRUPTED:
            return True
        over = offer.lease_over or (offer.last is not None and is_over(self._store, offer.last))
        return over and offer.deaths + 1 < (offer.budget or self._options.attempts)

    def _begin(self, threads: ThreadPoolExecutor, offer: Offer) -> None:
        stop = self._stop_requests[offer.run] = StopRequest()
        self._taken += 1
        future = threads.submit(self._keep, offer, stop)
        future.add_done_callback(lambda done: self._wakeups.put((offer, done)))

    def _ended(self, offer: Offer, done: Future[Ended]) -> None:
        error = done.exception()
        del self._stop_requests[offer.run]
        if isinstance(error, InOtherHands | NotAllowed):  # another worker claimed it first, which is normal
            self._taken -= 1
            return
        self._runs.add(offer.run)
        if error is None:
            ended = done.result()
            self._on_event(Event("ended", f"{ended.state.replace('_', ' ')}: {ended.words}", ended.run, ended.attempts))
        else:
            self._backed_off_until[offer.run] = time.monotonic() + back_off_seconds(error)
            self._notify("trouble", f"Run {offer.run} can't be kept here now: {error}", offer.run)
            if not isinstance(error, Misuse):
                log.LOGGER.error("run %s was released", offer.run, exc_info=error)

    def _keep(self, offer: Offer, stop: StopRequest) -> Ended:
        """Keep a run in its own thread, without waiting for a question: the queue schedules looks at open ones."""
        look = offer.work is Work.LOOK
        options = replace(self._options, only_look=look, keep_looking=0.0)
        return keep(self._store, offer.run, options, self._on_event, after=offer.attempt, stop=stop)

    def _notify(self, kind: str, words: str, run: str = "") -> None:
        self._on_event(Event(kind, words, run, 0))


def serve(store: Store, limits: WorkerLimits, options: Options, on_event: OnEvent = lambda event: None) -> int:
    """Run a queue worker; see `QueueWorker`. Call it in the main thread, because only that receives signals."""
    return QueueWorker(store, limits, options, on_event).serve()
