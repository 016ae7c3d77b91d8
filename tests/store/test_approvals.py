"""Approvals: bound to one call and one gesture, checked once more in the transaction that dispatches it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from browser_agent.errors import Misuse, NotAllowed, NotApproved
from browser_agent.states import Answer, GestureState, QuestionKind
from browser_agent.store import Consent, Lease, NewStep, PersonAnswer, Store
from browser_agent.store.records import ApprovalRow
from tests.store.building import asked, by_raw_sql, claim, everything, intent, submit, take

STEP, ARGUMENTS = "email_invoice@1", '{"id":"S-101"}'
CALLS = [
    {"step": STEP, "arguments": f'{{"id":"S-10{number}"}}', "words": f"email_invoice(S-10{number})"}
    for number in (1, 2, 3)
]


def said(answer: Answer = Answer.APPROVE, **consent: Any) -> PersonAnswer:
    return PersonAnswer(answer, by="Ann", reason="checked", consent=Consent(**consent))


def answered(store: Store, lease: Lease, word: PersonAnswer, calls: list[dict[str, str]] = CALLS) -> list[ApprovalRow]:
    """Ask for these calls, and answer; what was said to each."""
    question = asked(store, lease, QuestionKind.APPROVAL, details={"calls": calls, "valid_seconds": 3600.0})
    store.inbox.answer(question.id, word)
    return store.approvals.of_question(question.id)


def gesture(
    store: Store, lease: Lease, number: int = 1, arguments: str = ARGUMENTS, name: str = "email_invoice"
) -> str:
    """A gesture of that call, written down."""
    step = store.journal.begin_step(
        lease, NewStep(f"{name} {arguments}", name, f"{name}({arguments})", arguments, writes=True)
    )
    return store.journal.intend(lease, step, number, intent("send it")).id


def covering(store: Store, lease: Lease) -> str | None:
    row = store.approvals.covering(lease.run, STEP, ARGUMENTS)
    return row.id if row is not None else None


def test_a_yes_covers_exactly_the_call_that_it_was_given_for(store: Store) -> None:
    lease = claim(store)
    (first, *_) = answered(store, lease, said())
    assert covering(store, lease) == first.id
    assert store.approvals.covering(lease.run, STEP, '{"id":"S-999"}') is None
    assert store.approvals.covering(lease.run, "email_invoice@2", ARGUMENTS) is None
    assert store.approvals.covering(claim(store).run, STEP, ARGUMENTS) is None
    elsewhere = claim(store)
    others = [
        (lease, gesture(store, lease, arguments='{"id":"S-102"}')),
        (lease, gesture(store, lease, name="delete_invoice")),
        (elsewhere, gesture(store, elsewhere)),
    ]
    before = everything(store)
    for of_run, other in others:
        with pytest.raises(NotApproved):
            store.journal.dispatch(of_run, other, guarded=True, approval=first.id)
    assert everything(store) == before


def test_some_of_the_calls_can_be_approved_and_the_others_are_refused(store: Store) -> None:
    rows = answered(store, claim(store), said(only=(1, 3)))
    assert [row.approved for row in rows] == [True, False, True]
    (line,) = [line for line in store.audit_lines() if line["kind"] == "answer"]
    assert line["calls"] == [
        'approved: email_invoice@1 {"id":"S-101"}',
        'refused: email_invoice@1 {"id":"S-102"}',
        'approved: email_invoice@1 {"id":"S-103"}',
    ]
    assert line["expires"]


def test_a_no_is_a_no_to_every_call(store: Store) -> None:
    lease = claim(store)
    assert [row.approved for row in answered(store, lease, said(Answer.REFUSE))] == [False] * 3
    assert covering(store, lease) is None


@pytest.mark.parametrize("only", [(0,), (4,), (1, 9)])
def test_a_call_that_is_not_on_the_list_cannot_be_approved(store: Store, only: tuple[int, ...]) -> None:
    lease = claim(store)
    with pytest.raises(Misuse, match=r"has the calls 1 to 3, and no"):
        answered(store, lease, said(only=only))
    assert everything(store)["approval"] == []


def test_a_yes_for_no_time_and_a_no_for_a_time_are_refused(store: Store) -> None:
    lease = claim(store)
    with pytest.raises(Misuse, match="for some time"):
        answered(store, lease, said(valid=timedelta(0)))
    with pytest.raises(Misuse, match="Only an approval"):
        answered(store, lease, said(Answer.REFUSE, until_done=True))


@pytest.mark.parametrize(
    ("ended", "until_done", "covers"),
    [
        (GestureState.REFUSED, False, True),  # nothing was dispatched: the yes was not used
        (GestureState.NOT_HAPPENED, False, False),
        (GestureState.NOT_HAPPENED, True, True),
        (GestureState.REJECTED, True, True),
        (GestureState.IN_DOUBT, True, False),
        (GestureState.HAPPENED, True, False),
        (GestureState.HAPPENED, False, False),
    ],
)
def test_a_yes_is_used_up_by_one_gesture_unless_it_was_given_until_done(
    store: Store, ended: GestureState, until_done: bool, covers: bool
) -> None:
    lease = claim(store)
    yes = answered(store, lease, said(until_done=until_done))[0]
    made = gesture(store, lease)
    store.journal.dispatch(lease, made, guarded=True, approval=yes.id)
    for state in [GestureState.IN_DOUBT] * (ended is not GestureState.REFUSED) + [ended]:
        if store.journal.gesture(made).state is not state:
            take(store, lease, made, state)
    assert store.journal.gesture(made).approval == yes.id
    assert (covering(store, lease) == yes.id) is covers
    again = gesture(store, lease, 2)
    if covers:
        store.journal.dispatch(lease, again, guarded=True, approval=yes.id)
    else:
        with pytest.raises(NotApproved):
            store.journal.dispatch(lease, again, guarded=True, approval=yes.id)
        assert store.journal.gesture(again).state is GestureState.INTENT


def test_a_yes_that_has_run_out_dispatches_nothing(store: Store) -> None:
    lease = claim(store)
    yes = answered(store, lease, said(valid=timedelta(hours=1)))[0]
    assert covering(store, lease) == yes.id
    assert yes.expires is not None and yes.expires > datetime.now(UTC) + timedelta(minutes=59)
    made = gesture(store, lease)
    by_raw_sql(store, "UPDATE approval SET expires = '2020-01-01 00:00:00.000000'")
    assert covering(store, lease) is None
    with pytest.raises(NotApproved):
        store.journal.dispatch(lease, made, guarded=True, approval=yes.id)


def test_two_people_cannot_both_say_yes(store: Store) -> None:
    lease = claim(store)
    answered(store, lease, said())
    (question,) = store.inbox.questions(lease.run)
    with pytest.raises(NotAllowed):
        store.inbox.answer(question.id, said())
    assert len(everything(store)["approval"]) == 3


def test_the_entry_of_a_dispatch_names_whose_authority_and_who_was_present(store: Store) -> None:
    run = submit(store)
    by_raw_sql(store, f"UPDATE run SET submitted_by = 'cron' WHERE id = '{run}'")
    lease = store.leases.claim(run, keeper="{}", keeper_dead=True, present=None)
    yes = answered(store, lease, said())[0]
    store.journal.dispatch(lease, gesture(store, lease), guarded=True, approval=yes.id)
    take(store, lease, gesture(store, lease, 2, '{"id":"S-999"}'), GestureState.DISPATCHING)
    approved, plain = [line for line in store.audit_lines() if line["kind"] == "dispatch"]
    assert (approved["authority"], approved["present"]) == ("Ann", "nobody")
    assert approved["approval"] == {"question": yes.question_id, "by": "Ann"}
    assert (plain["authority"], plain["approval"]) == ("cron", "none was needed")
    attended = store.leases.claim(run, keeper="{}", keeper_dead=True, present="bob")
    take(store, attended, gesture(store, attended, 3), GestureState.DISPATCHING)
    assert store.audit_lines()[-1]["present"] == "bob"
