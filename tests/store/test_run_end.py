"""What a keeper reports about a run, and about an attempt that no longer had it; and the words of a worker's end."""

from __future__ import annotations

from dataclasses import replace

import pytest

from browser_agent.keeper.run_end import (
    LateStep,
    WorkerEnd,
    budget_used_up,
    end_without_the_run,
    run_as_it_stands,
)
from browser_agent.states import EndKind, RunState
from browser_agent.store import AttemptEnd, Store
from tests.store.building import asked, claim

DONE, KILLED = WorkerEnd(code=0), WorkerEnd(signal=9)


@pytest.mark.parametrize(
    ("end", "words"),
    [
        (WorkerEnd.of(0), "exit code 0"),
        (WorkerEnd.of(71), "exit code 71"),
        (WorkerEnd.of(-9), "ended by signal 9"),
        (WorkerEnd(), "ended, its exit code is not known"),
        (WorkerEnd(signal=9, lingered=True), "ended by signal 9, because it did not exit by itself"),
        (
            WorkerEnd(signal=9, because="the step a took longer than 2 s"),
            "ended by signal 9: the step a took longer than 2 s",
        ),
    ],
)
def test_a_workers_end_has_the_words_that_attempts_are_stored_with(end: WorkerEnd, words: str) -> None:
    assert str(end) == words


def test_a_workers_end_is_stored_with_its_exit_code_or_signal_and_the_late_step() -> None:
    assert WorkerEnd.of(71).stored == AttemptEnd("exit code 71", EndKind.WORKER_ENDED, 71)
    assert WorkerEnd().stored.exit_code is None
    late = WorkerEnd(signal=9, late=LateStep("post", "post('S-1')", 2.0)).stored
    assert (late.kind, late.exit_code, late.late_step) == (EndKind.WORKER_ENDED, -9, "post")


@pytest.mark.parametrize(("named", "others"), [(2, 0), (1, 1)])
def test_a_used_up_budget_names_the_late_step_and_how_often_it_was_late(store: Store, named: int, others: int) -> None:
    late = LateStep("post", "post('S-1')", 2.0)
    end = WorkerEnd(signal=9, because=str(late), late=late)
    lease = claim(store)
    for earlier in [KILLED] * others + [end] * (named - 1):
        store.leases.end_attempt(lease, earlier.stored)
        lease = claim(store, lease.run)
    words = budget_used_up(store, store.leases.run(lease.run), end, "")
    times = {1: "once", 2: "2 times"}[named]
    more = " In all its worker has died 2 times in a row." if others else ""
    assert (
        words == f"Run {lease.run}: the step post('S-1') took longer than 2 s, {times}, and its worker was ended.{more}"
    )


def test_the_kind_of_a_scripts_error_is_stored_until_its_run_is_resumed(store: Store) -> None:
    lease = claim(store)
    said = "Rejected: HTTP 422: no such customer"
    store.leases.end(lease, RunState.RAISED, ended_by=said, error_kind="Rejected")
    row = store.leases.run(lease.run)
    assert (row.error_kind, row.ended_by) == ("Rejected", said)
    claim(store, lease.run)
    assert store.leases.run(lease.run).error_kind is None


def test_the_end_of_a_run_is_told_as_its_own_by_the_attempt_that_ended_it(store: Store) -> None:
    lease = claim(store)
    question = asked(store, lease)
    store.leases.end(lease, RunState.WAITING, ended_by="a question waits")
    ended = run_as_it_stands(store, lease)
    assert (ended.state, ended.words, ended.questions) == (RunState.WAITING, "a question waits", (question.id,))


def test_what_another_process_has_brought_to_its_end_is_not_told_as_one_s_own(store: Store) -> None:
    woken = claim(store)
    other = claim(store, woken.run)
    said = "resumed by another process (attempt 2); this one sent nothing more"
    assert run_as_it_stands(store, woken).words == said
    store.leases.end(other, RunState.FINISHED, ended_by="the task completed", result='"INV-9"')
    ended = run_as_it_stands(store, woken)
    assert (ended.state, ended.words) == (RunState.FINISHED, f"{said}. There: the task completed")
    assert run_as_it_stands(store, other).words == "the task completed"


@pytest.mark.parametrize(
    ("end", "ours", "words"),
    [
        (DONE, True, "exit code 0"),
        (KILLED, True, "it handed its run back; its worker was ended after that"),
        (replace(KILLED, lingered=True), False, "it handed its run back; its worker was ended after that"),
        (KILLED, False, "it handed its run back; after that its worker died (ended by signal 9)"),
    ],
)
def test_a_worker_that_handed_its_run_back_was_not_killed_by_anybody_else(
    store: Store, end: WorkerEnd, ours: bool, words: str
) -> None:
    lease = claim(store)
    store.leases.end(lease, RunState.WAITING, ended_by="a question waits")
    assert end_without_the_run(end, lease, store.leases.run(lease.run), ours=ours).words == words


def test_a_worker_whose_run_went_to_another_was_ended_by_its_keeper_or_killed(store: Store) -> None:
    lease = claim(store)
    claim(store, lease.run)
    run = store.leases.run(lease.run)
    assert end_without_the_run(KILLED, lease, run, ours=True) == AttemptEnd(
        "its run was assigned to another keeper; its worker was ended after that"
    )
    assert end_without_the_run(KILLED, lease, run, ours=False) == KILLED.stored
