"""A later assignment ends the last attempt: if the same engine made it, in its order, and no other engine."""

import multiprocessing
import subprocess
import sys

import pytest

from browser_agent.errors import InOtherHands, Superseded, installing
from browser_agent.ownership.engine import NO_ENGINE, NoEngine
from browser_agent.ownership.takeover import last_attempt, own_process, take_over
from browser_agent.store import Lease, Store
from tests.store.building import submit


class Named(NoEngine):
    """An engine that gives work."""

    def __init__(self, name: str, sequence: float) -> None:
        self.name, self.sequence = name, sequence


def kept_by(store: Store, engine: NoEngine) -> Lease:
    """A run that this living process keeps for an engine."""
    return store.leases.claim(submit(store), keeper=own_process(engine), keeper_dead=False)


def test_later_work_of_the_same_engine_takes_over_from_a_living_keeper_at_once(store: Store) -> None:
    lease = kept_by(store, Named("temporal/default/S-1", 1.0))
    taken = take_over(store, lease.run, last_attempt(store, lease.run), engine=Named("temporal/default/S-1", 2.0))
    assert taken.attempt == 2
    with pytest.raises(Superseded):
        store.leases.beat(lease)


@pytest.mark.parametrize("order", [1.0, 2.0])
def test_earlier_work_and_the_same_work_twice_take_nothing_over(store: Store, order: float) -> None:
    lease = kept_by(store, Named("temporal/default/S-1", 2.0))
    with pytest.raises(Superseded):
        take_over(store, lease.run, last_attempt(store, lease.run), engine=Named("temporal/default/S-1", order))
    store.leases.beat(lease)


def test_the_word_of_another_engine_or_of_none_takes_nothing_over(store: Store) -> None:
    lease = kept_by(store, Named("temporal/default/S-1", 1.0))
    for engine in (Named("temporal/default/S-2", 9.0), NO_ENGINE):
        with pytest.raises(InOtherHands):
            take_over(store, lease.run, last_attempt(store, lease.run), engine=engine)
    by_a_person = kept_by(store, NO_ENGINE)
    with pytest.raises(InOtherHands):
        take_over(
            store, by_a_person.run, last_attempt(store, by_a_person.run), engine=Named("temporal/default/S-1", 9.0)
        )


def _delivered(address: str, runs: list[str]) -> list[str]:
    """What a process takes of the work that an engine delivers to it, the second of each run."""
    taken = []
    with Store(address) as store:
        for run in runs:
            previous = last_attempt(store, run)
            try:
                take_over(store, run, previous, engine=Named(f"temporal/default/{run}", 2.0))
            except (InOtherHands, Superseded):
                continue
            taken.append(run)
    return taken


@pytest.mark.process
def test_two_hundred_pieces_of_work_that_are_delivered_twice_at_once_have_one_taker_each(store: Store) -> None:
    runs = [submit(store) for _ in range(200)]
    for run in runs:
        first = own_process(Named(f"temporal/default/{run}", 1.0))
        store.leases.claim(run, keeper=first, keeper_dead=False)
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        one, other = pool.starmap(_delivered, [(store.address, runs)] * 2)
    assert sorted([*one, *other]) == sorted(runs)
    assert {len(store.leases.attempts(run)) for run in runs} == {2}


@pytest.mark.process
def test_without_its_package_temporal_is_one_clear_sentence() -> None:
    blocked = "import sys; sys.modules['temporalio'] = None; from browser_agent.cli import main; main()"
    said = subprocess.run(
        [sys.executable, "-c", blocked, "temporal", "workflows"], capture_output=True, text=True, check=False
    )
    assert said.returncode == 2
    assert installing("temporal") in said.stderr
    assert len(said.stderr.splitlines()) == 1


@pytest.mark.process
def test_nothing_below_the_engines_imports_temporal() -> None:
    asked = "import sys, browser_agent.cli, browser_agent.keeper.keeper; print('temporalio' in sys.modules)"
    assert subprocess.check_output([sys.executable, "-c", asked], text=True).strip() == "False"
