"""The tables of states, arrow by arrow: what they lack can't be done, and an attempt at it changes nothing."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

import pytest

from browser_agent.errors import NotAllowed, Superseded
from browser_agent.states import (
    GESTURE_ARROWS,
    MADE_GESTURE_STATES,
    OPEN_GESTURE_STATES,
    QUESTION_ARROWS,
    RUN_ARROWS,
    STEP_ARROWS,
    Answer,
    Arrows,
    GestureState,
    QuestionState,
    RunState,
    StepState,
    check_arrow,
)
from browser_agent.store import Lease, PersonAnswer, Store
from tests.store.building import (
    PROOF,
    REFUSED,
    asked,
    brought,
    by_raw_sql,
    called,
    claim,
    everything,
    only_sqlite,
    submit,
)

TABLES: tuple[Arrows[Any], ...] = (RUN_ARROWS, STEP_ARROWS, GESTURE_ARROWS, QUESTION_ARROWS)


def allowed(table: Arrows[Any]) -> list[tuple[StrEnum, StrEnum]]:
    """The arrows of a table."""
    return [(old, new) for old in sorted(table) for new in sorted(table[old])]


def test_an_arrow_that_a_table_lacks_is_refused_by_both_of_its_names() -> None:
    check_arrow(RUN_ARROWS, RunState.RUNNING, RunState.FINISHED)
    with pytest.raises(NotAllowed, match="no arrow from finished to running. Nothing was changed"):
        check_arrow(RUN_ARROWS, RunState.FINISHED, RunState.RUNNING)


def test_every_state_has_its_row_in_its_table() -> None:
    enums = (RunState, StepState, GestureState, QuestionState)
    assert [set(table) for table in TABLES] == [set(enum) for enum in enums]


def test_no_gesture_is_settled_and_open_at_once() -> None:
    settled = {state for state, arrows in GESTURE_ARROWS.items() if not arrows}
    assert not settled & OPEN_GESTURE_STATES
    assert settled | OPEN_GESTURE_STATES == set(GestureState)
    assert GestureState.INTENT not in MADE_GESTURE_STATES


@only_sqlite  # the table is the same
@pytest.mark.parametrize(("old", "new"), allowed(GESTURE_ARROWS))
def test_a_gesture_takes_the_arrows_of_its_table(
    store: Store, lease: Lease, old: GestureState, new: GestureState
) -> None:
    gesture = brought(store, lease, old)
    store.journal.move(lease, gesture.id, new, **PROOF)
    assert store.journal.gesture(gesture.id).state is new


@only_sqlite
@pytest.mark.parametrize("old", GestureState)
def test_a_gesture_takes_no_other_arrow(store: Store, lease: Lease, old: GestureState) -> None:
    gesture, before = brought(store, lease, old), everything(store)
    for new in set(GestureState) - GESTURE_ARROWS[old]:
        with pytest.raises(NotAllowed):
            store.journal.move(lease, gesture.id, new, **PROOF)
    assert everything(store) == before


@pytest.mark.parametrize("state", sorted(set(GestureState) - {GestureState.INTENT}))
def test_only_an_intent_is_dispatched(store: Store, lease: Lease, state: GestureState) -> None:
    gesture, before = brought(store, lease, state), everything(store)
    with pytest.raises(NotAllowed):
        store.journal.dispatch(lease, gesture.id, guarded=True)
    assert everything(store) == before


LET_GO = {GestureState.DISPATCHING, GestureState.IN_DOUBT}


@pytest.mark.parametrize("state", sorted(LET_GO))
def test_a_request_of_a_gesture_that_is_being_made_may_be_let_go(
    store: Store, lease: Lease, state: GestureState
) -> None:
    gesture = brought(store, lease, state)
    store.journal.release(lease, gesture.id, "POST", "http://127.0.0.1:8001/invoices")
    assert [release.method for release in store.journal.releases(gesture.id)] == ["POST"]


NOT_LET_GO = sorted(set(GestureState) - LET_GO)


@pytest.mark.parametrize("state", NOT_LET_GO)
def test_no_other_request_is_let_go(store: Store, lease: Lease, state: GestureState) -> None:
    gesture = brought(store, lease, state)
    with pytest.raises(NotAllowed):
        store.journal.release(lease, gesture.id, "POST", "http://127.0.0.1:8001/invoices")
    assert not store.journal.releases(gesture.id)


def run_in(store: Store, state: RunState) -> tuple[str, Lease]:
    run = submit(store)
    lease = claim(store, run)
    if state is RunState.ABANDONED:
        question = asked(store, lease)
        store.leases.end(lease, RunState.WAITING, ended_by="a question")
        store.inbox.answer(question.id, PersonAnswer(Answer.ABANDON, "ann", "not wanted any more"))
    elif state is not RunState.RUNNING:
        store.leases.end(lease, state, ended_by="as the test wants it")
    return run, lease


@only_sqlite  # the table is the same
@pytest.mark.parametrize("new", sorted(RUN_ARROWS[RunState.RUNNING]))
def test_a_lease_ends_a_running_run_along_an_arrow(store: Store, new: RunState) -> None:
    run, lease = run_in(store, RunState.RUNNING)
    store.leases.end(lease, new, ended_by="so")
    assert store.leases.run(run).state is new


@only_sqlite
@pytest.mark.parametrize("old", sorted(set(RunState) - {RunState.NEW}))
def test_a_lease_ends_no_run_otherwise(store: Store, old: RunState) -> None:
    _, lease = run_in(store, old)
    before = everything(store)
    for new in set(RunState) - (RUN_ARROWS[old] if old is RunState.RUNNING else set()):
        with pytest.raises((NotAllowed, Superseded)):
            store.leases.end(lease, new, ended_by="so")
    assert everything(store) == before


@pytest.mark.parametrize("state", [RunState.FINISHED, RunState.ABANDONED])
def test_an_ended_run_is_not_claimed(store: Store, state: RunState) -> None:
    run, _ = run_in(store, state)
    before = everything(store)
    with pytest.raises(NotAllowed):
        claim(store, run)
    assert everything(store) == before


@only_sqlite  # the table is the same
@pytest.mark.parametrize("new", StepState)
@pytest.mark.parametrize("old", StepState)
def test_a_step_takes_only_the_arrows_of_its_table(store: Store, lease: Lease, old: StepState, new: StepState) -> None:
    step = store.journal.begin_step(lease, called())
    if old is not StepState.BEGUN:
        store.journal.end_step(lease, step.id, old, '"old"')
    before = everything(store)
    if new in STEP_ARROWS[old]:
        store.journal.end_step(lease, step.id, new, '"new"')
        assert store.journal.steps(lease.run)[0].state is new
        return
    with pytest.raises(NotAllowed):
        store.journal.end_step(lease, step.id, new, '"new"')
    assert everything(store) == before


@pytest.mark.parametrize("state", [QuestionState.ANSWERED, QuestionState.CLOSED])
def test_a_question_ends_once(store: Store, lease: Lease, state: QuestionState) -> None:
    question = asked(store, lease)
    said = PersonAnswer(Answer.HAPPENED, "ann", "I saw it")
    if state is QuestionState.ANSWERED:
        store.inbox.answer(question.id, said)
    else:
        store.inbox.close(lease, question.id, "found on the list")
    before = everything(store)
    with pytest.raises(NotAllowed):
        store.inbox.answer(question.id, PersonAnswer(Answer.ABANDON, "bob", "too late"))
    with pytest.raises(NotAllowed):
        store.inbox.close(lease, question.id, "again")
    assert everything(store) == before


SETTLED = sorted(state for state, arrows in GESTURE_ARROWS.items() if not arrows)


@pytest.mark.parametrize("state", SETTLED)
def test_a_settled_gesture_keeps_its_outcome_also_against_raw_sql(
    store: Store, lease: Lease, state: GestureState
) -> None:
    gesture = brought(store, lease, state)
    for other in set(GestureState) - {state}:
        with pytest.raises(REFUSED, match="is kept|keeps its outcome"):
            by_raw_sql(store, f"UPDATE gesture SET state = '{other}', proven_by = '[1]' WHERE id = '{gesture.id}'")
    assert store.journal.gesture(gesture.id).state is state


@pytest.mark.parametrize("state", [RunState.FINISHED, RunState.ABANDONED])
def test_an_ended_run_stays_ended_also_against_raw_sql(store: Store, state: RunState) -> None:
    run, _ = run_in(store, state)
    with pytest.raises(REFUSED, match="an ended run stays ended"):
        by_raw_sql(store, "UPDATE run SET state = 'running'")
    assert store.leases.run(run).state is state


@pytest.mark.parametrize("table", ["step", "question"])
def test_ended_steps_and_questions_stay_ended_also_against_raw_sql(store: Store, lease: Lease, table: str) -> None:
    question = asked(store, lease)
    store.inbox.close(lease, question.id, "found")
    store.journal.end_step(lease, question.step_id or "", StepState.FINISHED, "1")
    with pytest.raises(REFUSED):
        by_raw_sql(store, f"UPDATE {table} SET state = '{'begun' if table == 'step' else 'open'}'")


@pytest.mark.parametrize("proof", ["NULL", "''", "'[]'", "'null'"])
def test_happened_without_proof_is_refused_also_against_raw_sql(store: Store, lease: Lease, proof: str) -> None:
    gesture = brought(store, lease, GestureState.IN_DOUBT)
    with pytest.raises(REFUSED, match="happened needs its evidence"):
        by_raw_sql(store, f"UPDATE gesture SET state = 'happened', proven_by = {proof}")
    assert store.journal.gesture(gesture.id).state is GestureState.IN_DOUBT


def test_happened_without_proof_is_refused_by_the_store_and_changes_nothing(store: Store, lease: Lease) -> None:
    gesture = brought(store, lease, GestureState.IN_DOUBT)
    before = everything(store)
    with pytest.raises(Exception, match="happened needs its evidence"):
        store.journal.move(lease, gesture.id, GestureState.HAPPENED, values='{"number": "INV-1"}', proven_by="[]")
    assert everything(store) == before
