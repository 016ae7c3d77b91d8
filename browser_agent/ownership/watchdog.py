"""The watcher: sees which keepers of this host are dead, attests it, and tells of runs that nobody goes on with.

A death is attested when worker, driver and Chromium were seen dead here; what still lives is ended first, in order. It
needs no browser, makes no gesture and takes no run over. What may never happen: a process of another host is judged; a
browser is ended that a new attempt reads; a run that nobody can advance stays silent.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from browser_agent.errors import NotAllowed, StoreUnusable, Superseded
from browser_agent.options import OPEN_TASK, Event, Options, Tell
from browser_agent.ownership.attempt_budget import ask_a_person, used_up
from browser_agent.ownership.leftovers import all_dead, end_remains, unblock
from browser_agent.ownership.takeover import lives, near, own_process, under_engine
from browser_agent.processes import StillAlive
from browser_agent.reporting import log
from browser_agent.reporting.announcer import Announcer
from browser_agent.states import RunState
from browser_agent.store import Lease, Store
from browser_agent.store.records import AttemptRow, RunRow

GLANCE_SECONDS = 1.0
LEAVE_SECONDS = 10.0
"""So long a dead keeper's run is left to who takes it over here: a browser that still lives may be read by him."""
_HOW = "its keeper died; seen by the watcher"


class Watchdog:
    """The watch over this host's keepers.

    Args:
        store: where the runs are written.
        options: the budget of attempts, and who is told of questions.
        tell: called with each event, from the watcher's thread.
    """

    def __init__(self, store: Store, options: Options, tell: Tell) -> None:
        self._store, self._options, self._tell = store, options, tell
        self._seen: dict[tuple[str, int], float] = {}  # attempts whose keeper is dead, and since when that is seen
        self._over = threading.Event()

    @contextmanager
    def going(self) -> Iterator[None]:
        """Watchdog in a thread of its own."""
        thread = threading.Thread(target=self.go_on, name="browser-agent watch", daemon=True)
        thread.start()
        try:
            yield
        finally:
            self.stop()
            thread.join()

    def go_on(self) -> None:
        """Watchdog until `stop`."""
        while not self._over.wait(GLANCE_SECONDS):
            try:
                self.glance()
            except StoreUnusable as unusable:
                self._tell(Event("store", str(unusable), "", 0))
            except Exception:  # whatever it is, the next glance begins anew
                log.LOGGER.exception("the watcher could not look")

    def stop(self) -> None:
        """Watchdog no more. For any thread, but no signal's handler."""
        self._over.set()

    def glance(self, leave_seconds: float = LEAVE_SECONDS) -> None:
        """Look once at all that may concern this host.

        Args:
            leave_seconds: see `LEAVE_SECONDS`.
        """
        self._unblock()
        for run, attempt in self._store.deaths.unattested():
            judged = run.task_file != OPEN_TASK and near(self._store, attempt.host, attempt.keeper)
            if judged and self._keeper_is_dead(run, attempt):
                self._attest(attempt, leave_seconds)
        for run, attempt in self._store.deaths.interrupted():
            self._tell_if_nobody_goes_on(run, attempt, leave_seconds)

    def _unblock(self) -> None:
        """See to it that anything can be written."""
        try:
            done = unblock(self._store)
        except StillAlive as alive:
            done = f"The store is held by a process that is stopped, and can't be ended: {alive}"
        if done:
            self._tell(Event("store", done, "", 0))

    def _keeper_is_dead(self, run: RunRow, attempt: AttemptRow) -> bool:
        """Its process is dead; or the thread that kept the run is, without having handed it back."""
        let_go = attempt.ended is not None and run.state is RunState.RUNNING
        return let_go or not lives(attempt.keeper)

    def _attest(self, attempt: AttemptRow, leave_seconds: float) -> None:
        run, number = attempt.run_id, attempt.number
        dead = all_dead(attempt)
        if not dead and not self._has_waited((run, number), leave_seconds):
            return
        if not self._store.deaths.bury(run, number, _HOW):  # somebody has taken the run over: it is his now
            return
        try:
            if not dead:
                end_remains(attempt)
            if all_dead(attempt):
                self._store.deaths.attest(run, [number], own_process())
                self._tell(Event("attested", f"Attempt {number} is dead, with all that it started.", run, number))
        except StillAlive as alive:
            self._tell(Event("trouble", f"Attempt {number} can't be ended: {alive}", run, number))

    def _tell_if_nobody_goes_on(self, run: RunRow, attempt: AttemptRow, leave_seconds: float) -> None:
        """Put a question where no worker may go on: it isn't for workers, or its attempts are used up."""
        if run.task_file == OPEN_TASK or under_engine(attempt.keeper):
            return
        spent = used_up(run, self._options)
        said = attempt.ended is not None  # of one that only lost its lease nobody knows whether it goes on
        if not spent and (run.queued or not said or not self._has_waited((run.id, attempt.number), leave_seconds)):
            return
        how = attempt.how or (_HOW if near(self._store, attempt.host, attempt.keeper) else "its lease ran out")
        words = (
            f"Run {run.id} was interrupted {run.deaths + 1} times in a row without anything finished between ({how})."
            if spent
            else f"Run {run.id} was interrupted ({how}), and nobody goes on with it."
        )
        try:
            with Announcer(self._store, run.id, self._options, self._tell) as announcer:
                question = ask_a_person(self._store, Lease(run.id, run.attempt, run.token), words)
                announcer.announce(Event("question", words, run.id, run.attempt, {"question": question}))
        except (Superseded, NotAllowed):  # somebody goes on with it, or another watcher has asked
            return

    def _has_waited(self, of: tuple[str, int], seconds: float) -> bool:
        now = time.monotonic()
        return now - self._seen.setdefault(of, now) >= seconds
