"""A soak, from its first run to its tally.

The storm goes on while runs are under way. Then it is over, everybody lives, a person answers what is open by the
ledger's truth, and all that is left must come to its end.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random

from browser_agent.starting import ForWorkers, submit
from browser_agent.states import RunState
from browser_agent.store import Store, Times
from browser_agent.tasks import load_task
from browser_agent.testing.road.proxy import FaultProxy
from browser_agent.testing.sites.books import Books
from tests.soak.count import Tally, count
from tests.soak.crew import Crew
from tests.soak.person import answer_all
from tests.soak.storm import Storm

TASK = f"{Path(__file__).parents[1] / 'tasks' / 'posting.py'}:post_one"
GLANCE_SECONDS = 0.5
BUDGET = 1000
"""Attempts of one run that may die: a soak kills far more than any machine does."""


@dataclass(frozen=True)
class Plan:
    """What a soak is to be.

    Args:
        seed: of every choice.
        runs: how many there are.
        workers: worker processes.
        concurrency: runs that each of them keeps at once.
        strikes: how many strikes there are at most.
        calm_seconds: the mean time between two of them.
        shorter: how many times shorter than usual the leases are.
        patience_seconds: how long all that is left may take after the storm; what isn't at its end then is stuck.
    """

    seed: int = 1
    runs: int = 1000
    workers: int = 8
    concurrency: int = 1
    strikes: int = 2000
    calm_seconds: float = 3.0
    shorter: float = 3.0
    patience_seconds: float = 600.0


class Soak:
    """See the module.

    Args:
        plan: what it is to be.
        folder: the store, and what the workers say.
        tell: called with a line, now and then.
    """

    def __init__(self, plan: Plan, folder: Path, tell: Callable[[str], object] = print) -> None:
        self._plan, self._folder, self._tell = plan, folder, tell
        self._chance = Random(plan.seed)
        self._times = Times.shortened(plan.shorter)
        self._answered = 0

    def go(self) -> Tally:
        """Soak."""
        with (
            Books() as books,
            FaultProxy(books.url) as road,
            Store(self._folder / "soak.db", times=self._times) as store,
        ):
            self._books, self._store = books, store
            self._runs = self._submit(road)
            with Crew(store.address, self._folder, *self._size) as crew:
                storm = self._storm(crew, road)
                storm.over()
                self._finish(crew)
            tally = count(store, self._runs, [invoice.reference for invoice in books.invoices])
            tally.answered, tally.struck = self._answered, storm.struck
            return tally

    @property
    def _size(self) -> tuple[int, int, float]:
        return self._plan.workers, self._plan.concurrency, self._plan.shorter

    def _submit(self, road: FaultProxy) -> dict[str, str]:
        """Write all runs down; the reference of each, by its id."""
        task = load_task(TASK)
        task.sites["books"].bind(road.url)
        runs: dict[str, str] = {}
        for number in range(1, self._plan.runs + 1):
            reference, by = f"S-{number}", self._chance.choice(["form", "fetch"])
            row = submit(self._store, task, {"reference": reference, "by": by}, reference, ForWorkers(attempts=BUDGET))
            runs[row.id] = reference
        return runs

    def _storm(self, crew: Crew, road: FaultProxy) -> Storm:
        """Strike until there was enough of it, or nothing goes on by itself any more."""
        stopped = (self._times.beat, self._times.lease * 1.5)
        storm = Storm(self._chance, crew, self._store, road, stopped_seconds=stopped)
        while self._left() and storm.struck.total() < self._plan.strikes:
            time.sleep(self._chance.expovariate(1 / self._plan.calm_seconds))
            storm.strike()
            crew.fill()
        return storm

    def _finish(self, crew: Crew) -> None:
        """Let all that is left come to its end, with a person's answers."""
        until = time.monotonic() + self._plan.patience_seconds
        while time.monotonic() < until:
            self._answered += answer_all(self._store, self._truth)
            if all(row.state is RunState.FINISHED for row in self._store.leases.runs()):
                return
            time.sleep(GLANCE_SECONDS)
            crew.fill()

    def _left(self) -> int:
        """How many runs go on without a person."""
        states = [row.state for row in self._store.leases.runs()]
        left = sum(state in (RunState.NEW, RunState.READY, RunState.RUNNING) for state in states)
        self._tell(f"{len(states) - left} of {len(states)} runs are at their end, or wait for a person")
        return left

    def _truth(self, run: str) -> list[str]:
        return [invoice.number for invoice in self._books.invoices if invoice.reference == self._runs[run]]
