"""Who owns a run may write it, and nobody else: the fence, the lease, and the one claim that wins."""

from __future__ import annotations

import inspect
import multiprocessing
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from browser_agent.errors import InOtherHands, Misuse, NotAllowed, Superseded, UnknownName
from browser_agent.states import Answer, EndKind, GestureState, QuestionKind, RunState, StepState
from browser_agent.store import AttemptEnd, Lease, NewQuestion, PersonAnswer, Store
from browser_agent.store.inbox import Inbox
from browser_agent.store.journal import Journal
from browser_agent.store.leases import Leases
from browser_agent.store.records import StepRow
from tests.store.building import (
    NOON,
    asked,
    brought,
    by_raw_sql,
    called,
    claim,
    everything,
    intended,
    intent,
    seconds_now,
    submit,
)

Write = Callable[[Store, Lease, StepRow, str, str], object]

WRITES: dict[str, Write] = {
    "Journal.begin_step": lambda store, lease, step, gesture, question: store.journal.begin_step(
        lease, called("email(S-101)")
    ),
    "Journal.end_step": lambda store, lease, step, gesture, question: store.journal.end_step(
        lease, step.id, StepState.FINISHED, "1"
    ),
    "Journal.mark_step": lambda store, lease, step, gesture, question: store.journal.mark_step(
        lease, step.id, "POST /draft"
    ),
    "Journal.intend": lambda store, lease, step, gesture, question: store.journal.intend(lease, step, 2, intent()),
    "Journal.dispatch": lambda store, lease, step, gesture, question: store.journal.dispatch(
        lease, gesture, guarded=True
    ),
    "Journal.release": lambda store, lease, step, gesture, question: store.journal.release(
        lease, gesture, "POST", "http://127.0.0.1/"
    ),
    "Journal.move": lambda store, lease, step, gesture, question: store.journal.move(
        lease, gesture, GestureState.REFUSED
    ),
    "Journal.record": lambda store, lease, step, gesture, question: store.journal.record(lease, gesture, wire="[]"),
    "Journal.observe": lambda store, lease, step, gesture, question: store.journal.observe(
        lease, gesture, ['{"observer": "Record", "sight": "seen"}']
    ),
    "Leases.beat": lambda store, lease, step, gesture, question: store.leases.beat(lease),
    "Leases.record": lambda store, lease, step, gesture, question: store.leases.record(lease, page="p1"),
    "Leases.end": lambda store, lease, step, gesture, question: store.leases.end(
        lease, RunState.FINISHED, ended_by="done"
    ),
    "Leases.requeue": lambda store, lease, step, gesture, question: store.leases.requeue(lease, "by ann"),
    "Inbox.ask": lambda store, lease, step, gesture, question: store.inbox.ask(
        lease, NewQuestion(QuestionKind.APPROVAL, "Email it?")
    ),
    "Inbox.set_earliest_safe": lambda store, lease, step, gesture, question: store.inbox.set_earliest_safe(
        lease, question, NOON
    ),
    "Inbox.close": lambda store, lease, step, gesture, question: store.inbox.close(lease, question, "found"),
}
NOT_FENCED = {
    "Journal.move_within": "runs inside a transaction that its caller has fenced, or that a person's answer opened",
    "Leases.end_attempt": "only says how an attempt ended, which a superseded one may",
}


def test_every_method_that_takes_a_lease_is_tried_below() -> None:
    takes_lease = {
        f"{room.__name__}.{name}"
        for room in (Journal, Leases, Inbox)
        for name, method in inspect.getmembers(room, inspect.isfunction)
        if not name.startswith("_") and "lease" in inspect.signature(method).parameters
    }
    assert takes_lease == set(WRITES) | set(NOT_FENCED)


@pytest.mark.parametrize("write", WRITES)
def test_an_older_attempt_writes_nothing(store: Store, lease: Lease, write: str) -> None:
    step, gesture = intended(store, lease)
    question = asked(store, lease, QuestionKind.VALUES, step=step.id)
    newer = claim(store, lease.run)
    before = everything(store)
    with pytest.raises(Superseded, match="Attempt 2 owns the run") as stop:
        WRITES[write](store, lease, step, gesture.id, question.id)
    assert (stop.value.attempt, stop.value.now) == (1, newer.attempt)
    assert everything(store) == before


@pytest.mark.parametrize("write", sorted(set(WRITES) - {"Journal.release"}))
def test_the_current_attempt_writes_each_of_them(store: Store, lease: Lease, write: str) -> None:
    step, gesture = intended(store, lease)
    question = asked(store, lease, QuestionKind.VALUES, step=step.id)
    before = everything(store)
    WRITES[write](store, lease, step, gesture.id, question.id)
    assert everything(store) != before


def test_the_right_number_with_another_token_writes_nothing(store: Store, lease: Lease) -> None:
    before = everything(store)
    with pytest.raises(Superseded):
        store.leases.beat(Lease(lease.run, lease.attempt, "stolen"))
    with pytest.raises(Superseded, match="may not change anything any more"):
        store.leases.beat(Lease("run-nowhere", 1, lease.token))
    assert everything(store) == before


def test_a_superseded_attempt_may_still_say_how_it_ended_and_nothing_else(store: Store, lease: Lease) -> None:
    claim(store, lease.run)
    store.leases.end_attempt(lease, AttemptEnd("ended by signal 9", EndKind.WORKER_ENDED, -9))
    store.leases.end_attempt(lease, AttemptEnd("a later word"))
    first, second = store.leases.attempts(lease.run)
    assert (first.how, first.ended, second.how) == ("ended by signal 9", NOON, None)
    assert (first.end_kind, first.exit_code, second.end_kind) == (EndKind.WORKER_ENDED, -9, None)
    assert [line["how"] for line in store.audit_lines() if line["kind"] == "attempt_ended"] == ["ended by signal 9"]


