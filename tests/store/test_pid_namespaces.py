"""Containers that have one host name and don't see each other's processes: nothing is concluded from a pid."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest

from browser_agent import processes
from browser_agent.errors import InOtherHands
from browser_agent.options import Options
from browser_agent.ownership.leftovers import earlier_attempts
from browser_agent.ownership.liveness import Liveness, liveness
from browser_agent.ownership.takeover import is_over, keeper_alive, last_attempt, own_process, take_over
from browser_agent.ownership.watchdog import Watchdog
from browser_agent.store import Lease, Store
from tests.fix_containers import said_inside
from tests.store.building import by_raw_sql, submit

OWN = "from browser_agent.ownership.takeover import own_process; print(own_process())"


@pytest.fixture(scope="session")
def elsewhere(container: Sequence[str]) -> str:
    """A process of another container, which has ended by now: here nobody can know that."""
    return said_inside(OWN)


def taken(store: Store, keeper: str) -> Lease:
    """A run that this keeper has."""
    return store.leases.claim(submit(store), keeper=keeper, keeper_dead=False)


def test_a_keeper_in_another_container_keeps_its_run_until_its_lease_has_run_out(store: Store, elsewhere: str) -> None:
    lease = taken(store, elsewhere)
    last = last_attempt(store, lease.run)
    assert last is not None and last.host == store.host and not is_over(store, last)
    assert keeper_alive(store, store.leases.run(lease.run)) is None
    with pytest.raises(InOtherHands, match="is being worked on"):
        take_over(store, lease.run, last)
    by_raw_sql(store, "UPDATE run SET lease_until = 1.0")
    newer = take_over(store, lease.run, last)
    assert newer.attempt == 2 and earlier_attempts(store, newer) == []  # its processes are not ours to end


def test_the_watcher_neither_ends_nor_attests_what_it_cannot_see(store: Store, elsewhere: str) -> None:
    lease = taken(store, elsewhere)
    Watchdog(store, Options(), lambda event: None).check(takeover_seconds=0.0)
    (attempt,) = store.leases.attempts(lease.run)
    assert (attempt.ended, attempt.attested) == (None, None)


def test_a_worker_process_in_another_container_lives_by_its_beats(store: Store, elsewhere: str) -> None:
    store.keepers.begin(elsewhere, 1)
    now, (found,) = store.keepers.recent()
    assert liveness(store, found.row, now) is Liveness.ALIVE
    long_ago = found.row.model_copy(update={"beaten": now.replace(year=2020)})
    assert liveness(store, long_ago, now) is Liveness.SILENT


@pytest.mark.parametrize("boot_ago", [False, True], ids=["this boot", "an earlier boot"])
def test_a_machine_that_was_started_anew_has_ended_what_ran_before(store: Store, boot_ago: bool) -> None:
    own = json.loads(own_process())
    machine, boot, namespace = own["place"].split("/")
    if namespace != "4026531836" or not machine:
        pytest.skip("only a machine itself is known again after a start")
    place = f"{machine}/{'f' * 36 if boot_ago else boot}/{namespace}"
    lease = taken(store, json.dumps(own | {"place": place}))
    last = last_attempt(store, lease.run)
    assert last is not None and is_over(store, last) is boot_ago


def test_an_identity_that_an_older_version_wrote_is_read_and_judged_as_it_was(store: Store) -> None:
    own = processes.own_id()
    older = json.dumps({"pid": own.pid, "started": own.started})
    alive, dead = (taken(store, each) for each in (older, '{"pid": 1, "started": 1.0}'))
    for lease, over in ((alive, False), (dead, True)):
        last = last_attempt(store, lease.run)
        assert last is not None and is_over(store, last) is over


def test_a_process_out_of_sight_is_neither_alive_nor_dead_nor_ended(elsewhere: str) -> None:
    facts = json.loads(elsewhere)
    with pytest.raises(processes.ProcessNotVisible, match="it isn't visible here"):
        processes.alive(processes.ProcessId(**facts))
    with pytest.raises(processes.StillAlive):
        processes.end([processes.ProcessId(**facts)])
