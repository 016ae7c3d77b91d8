"""Questions and answers: put once, answered once, by a person with a name and a reason."""

from __future__ import annotations

import json
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta

import pytest

from browser_agent.errors import Misuse, NotAllowed, UnknownName
from browser_agent.states import Answer, GestureState, QuestionKind, QuestionState, RunState, StepState
from browser_agent.store import Lease, NewQuestion, PersonAnswer, Store
from browser_agent.store.answers import ALLOWED
from tests.store.building import NOON, PROOF, HandClock, asked, brought, called, everything, intent, take, way


def ann(answer: Answer, *, override: bool = False, **values: str) -> PersonAnswer:
    """What Ann says."""
    return PersonAnswer(answer, "ann", "I looked at the order list", values, override)


def test_every_kind_of_question_can_be_answered_by_giving_up() -> None:
    assert set(ALLOWED) == set(QuestionKind)
    assert all(Answer.ABANDON in answers for answers in ALLOWED.values())


@pytest.mark.parametrize("answer", Answer)
@pytest.mark.parametrize("kind", QuestionKind)
def test_a_question_takes_only_the_answers_of_its_kind(
    store: Store, lease: Lease, kind: QuestionKind, answer: Answer
) -> None:
    question = asked(store, lease, kind, earliest_safe=NOON)
    before = everything(store)
    if answer in ALLOWED[kind]:
        assert store.inbox.answer(question.id, ann(answer)).state is QuestionState.ANSWERED
        return
    with pytest.raises(Misuse, match=f"Question {question.id} can be answered with: .*abandon"):
        store.inbox.answer(question.id, ann(answer))
    assert everything(store) == before


@pytest.mark.parametrize(("by", "reason"), [("", "I saw it"), ("ann", ""), (" ", "I saw it"), ("ann", "\n")])
def test_an_answer_without_name_or_reason_changes_nothing(store: Store, lease: Lease, by: str, reason: str) -> None:
    question = asked(store, lease)
    before = everything(store)
    with pytest.raises(Misuse, match="needs a name"):
        store.inbox.answer(question.id, PersonAnswer(Answer.HAPPENED, by, reason))
    assert everything(store) == before


@pytest.mark.parametrize(
    ("answer", "state"),
    [
        (Answer.HAPPENED, GestureState.HAPPENED),
        (Answer.NOT_HAPPENED, GestureState.NOT_HAPPENED),
        (Answer.ABANDON, GestureState.ABANDONED),
    ],
)
def test_an_answer_settles_its_gesture(store: Store, lease: Lease, answer: Answer, state: GestureState) -> None:
    question = asked(store, lease, earliest_safe=NOON)
    assert question.gesture_id is not None
    assert store.journal.gesture(question.gesture_id).state is GestureState.ASKED
    store.inbox.answer(question.id, ann(answer, number="INV-9"))
    gesture, known = store.journal.gesture(question.gesture_id), store.inbox.question(question.id)
    assert (gesture.state, json.loads(gesture.values or "")) == (state, {"number": "INV-9"})
    assert json.loads(gesture.proven_by or "") == [f"answer to {question.id} by ann: I looked at the order list"]
    assert (known.state, known.answer, known.by, known.ended_at) == (QuestionState.ANSWERED, answer, "ann", NOON)
    ended = RunState.ABANDONED if answer is Answer.ABANDON else RunState.RUNNING
    assert store.leases.run(lease.run).state is ended


def test_the_answer_that_settled_a_gesture_is_known_by_the_gesture(store: Store, lease: Lease) -> None:
    question = asked(store, lease, earliest_safe=NOON)
    assert store.inbox.settling_answers(lease.run) == {}
    store.inbox.answer(question.id, ann(Answer.NOT_HAPPENED))
    settled = store.inbox.settling_answers(lease.run)
    assert [(gesture, by.id, by.by) for gesture, by in settled.items()] == [(question.gesture_id, question.id, "ann")]


@pytest.mark.parametrize("seen", [GestureState.HAPPENED, GestureState.NOT_HAPPENED])
def test_an_answer_that_came_after_a_look_had_settled_the_gesture_has_not_settled_it(
    store: Store, lease: Lease, clock: HandClock, seen: GestureState
) -> None:
    question = asked(store, lease, earliest_safe=NOON)
    store.journal.move(lease, question.gesture_id or "", seen, **(PROOF if seen is GestureState.HAPPENED else {}))
    clock.sleep(1)
    store.inbox.answer(question.id, ann(Answer.NOT_HAPPENED))
    assert store.inbox.settling_answers(lease.run) == {}