def test_the_facts_of_an_attempt_stand_in_its_row(store: Store, lease: Lease) -> None:
    store.leases.record(lease, page="p1", source="ab")
    assert [(row.page, row.source) for row in store.leases.attempts(lease.run)] == [("p1", "ab")]


def lease_ends_in(store: Store, seconds: float) -> None:
    by_raw_sql(store, f"UPDATE run SET lease_until = {seconds_now(store)} + {seconds}")


def test_too_little_lease_left_makes_no_gesture(store: Store, lease: Lease) -> None:
    _, gesture = intended(store, lease)
    lease_ends_in(store, 11)
    with pytest.raises(Superseded):
        store.journal.dispatch(lease, gesture.id, guarded=True)
    assert store.journal.gesture(gesture.id).state is GestureState.INTENT
    store.leases.beat(lease)
    store.journal.dispatch(lease, gesture.id, guarded=True)


def test_nothing_is_let_go_at_the_wire_after_the_lease_has_run_out(store: Store, lease: Lease) -> None:
    gesture = brought(store, lease, GestureState.DISPATCHING)
    lease_ends_in(store, -1)
    with pytest.raises(Superseded):
        store.journal.release(lease, gesture.id, "POST", "http://127.0.0.1:8001/invoices")
    assert not store.journal.releases(gesture.id)


def test_a_run_in_living_hands_is_not_taken_over_until_its_lease_runs_out(store: Store, lease: Lease) -> None:
    with pytest.raises(InOtherHands, match="is being worked on"):
        store.leases.claim(lease.run, keeper="{}", keeper_dead=False)
    lease_ends_in(store, -1)
    assert store.leases.claim(lease.run, keeper="{}", keeper_dead=False).attempt == 2


@pytest.mark.parametrize("state", [RunState.WAITING, RunState.STOPPED, RunState.RAISED, RunState.NEEDS_ATTENTION])
def test_a_run_that_was_handed_back_is_claimed_without_waiting(store: Store, lease: Lease, state: RunState) -> None:
    store.leases.end(lease, state, ended_by="so")
    assert store.leases.claim(lease.run, keeper="{}", keeper_dead=False).attempt == 2
    assert store.leases.run(lease.run).ended_by is None


def test_of_two_hundred_threads_one_claims_the_run(store: Store) -> None:
    run = submit(store)

    def try_it(number: int) -> Lease | None:
        try:
            return store.leases.claim(run, keeper=str(number), keeper_dead=False)
        except InOtherHands:
            return None

    with ThreadPoolExecutor(200) as pool:
        won = [lease for lease in pool.map(try_it, range(200)) if lease is not None]
    assert [lease.attempt for lease in won] == [1]
    assert [row.number for row in store.leases.attempts(run)] == [1]


def _claim_in_a_process(where: str, run: str, number: int) -> int:
    with Store(where) as store:
        try:
            return store.leases.claim(run, keeper=str(number), keeper_dead=False).attempt
        except InOtherHands:
            return 0


@pytest.mark.process
def test_of_four_processes_one_claims_the_run(store: Store) -> None:
    run = submit(store)
    with multiprocessing.get_context("spawn").Pool(4) as pool:
        got = pool.starmap(_claim_in_a_process, [(store.address, run, number) for number in range(4)])
    assert sorted(got) == [0] * 3 + [1]


def test_takers_over_one_after_the_other_never_share_a_number(store: Store) -> None:
    run = submit(store)
    with ThreadPoolExecutor(20) as pool:
        leases = list(pool.map(lambda _: claim(store, run), range(20)))
    assert sorted(lease.attempt for lease in leases) == list(range(1, 21))
    assert len({lease.token for lease in leases}) == 20


def test_a_key_names_one_run(store: Store) -> None:
    run = submit(store, key="day-30")
    assert submit(store, key="day-30") == run
    assert submit(store) != run
    before = everything(store)
    with pytest.raises(InOtherHands, match="has the key 'day-30' already, with arguments"):
        submit(store, key="day-30", arguments='{"day": "2026-12-01"}')
    assert everything(store) == before


def test_runs_are_listed_and_an_unknown_one_is_said_to_be_unknown(store: Store) -> None:
    first, second = submit(store), submit(store)
    assert {row.id for row in store.leases.runs()} == {first, second}
    with pytest.raises(UnknownName, match="No run 'run-x'"):
        store.leases.run("run-x")
    with pytest.raises(UnknownName, match="No run 'run-x'"):
        claim(store, "run-x")


@pytest.mark.parametrize("state", [RunState.FINISHED, RunState.WAITING, RunState.STOPPED])
def test_a_run_that_was_handed_back_is_not_written_by_the_hand_that_gave_it(
    store: Store, lease: Lease, state: RunState
) -> None:
    _, gesture = intended(store, lease)
    store.leases.end(lease, state, ended_by="so")
    with pytest.raises((Superseded, NotAllowed)):
        store.leases.beat(lease)
        store.journal.dispatch(lease, gesture.id, guarded=True)


def test_a_run_that_a_person_gave_up_makes_no_further_gesture(store: Store, lease: Lease) -> None:
    _, gesture = intended(store, lease)
    question = asked(store, lease, QuestionKind.APPROVAL)
    store.inbox.answer(question.id, PersonAnswer(Answer.ABANDON, "ann", "stop this"))
    with pytest.raises((Superseded, NotAllowed)):
        store.journal.dispatch(lease, gesture.id, guarded=True)


def test_misuse_is_an_exception_and_a_stop_is_not() -> None:
    assert issubclass(InOtherHands, Misuse)
    assert not issubclass(Superseded, Exception)
