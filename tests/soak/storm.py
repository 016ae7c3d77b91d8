"""The storm of a soak: what is struck, and when, drawn from a seed.

Must not know: what the runs do. May never happen: a strike is counted that struck nobody.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from random import Random

from pydantic import TypeAdapter

from browser_agent.browser.chromium import Chromium
from browser_agent.processes import ProcessId
from browser_agent.records import AttemptRow
from browser_agent.states import RunState, Victim
from browser_agent.store import Store
from browser_agent.striking import strike
from browser_agent.testing.road.proxy import FaultProxy
from tests.soak.crew import Crew

_PROCESS = TypeAdapter(ProcessId)
ROAD_FAULTS = (
    *("drop_after_commit", "drop_before_commit", "cut_after_head", "hang"),
    *("gateway_502_after_commit", "gateway_502_before_commit"),
)
COMMIT = "POST /invoices"


class Storm:
    """Strikes one thing after the other.

    Args:
        chance: where every choice comes from.
        crew: the worker processes.
        store: where the runs are, to find the processes of their attempts.
        road: the road to the site.
        stopped_seconds: how long a stopped worker process may be stopped: a little, or far beyond its lease.
        more: further strikes, by name (a restart of the database, say).
    """

    def __init__(
        self,
        chance: Random,
        crew: Crew,
        store: Store,
        road: FaultProxy,
        *,
        stopped_seconds: tuple[float, ...],
        more: dict[str, Callable[[], None]] | None = None,
    ) -> None:
        self._chance, self._crew, self._store, self._road = chance, crew, store, road
        self._stopped_seconds, self._more = stopped_seconds, more or {}
        self._asleep: list[tuple[float, object]] = []
        self.struck: Counter[str] = Counter()

    def strike(self) -> None:
        """Strike once; whoever has slept long enough goes on."""
        self.wake(time.monotonic())
        strikes: dict[str, Callable[[], bool]] = {
            "worker process killed": self._kill_process,
            "worker process stopped": self._stop_process,
            "child killed": lambda: self._strike_attempt(Victim.WORKER),
            "child stopped": lambda: self._strike_attempt(Victim.STOPPED_WORKER),
            "driver killed": lambda: self._strike_attempt(Victim.DRIVER),
            "Chromium killed": lambda: self._strike_attempt(Victim.BROWSER),
            "tabs crashed": lambda: self._strike_attempt(Victim.TABS),
            "answer lost": self._lay_fault,
            **{name: lambda act=act: act() or True for name, act in self._more.items()},  # type: ignore[misc]
        }
        name = self._chance.choice(list(strikes))
        if strikes[name]():
            self.struck[name] += 1

    def wake(self, until: float) -> None:
        """Let those go on that were to be stopped until then."""
        for at, stopped in self._asleep:
            if at <= until:
                self._crew.go_on(stopped)  # type: ignore[arg-type]
        self._asleep = [(at, stopped) for at, stopped in self._asleep if at > until]

    def over(self) -> None:
        """The storm is over: everybody goes on, and the road is whole."""
        self.wake(float("inf"))
        self._road.clear()

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
        strike(victim, worker=worker, driver=driver, browser=browser)
        return there is not None

    def _running(self) -> list[AttemptRow]:
        running = [run for run in self._store.leases.runs() if run.state is RunState.RUNNING]
        return [self._store.leases.attempts(run.id)[-1] for run in running]

    def _lay_fault(self) -> bool:
        """The next commit meets it; what is laid and not met yet is taken away first."""
        self._road.clear()
        self._road.fault(self._chance.choice(ROAD_FAULTS), COMMIT)
        return True


def _process(stored: str | None) -> ProcessId | None:
    return _PROCESS.validate_json(stored) if stored else None
