"""The watchdog of a host: sees which of its keepers are dead, ends what they left, attests their deaths, and asks a
person about runs that nobody will resume.

It needs no browser, makes no gesture and takes no run over.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from browser_agent.errors import NotAllowed, StoreUnusable, Superseded
from browser_agent.options import OPEN_TASK, Event, OnEvent, Options
from browser_agent.ownership.attempt_budget import ask_a_person, used_up
from browser_agent.ownership.leftovers import Leftovers, unblock_store
from browser_agent.ownership.takeover import own_process, process_alive, under_engine, visible_here
from browser_agent.processes import StillAlive
from browser_agent.reporting import log
from browser_agent.reporting.announcer import Announcer
from browser_agent.states import EndKind, RunState
from browser_agent.store import AttemptEnd, Lease, Store
from browser_agent.store.records import AttemptRow, RunRow

INTERVAL_SECONDS = 1.0
TAKEOVER_SECONDS = 10.0
"""How long a dead keeper's leftovers wait for a keeper that takes the run over and may read the living browser."""
_KEEPER_DIED = AttemptEnd("its keeper died; seen by the watchdog", EndKind.KEEPER_DIED)


class Watchdog:
    """Watches this host's keepers.

    Args:
        store: where the runs are stored.
        options: the budget of attempts, and who is notified of questions.
        on_event: called with each event, from the watchdog's thread.
    """

    def __init__(self, store: Store, options: Options, on_event: OnEvent) -> None:
        self._store, self._options, self._on_event = store, options, on_event
        self._first_seen = dict[tuple[str, int], float]()  # since when an attempt's keeper is seen to be dead
        self._over = threading.Event()

    @contextmanager
    def running(self) -> Iterator[None]:
        """Watch from a thread of its own until the block is left."""
        thread = threading.Thread(target=self.watch, name="browser-agent watchdog", daemon=True)
        thread.start()
        try:
            yield
        finally:
            self.stop()
            thread.join()

    def watch(self) -> None:
        """Check again and again until `stop`."""
        while not self._over.wait(INTERVAL_SECONDS):
            try:
                self.check()
            except StoreUnusable as unusable:
                self._on_event(Event("store", str(unusable), "", 0))
            except Exception:  # whatever it is, the next check starts afresh
                log.LOGGER.exception("the watchdog's check failed")

    def stop(self) -> None:
        """Watch no longer. Any thread may call it, but no signal handler: it takes a lock."""
        self._over.set()

    def check(self, takeover_seconds: float = TAKEOVER_SECONDS) -> None:
        """Check once all that concerns this host.

        Args:
            takeover_seconds: see `TAKEOVER_SECONDS`.
        """
        self._unblock()
        for run, attempt in self._store.deaths.unattested():
            judged = run.task_file != OPEN_TASK and visible_here(self._store, attempt.host, attempt.keeper)
            if judged and self._keeper_is_dead(run, attempt):
                self._attest(attempt, takeover_seconds)
        for run, attempt in self._store.deaths.interrupted():
            self._ask_if_stranded(run, attempt, takeover_seconds)

    def _unblock(self) -> None:
        """See to it that the store can be written."""
        try:
            done = unblock_store(self._store)
        except StillAlive as alive:
            done = f"A stopped process holds the store, and can't be ended: {alive}"
        if done:
            self._on_event(Event("store", done, "", 0))

    def _keeper_is_dead(self, run: RunRow, attempt: AttemptRow) -> bool:
        """Its process is dead; or it ended the attempt without handing the run back, as a dying thread does."""
        run_left = attempt.ended is not None and run.state is RunState.RUNNING
        return run_left or not process_alive(attempt.keeper)

    def _attest(self, attempt: AttemptRow, takeover_seconds: float) -> None:
        run, number, left = attempt.run_id, attempt.number, Leftovers.of(attempt)
        dead = left.all_dead()
        if not dead and not self._has_waited((run, number), takeover_seconds):
            return
        if not self._store.deaths.record_death(run, number, _KEEPER_DIED):  # another keeper has it now
            return
        try:
            if not dead:
                left.end()
            if left.all_dead():
                self._store.deaths.attest(run, [number], own_process())
                self._on_event(Event("attested", f"Attempt {number} is dead, with all that it started.", run, number))
        except StillAlive as alive:
            self._on_event(Event("trouble", f"Attempt {number} can't be ended: {alive}", run, number))

    def _ask_if_stranded(self, run: RunRow, attempt: AttemptRow, takeover_seconds: float) -> None:
        """Ask a person about a run that no worker may resume: it isn't queued, or its budget is used up."""
        if run.task_file == OPEN_TASK or under_engine(attempt.keeper):
            return
        spent = used_up(run, self._options)
        ended = attempt.ended is not None  # one that only lost its lease may still be resumed by its keeper
        if not spent and (run.queued or not ended or not self._has_waited((run.id, attempt.number), takeover_seconds)):
            return
        here = visible_here(self._store, attempt.host, attempt.keeper)
        how = attempt.how or (_KEEPER_DIED.words if here else "its lease ran out")
        words = (
            f"Run {run.id} was interrupted {run.deaths + 1} times in a row without finishing anything between ({how})."
            if spent
            else f"Run {run.id} was interrupted ({how}), and no process resumes it."
        )
        try:
            with Announcer(self._store, run.id, self._options, self._on_event) as announcer:
                question = ask_a_person(self._store, Lease(run.id, run.attempt, run.token), words)
                announcer.announce(Event("question", words, run.id, run.attempt, {"question": question}))
        except (Superseded, NotAllowed):  # a keeper has resumed it, or another watchdog has asked
            return

    def _has_waited(self, of: tuple[str, int], seconds: float) -> bool:
        now = time.monotonic()
        return now - self._first_seen.setdefault(of, now) >= seconds
