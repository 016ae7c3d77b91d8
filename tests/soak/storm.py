"""The storm of a soak: what is struck, and when, drawn from a seed.

Each kind of strike comes once before any comes again. Must not know: what the runs do. May never happen: a strike is
counted that struck nobody.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from random import Random
from subprocess import Popen

from pydantic import TypeAdapter

from browser_agent.browser.chromium import Chromium
from browser_agent.errors import StoreUnusable
from browser_agent.keeper.fault_injection import inject
from browser_agent.processes import ProcessId
from browser_agent.states import RunState, Victim
from browser_agent.store import Store
from browser_agent.store.records import AttemptRow
from tests.soak.crew import Crew

_PROCESS = TypeAdapter(ProcessId)
Strikes = Mapping[str, Callable[[], bool]]


class Storm:
    """Strikes one thing after the other.

    Args:
        chance: where every choice comes from.
        crew: the worker processes.
        store: where the runs are, to find the processes of their attempts.
        stopped_seconds: how long a stopped worker process may be stopped: a little, or far beyond its lease.
        more: further strikes, by name; each says whether it has struck.
        only: the names of those that are wanted; empty = all.
    """

    def __init__(
        self,
        chance: Random,
        crew: Crew,
        store: Store,
        *,
        stopped_seconds: tuple[float, ...],
        more: Strikes,
        only: Collection[str] = (),
    ) -> None:
        self._chance, self._crew, self._store, self._stopped_seconds = chance, crew, store, stopped_seconds
        strikes = {**self._own(), **more}
        self._strikes = {name: act for name, act in strikes.items() if not only or name in only}
        self._deck: list[str] = []
        self._asleep: list[tuple[float, Popen[bytes]]] = []
        self.struck: Counter[str] = Counter()

    def strike(self) -> None:
        """Strike once."""
        if not self._deck:
            self._deck = self._chance.sample(list(self._strikes), len(self._strikes))
        for name in self._deck:
            if self._hits(name):
                self._deck.remove(name)
                self.struck[name] += 1
                return

    def wake(self, until: float | None = None) -> None:
        """Let those go on that were to be stopped until then; by default, until now."""
        until = time.monotonic() if until is None else until
        for at, stopped in self._asleep:
            if at <= until:
                self._crew.resume(stopped)
        self._asleep = [(at, stopped) for at, stopped in self._asleep if at > until]

    def over(self) -> None:
        """The storm is over: everybody goes on."""
        self.wake(float("inf"))

    def _own(self) -> Strikes:
        return {
            "worker process killed": self._kill_process,
            "worker process stopped": self._stop_process,
            "child killed": lambda: self._strike_attempt(Victim.WORKER),
            "child stopped": lambda: self._strike_attempt(Victim.STOPPED_WORKER),
            "driver killed": lambda: self._strike_attempt(Victim.DRIVER),
            "Chromium killed": lambda: self._strike_attempt(Victim.BROWSER),
            "tabs crashed": lambda: self._strike_attempt(Victim.TABS),
        }

    def _hits(self, name: str) -> bool:
        with suppress(StoreUnusable):  # an outage is under way: nobody can be found
            return self._strikes[name]()
        return False

    def _kill_process(self) -> bool:
        self._crew.kill_one(self._chance)
        return True

    def _stop_process(self) -> bool:
        stopped = self._crew.stop_one(self._chance)
        self._asleep.append((time.monotonic() + self._chance.choice(self._stopped_seconds), stopped))
        return True

    def _strike_attempt(self, victim: Victim) -> bool:
        """A part of an attempt that runs now; False if there is none."""
        attempts = self._running()
        if not attempts:
            return False
        attempt = self._chance.choice(attempts)
        worker, driver = _process(attempt.worker), _process(attempt.driver)
        browser = Chromium.found(attempt.browser) if attempt.browser else None
        there = {Victim.WORKER: worker, Victim.STOPPED_WORKER: worker, Victim.DRIVER: driver}.get(victim, browser)
        inject(victim, worker=worker, driver=driver, browser=browser)
        return there is not None

    def _running(self) -> list[AttemptRow]:
        running = [run for run in self._store.leases.runs() if run.state is RunState.RUNNING]
        return [self._store.leases.attempts(run.id)[-1] for run in running]


def _process(stored: str | None) -> ProcessId | None:
    return _PROCESS.validate_json(stored) if stored else None