def test_the_answer_that_gives_a_proven_gesture_its_value_has_not_settled_it(store: Store, lease: Lease) -> None:
    gesture = brought(store, lease, GestureState.HAPPENED)
    question = asked(store, lease, QuestionKind.VALUES, gesture=gesture.id, step=gesture.step_id)
    store.inbox.answer(question.id, ann(Answer.HAPPENED, number="INV-9"))
    assert store.inbox.settling_answers(lease.run) == {}


def test_it_is_too_early_to_say_not_happened_before_the_safe_time(store: Store, lease: Lease, clock: HandClock) -> None:
    question = asked(store, lease, earliest_safe=NOON + timedelta(seconds=30))
    before = everything(store)
    with pytest.raises(Misuse, match=r"Too early .*before 2026-11-30 12:00:30 UTC"):
        store.inbox.answer(question.id, ann(Answer.NOT_HAPPENED))
    assert everything(store) == before
    clock.sleep(30)
    store.inbox.answer(question.id, ann(Answer.NOT_HAPPENED))


def test_without_a_declared_time_only_an_override_says_not_happened(store: Store, lease: Lease) -> None:
    question = asked(store, lease)
    with pytest.raises(Misuse, match="since no time is declared"):
        store.inbox.answer(question.id, ann(Answer.NOT_HAPPENED))
    known = store.inbox.answer(question.id, ann(Answer.NOT_HAPPENED, override=True))
    assert known.override
    assert store.audit_lines()[-2]["override"] is True


def test_of_two_people_one_answers(store: Store, lease: Lease) -> None:
    question = asked(store, lease)

    def try_it(name: str) -> str | None:
        try:
            return store.inbox.answer(question.id, PersonAnswer(Answer.HAPPENED, name, "I saw it")).by
        except NotAllowed:
            return None

    with ThreadPoolExecutor(12) as pool:
        answered = [name for name in pool.map(try_it, [f"person {n}" for n in range(12)]) if name]
    assert len(answered) == 1
    assert store.inbox.question(question.id).by == answered[0]
    assert [line["by"] for line in store.audit_lines() if line["kind"] == "answer"] == answered


def test_the_same_question_is_put_once(store: Store, lease: Lease) -> None:
    first = asked(store, lease, QuestionKind.APPROVAL, words="Email these?")
    before = everything(store)
    assert asked(store, lease, QuestionKind.APPROVAL, words="Email these?").id == first.id
    lines = {name: rows for name, rows in everything(store).items() if name != "run"}
    assert lines == {name: rows for name, rows in before.items() if name != "run"}
    assert asked(store, lease, QuestionKind.APPROVAL, words="Email those?").id != first.id


def test_a_question_that_was_answered_may_be_put_again(store: Store, lease: Lease) -> None:
    first = asked(store, lease, QuestionKind.APPROVAL)
    store.inbox.answer(first.id, ann(Answer.REFUSE))
    assert asked(store, lease, QuestionKind.APPROVAL).id != first.id


def test_a_question_about_a_value_leaves_its_gesture_happened_and_adds_the_value(store: Store, lease: Lease) -> None:
    gesture = brought(store, lease, GestureState.HAPPENED)
    question = asked(store, lease, QuestionKind.VALUES, gesture=gesture.id, step=gesture.step_id)
    assert store.journal.gesture(gesture.id).state is GestureState.HAPPENED
    store.inbox.answer(question.id, ann(Answer.HAPPENED, total="120.00"))
    known = json.loads(store.journal.gesture(gesture.id).values or "")
    assert known == {"number": "INV-2301", "total": "120.00"}


def test_what_the_step_needs_of_what_happened_stands_in_the_question_and_must_be_said(
    store: Store, lease: Lease
) -> None:
    step = store.journal.begin_step(lease, called())
    wanted = replace(intent(), intent=json.dumps({"needs": ["number", "total"], "proof": []}))
    gesture = store.journal.intend(lease, step, 1, wanted)
    for state in way(GestureState.INTENT, GestureState.UNKNOWN):
        take(store, lease, gesture.id, state)
    question = asked(store, lease, gesture=gesture.id, step=step.id)
    assert json.loads(question.details)["needs"] == ["number", "total"]
    before = everything(store)
    with pytest.raises(Misuse, match="the run needs its total: add --value total="):
        store.inbox.answer(question.id, ann(Answer.HAPPENED, number="INV-7"))
    assert everything(store) == before
    store.inbox.answer(question.id, ann(Answer.HAPPENED, number="INV-7", total="120.00"))
    assert store.journal.gesture(gesture.id).state is GestureState.HAPPENED


