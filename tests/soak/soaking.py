"""A soak: round after round, each with a store and sites of its own, from its first run to its tally.

In a round the storm goes on while runs are under way, and a person answers by the ledgers' truth. Then it is over,
everybody lives, and all that is left must come to its end. A round that has ended stands in a file and is not gone
through again.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from itertools import cycle, islice
from pathlib import Path
from random import Random

from pydantic import TypeAdapter

from browser_agent.errors import StoreUnusable
from browser_agent.keeper.launch import ForWorkers, submit
from browser_agent.states import RunState
from browser_agent.store import Store, Times
from tests.soak.count import Tally, count
from tests.soak.crew import Crew
from tests.soak.homes import Home, Kind, opened
from tests.soak.person import Person
from tests.soak.storm import Storm
from tests.soak.town import TRADES, Meant, Town

GLANCE_SECONDS = 0.5
BUDGET = 1000
"""Attempts of one run that may die: a soak kills far more than any machine does."""
_TALLY = TypeAdapter(Tally)


@dataclass(frozen=True)
class Plan:
    """What a soak is to be.

    Args:
        seed: of every choice.
        runs: how many there are, at all sites in turn.
        in_round: how many of them share a store and sites.
        homes: where the stores are, round by round in turn.
        workers: worker processes.
        concurrency: runs that each of them keeps at once.
        strikes: how many there are at most in a round.
        for_each: how many there are for each run that comes to its end: on a slow machine fewer in the same time.
        only: the kinds of strike that are wanted; empty = all.
        calm_seconds: the mean time between two of them.
        shorter: how many times shorter than usual the leases are.
        patience_seconds: how long all that is left may take after the storm; what isn't at its end then is stuck.
    """

    seed: int = 1
    runs: int = 3000
    in_round: int = 150
    homes: tuple[Kind, ...] = tuple(Kind)
    workers: int = 8
    concurrency: int = 1
    strikes: int = 2000
    for_each: float = 1.5
    only: tuple[str, ...] = ()
    calm_seconds: float = 3.0
    shorter: float = 3.0
    patience_seconds: float = 900.0

    def rounds(self) -> Iterator[tuple[int, Kind, int]]:
        """The number of each round, its home, and how many runs it has."""
        left, homes, number = self.runs, cycle(self.homes), 0
        while left > 0:
            number += 1
            yield number, next(homes), min(left, self.in_round)
            left -= self.in_round


def soak(plan: Plan, folder: Path, tell: Callable[[str], object] = print) -> Tally:
    """Go through all rounds that were not gone through in that folder before.

    Args:
        plan: what it is to be; the same one in the same folder.
        folder: what each round keeps, and its tally.
        tell: called with a line, now and then.
    """
    tally = Tally()
    with ExitStack() as ends:
        homes: dict[Kind, Home] = {}
        for number, kind, runs in plan.rounds():
            place = folder / f"round-{number}"
            done = place / "tally.json"
            if not done.exists():
                shutil.rmtree(place, ignore_errors=True)
                place.mkdir(parents=True)
                home = homes[kind] = homes.get(kind) or ends.enter_context(opened(kind))
                ended = Round(plan, Random(f"{plan.seed} {number}"), runs, home, place, tell).go()
                done.write_bytes(_TALLY.dump_json(ended))
            tally.add(ended := _TALLY.validate_json(done.read_bytes()))
            tell(f"round {number} on {kind}: {runs} runs, {'clean' if ended.clean else 'NOT CLEAN'}")
    return tally


class Round:
    """One round; see the module.

    Args:
        plan: what the soak is to be.
        chance: where every choice comes from.
        runs: how many there are.
        home: where its store is.
        folder: what the workers say, and what lies beside the store.
        tell: called with a line, now and then.
    """

    def __init__(  # noqa: PLR0917  # what `soak` knows
        self, plan: Plan, chance: Random, runs: int, home: Home, folder: Path, tell: Callable[[str], object]
    ) -> None:
        self._plan, self._chance, self._home, self._folder, self._tell = plan, chance, home, folder, tell
        self._times = Times.shortened(plan.shorter)
        self._number = runs

    def go(self) -> Tally:
        """Go through it."""
        where = self._home.new_store(self._folder)
        with Town() as town, Store(where, times=self._times) as store:
            meant = self._submit(store, town)
            person = Person(store, town, meant)
            with Crew(
                store.address, self._folder, self._plan.workers, self._plan.concurrency, self._plan.shorter
            ) as crew:
                storm = self._strike(store, town, crew, person)
                self._finish(store, crew, person)
            tally = count(store, town, meant)
            tally.struck, tally.resumed = storm.struck, person.resumed
            return tally

    def _submit(self, store: Store, town: Town) -> dict[str, Meant]:
        """Write all runs down; what each is meant to do, by its id."""
        meant: dict[str, Meant] = {}
        for number, trade in enumerate(islice(cycle(TRADES), self._number), 1):
            reference, by = f"S-{number}", self._chance.choice(["form", "fetch"])
            task, asked = town.task(trade), {"reference": reference, "by": by}
            row = submit(store, task, asked, reference, ForWorkers(attempts=BUDGET))
            meant[row.id] = Meant(trade, reference)
        return meant

    def _strike(self, store: Store, town: Town, crew: Crew, person: Person) -> Storm:
        """Strike until there was enough of it, or fewer runs are left than would keep all workers at work."""
        stopped = (self._times.beat, self._times.lease * 1.5)
        more = {"answer lost": lambda: town.lay_fault(self._chance), **self._home.strikes(self._chance)}
        storm = Storm(self._chance, crew, store, stopped_seconds=stopped, more=more, only=self._plan.only)
        try:
            while (struck := storm.struck.total()) < self._plan.strikes:
                left = self._left(store, person)
                if left <= self._plan.workers:
                    break
                time.sleep(self._chance.expovariate(1 / self._plan.calm_seconds))
                if struck < self._plan.for_each * (self._number - left + self._plan.workers):
                    storm.strike()
                storm.wake()
                crew.fill()
        finally:
            storm.over()
            self._home.over()
            town.clear()
        return storm

    def _finish(self, store: Store, crew: Crew, person: Person) -> None:
        """Let all that is left come to its end."""
        until = time.monotonic() + self._plan.patience_seconds
        while time.monotonic() < until and self._left(store, person):
            time.sleep(GLANCE_SECONDS)
            crew.fill()

    def _left(self, store: Store, person: Person) -> int:
        """How many runs are not finished, after the person has done what can be done."""
        with suppress(StoreUnusable):
            person.act()
            states = [row.state for row in store.leases.runs()]
            left = sum(state is not RunState.FINISHED for state in states)
            self._tell(f"{self._folder.name}: {len(states) - left} of {len(states)} runs have finished")
            return left
        return self._number  # nobody can tell now
