"""Runs one step to its end: a read returns its value, a write makes gestures until one is proven or it gives up.

`StepHistory.next_act` decides what comes next; this file carries it out.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, NoReturn, TypeVar

from pydantic import ValidationError

from browser_agent.errors import Fact, MachineTrouble, NotHappened, Refused
from browser_agent.run.approval_gate import ApprovalGate
from browser_agent.run.attempt import Attempt
from browser_agent.run.gesture_pipeline import GesturePipeline
from browser_agent.run.sign_in import prepare_page, with_login
from browser_agent.run.step_files import check_files, files_of
from browser_agent.run.step_history import NextAct, StepHistory
from browser_agent.run.stored_facts import fact_from_json, fact_json, rejected
from browser_agent.script.gestures import Done, Gesture, misfits
from browser_agent.script.steps import StepCall
from browser_agent.states import GestureState, QuestionKind, QuestionState, StepState
from browser_agent.store import NewQuestion
from browser_agent.store.records import GestureRow, StepRow
from browser_agent.wire import is_among

T = TypeVar("T")

_NO_VALUE: Any = None


@dataclass(frozen=True)
class StepResult(Generic[T]):
    """How a step ended: with its value, or with a fact that is raised to the script."""

    value: T = _NO_VALUE
    raised: Fact | None = None


def stored_end(call: StepCall[T], row: StepRow) -> StepResult[T]:
    """The end that an earlier attempt, or an equal call of this one, stored."""
    if row.state is StepState.FINISHED:
        check_files(row.files, row.words)
        return StepResult(call.step.load(row.value or "null"))
    return StepResult(raised=fact_from_json(json.loads(row.raised or "{}")))


class StepRunner:
    """Runs the steps of one attempt that have no stored end.

    Args:
        attempt: the attempt.
        approvals: checks whether a person approved a call.
    """

    def __init__(self, attempt: Attempt, approvals: ApprovalGate) -> None:
        self._attempt, self._approvals = attempt, approvals

    def run(self, call: StepCall[T], row: StepRow) -> StepResult[T]:
        """Run a step to its end and store it.

        Raises:
            Stop: the run ends; the step stays begun.
        """
        with self._attempt.timed_step(call.step.name, call.words):
            if not call.step.writes:
                return StepResult(self._read(call, row))
            try:
                return StepResult(self._write(call, row))
            except Fact as raised:
                text = json.dumps(fact_json(raised))
                self._attempt.store.journal.end_step(self._attempt.lease, row.id, StepState.RAISED, text)
                return StepResult(raised=raised)

    def _read(self, call: StepCall[T], row: StepRow) -> T:
        prepare = partial(prepare_page, self._attempt, call.step.site, call.prepare)
        found = with_login(self._attempt, row.id, prepare)
        value: T = found.value if isinstance(found, Done) else found
        return self._finish(call, row, value)

    def _write(self, call: StepCall[T], row: StepRow) -> T:
        """Make gestures until the step has its value, or raise what ends it."""
        refusals = 0
        while True:
            history = StepHistory.of(self._attempt.store, row)
            act = history.next_act(again=call.step.again, refusals_left=call.step.refusals - refusals)
            if act is NextAct.USE_VALUE and history.last is not None:
                return self._proven(call, row, history.last)
            if act is not NextAct.MAKE:
                _raise(act, history)
            made = with_login(self._attempt, row.id, partial(self._make, call, row, history))
            if not isinstance(made, GestureRow):
                return self._finish(call, row, made)
            refusals += made.state is GestureState.REFUSED

    def _make(self, call: StepCall[T], row: StepRow, history: StepHistory) -> GestureRow | T:
        """Prepare the page and make the gesture that the step returns, or return its value if there is none to make."""
        self._ask_if_marked(call, row)
        self._attempt.restart_step_limit()
        approval = self._approvals.covering(call, row, history.gestures)
        prepared = self._prepare(call, row)
        if isinstance(prepared, Done):
            done: T = prepared.value
            return done
        if prepared is None:
            return call.step.adapter.validate_python(None)
        assert isinstance(prepared, Gesture)
        ordinal = len(self._attempt.store.journal.gestures(row.run_id)) + 1
        reverse = call.step.reverse.name if call.step.reverse is not None else None
        pipeline = GesturePipeline(self._attempt, row, call.step.site, history, ordinal, approval, reverse)
        return pipeline.make(prepared)

    # preparing the page

    def _prepare(self, call: StepCall[T], row: StepRow) -> Any:
        """The step's gesture, or what it returned instead. A write that its preparation makes marks the step."""
        writes = self._attempt.task_page.writes  # of this very page: after a death there would be another one
        writes.clear()
        if call.step.preparation == "repeatable":
            return prepare_page(self._attempt, call.step.site, call.prepare)
        site = call.step.site
        harmless = site.repeatable if site is not None else ()
        try:
            with self._attempt.watch_preparation(row.id, harmless):
                return prepare_page(self._attempt, call.step.site, call.prepare)
        finally:
            marking = next((write for write in writes if not is_among(write, harmless)), None)
            if marking is not None:
                self._attempt.store.journal.mark_step(self._attempt.lease, row.id, marking)
                row.marked = row.marked or marking

    def _ask_if_marked(self, call: StepCall[Any], row: StepRow) -> None:
        """A step whose preparation wrote before is prepared once more only if a person agrees."""
        if row.marked is None or call.step.preparation == "repeatable" or self._may_prepare_again(row.id):
            return
        words = f"Preparing this step sent a write ({row.marked}): {row.words}. May it be prepared again?"
        safe = "Look at the site. If preparing it again does no harm, answer not-happened."
        self._attempt.ask(NewQuestion(QuestionKind.MARKED_STEP, words, safe_step=safe, step=row.id))

    def _may_prepare_again(self, step: str) -> bool:
        questions = self._attempt.store.inbox.questions(self._attempt.lease.run)
        asked = (question for question in questions if question.step_id == step)
        return any(one.kind is QuestionKind.MARKED_STEP and one.state is QuestionState.ANSWERED for one in asked)

    # the step's value

    def _proven(self, call: StepCall[T], row: StepRow, gesture: GestureRow) -> T:
        """The step's value from what was proven; a person is asked for a value that doesn't fit."""
        known = json.loads(gesture.intent).get("known", {})
        values = {**known, **json.loads(gesture.values or "{}")}
        try:
            return self._finish(call, row, call.step.proven(values))
        except (ValidationError, KeyError) as error:
            self._ask_for_values(row, gesture, misfits(error))

    def _ask_for_values(self, row: StepRow, gesture: GestureRow, wrong: dict[str, str]) -> NoReturn:
        observations = self._attempt.store.journal.observations(gesture.id)
        seen = [said for said in (json.loads(one.observation) for one in observations) if said["sight"] == "seen"]
        reasons = [f"what was read does not fit: {name}: {why}" for name, why in wrong.items()]
        asked = NewQuestion(
            kind=QuestionKind.VALUES,
            words=f"This happened: {gesture.words}. What is its {', '.join(wrong)}?",
            reasons=(*reasons, *dict.fromkeys(reason for said in seen for reason in said["reasons"])),
            details={"needs": list(wrong)},
            safe_step="Answer happened with --value NAME=VALUE for each name.",
            step=row.id,
            gesture=gesture.id,
        )
        self._attempt.ask(asked)

    def _finish(self, call: StepCall[T], row: StepRow, value: T) -> T:
        """Store the value and return it as it will be read back, so that a replay returns the same."""
        text = call.step.dump(value)
        stored = call.step.load(text)
        self._attempt.store.journal.end_step(self._attempt.lease, row.id, StepState.FINISHED, text, files_of(stored))
        self._attempt.checkpoint(call.words)
        facts = {"step": call.step.name, "value": json.loads(text), "writes": row.writes, "seq": row.seq}
        self._attempt.emit("step", call.words, **facts)
        return stored


def _raise(act: NextAct, history: StepHistory) -> NoReturn:
    """Raise what ends the step without a value."""
    last = history.last
    assert last is not None, "a step without a gesture makes one"
    match act:
        case NextAct.SETTLE_FIRST:
            raise MachineTrouble(f"An earlier gesture of this step is not settled: {last.words}")
        case NextAct.RAISE_REFUSED:
            raise Refused(last.words, " ".join(json.loads(last.reasons or "[]")[:1]))
        case NextAct.RAISE_REJECTED:
            raise rejected(last)
        case NextAct.RAISE_NOT_HAPPENED:
            raise NotHappened(last.words, history.absences)
        case NextAct.USE_VALUE | NextAct.MAKE:
            raise AssertionError(f"{act} ends no step")