def test_an_answer_that_comes_after_the_gesture_was_settled_leaves_its_outcome(store: Store, lease: Lease) -> None:
    question = asked(store, lease)
    assert question.gesture_id is not None
    store.journal.move(lease, question.gesture_id, GestureState.HAPPENED, values="{}", proven_by='["o-1"]')
    store.inbox.answer(question.id, ann(Answer.NOT_HAPPENED, override=True))
    gesture = store.journal.gesture(question.gesture_id)
    assert (gesture.state, gesture.proven_by) == (GestureState.HAPPENED, '["o-1"]')


def test_a_question_is_closed_by_a_look_and_says_why(store: Store, lease: Lease) -> None:
    question = asked(store, lease)
    store.inbox.close(lease, question.id, "found on the order list")
    known = store.inbox.question(question.id)
    assert (known.state, known.reason, known.answer, known.by) == (
        QuestionState.CLOSED, "found on the order list", None, None,
    )  # fmt: skip


def ids(rows: Sequence[object]) -> list[str]:
    return [str(getattr(row, "id")) for row in rows]  # noqa: B009


def test_the_inbox_lists_the_oldest_first(store: Store, lease: Lease, clock: HandClock) -> None:
    first = asked(store, lease, QuestionKind.APPROVAL, words="one")
    clock.sleep(5)
    second = asked(store, lease, QuestionKind.ATTEMPTS, words="two")
    store.inbox.answer(first.id, ann(Answer.APPROVE))
    assert ids(store.inbox.questions()) == [first.id, second.id]
    assert ids(store.inbox.questions(lease.run, open_only=True)) == [second.id]
    assert store.inbox.questions("run-of-somebody-else") == []
    with pytest.raises(UnknownName, match="`browser-agent inbox` lists the open ones"):
        store.inbox.question("q-nowhere")


def test_a_question_names_its_pictures_in_the_log(store: Store, lease: Lease) -> None:
    seen = ({"kind": "picture", "words": "the list", "blob": "e" * 64}, {"kind": "text", "words": "no hit"})
    store.inbox.ask(lease, NewQuestion(QuestionKind.APPROVAL, "Email it?", ("because",), seen, {"calls": [1]}))
    line = store.audit_lines()[-1]
    assert (line["kind"], line["kind_of"], line["evidence"]) == ("question", "approval", ["e" * 64])


def test_a_step_is_found_again_by_its_bookmark_and_keeps_its_place(store: Store, lease: Lease) -> None:
    first, second = (store.journal.begin_step(lease, called(words)) for words in ("a()", "b()"))
    assert store.journal.begin_step(lease, called("a()")).id == first.id
    assert [(row.id, row.seq) for row in store.journal.steps(lease.run)] == [(first.id, 1), (second.id, 2)]


def test_a_step_keeps_its_value_or_its_raise_and_forgets_it_when_opened_again(store: Store, lease: Lease) -> None:
    step = store.journal.begin_step(lease, called())
    store.journal.mark_step(lease, step.id, "POST /draft")
    store.journal.mark_step(lease, step.id, "POST /other")
    store.journal.end_step(lease, step.id, StepState.RAISED, '{"kind": "Rejected"}')
    raised = store.journal.steps(lease.run)[0]
    assert (raised.raised, raised.value, raised.ended, raised.marked) == (
        '{"kind": "Rejected"}', None, NOON, "POST /draft",
    )  # fmt: skip
    store.journal.end_step(lease, step.id, StepState.BEGUN, "")
    assert (store.journal.steps(lease.run)[0].raised, store.journal.steps(lease.run)[0].ended) == (None, NOON)
    store.journal.end_step(lease, step.id, StepState.FINISHED, '"INV-1"')
    assert store.journal.steps(lease.run)[0].value == '"INV-1"'


def test_gestures_come_in_the_order_of_their_steps(store: Store, lease: Lease) -> None:
    gestures = [brought(store, lease, GestureState.HAPPENED, words) for words in ("a()", "b()", "c()")]
    assert ids(store.journal.gestures(lease.run)) == ids(gestures)
    with pytest.raises(UnknownName, match="No gesture"):
        store.journal.gesture("g-nowhere")


def test_a_run_that_was_abandoned_cannot_be_taken_up(store: Store, lease: Lease) -> None:
    question = asked(store, lease)
    store.leases.end(lease, RunState.WAITING, ended_by="a question")
    store.inbox.answer(question.id, ann(Answer.ABANDON))
    run = store.leases.run(lease.run)
    assert (run.state, run.ended_by) == (RunState.ABANDONED, "abandoned by ann: I looked at the order list")
