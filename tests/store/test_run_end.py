"""What a keeper says of a run, and of its attempt, that it has no more."""

from __future__ import annotations

import pytest

from browser_agent.keeper.run_end import after_the_run, where_it_stands
from browser_agent.keeper.worker_process import LINGERED
from browser_agent.states import RunState
from browser_agent.store import Store
from tests.store.building import asked, claim

KILLED = "ended by signal 9"


def test_the_end_of_a_run_is_told_as_its_own_by_the_attempt_that_ended_it(store: Store) -> None:
    lease = claim(store)
    question = asked(store, lease)
    store.leases.end(lease, RunState.WAITING, ended_by="a question waits")
    ended = where_it_stands(store, lease)
    assert (ended.state, ended.words, ended.questions) == (RunState.WAITING, "a question waits", (question.id,))


def test_what_another_process_has_brought_to_its_end_is_not_told_as_one_s_own(store: Store) -> None:
    woken = claim(store)
    other = claim(store, woken.run)
    said = "carried on by another process (attempt 2); this one let nothing more go"
    assert where_it_stands(store, woken).words == said
    store.leases.end(other, RunState.FINISHED, ended_by="its task came to its end", result='"INV-9"')
    ended = where_it_stands(store, woken)
    assert (ended.state, ended.words) == (RunState.FINISHED, f"{said}. There: its task came to its end")
    assert where_it_stands(store, other).words == "its task came to its end"


@pytest.mark.parametrize(
    ("how", "ours", "words"),
    [
        ("exit code 0", True, "exit code 0"),
        (KILLED, True, "it handed its run back; its worker was ended after that"),
        (KILLED + LINGERED, False, "it handed its run back; its worker was ended after that"),
        (KILLED, False, "it handed its run back; after that its worker died (ended by signal 9)"),
    ],
)
def test_a_worker_that_handed_its_run_back_was_not_killed_by_anybody_else(
    store: Store, how: str, ours: bool, words: str
) -> None:
    lease = claim(store)
    store.leases.end(lease, RunState.WAITING, ended_by="a question waits")
    assert after_the_run(how, lease, store.leases.run(lease.run), ours=ours) == words


def test_a_worker_whose_run_went_to_another_was_ended_by_its_keeper_or_killed(store: Store) -> None:
    lease = claim(store)
    claim(store, lease.run)
    run = store.leases.run(lease.run)
    assert after_the_run(KILLED, lease, run, ours=True) == (
        "its run was given to another; its worker was ended after that"
    )
    assert after_the_run(KILLED, lease, run, ours=False) == KILLED
