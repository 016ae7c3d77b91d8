"""Run: what a task holds. The whole pipeline of a step on one screen, and the latch behind every stop.

A call is found again in the journal, or begun; a read is run; a write is prepared, its gesture made and settled, and
made again only after a proven absence, as a new gesture, within the step's budget. After a stop every call on the run
raises the same stop, whatever the script catches.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Any, TypeVar

from pydantic import ValidationError

from browser_agent.errors import (
    Fact,
    KeeperGone,
    MachineTrouble,
    NotHappened,
    OutcomeUnknown,
    Refused,
    Stop,
    Stopped,
    StoreUnusable,
    Superseded,
    TaskChanged,
    WaitingForPerson,
)
from browser_agent.run.approval_gate import ApprovalGate
from browser_agent.run.attempt import Attempt
from browser_agent.run.gesture_pipeline import GesturePipeline
from browser_agent.run.recovery import Recovery, UnknownKind, by_person, case_of, last_confirmed
from browser_agent.run.replay import Replay
from browser_agent.run.sign_in import prepared, signed_in
from browser_agent.run.step_files import check_files, files_of
from browser_agent.run.stored_facts import causes, fact, fact_json, rejected
from browser_agent.script.gestures import Done, Gesture, misfits
from browser_agent.script.must_run import raise_if_dropped
from browser_agent.script.steps import StepCall
from browser_agent.states import (
    MADE_GESTURE_STATES,
    OPEN_GESTURE_STATES,
    Answer,
    GestureState,
    QuestionKind,
    QuestionState,
    RunState,
    StepState,
)
from browser_agent.store import Asked, Called
from browser_agent.store.records import GestureRow, QuestionRow, StepRow
from browser_agent.wire import is_among

T = TypeVar("T")


class Run:
    """One execution of a task, as the task sees it.

    Attributes:
        id: the run's id.
        attempt: which go at it this is, from 1.
    """

    def __init__(self, attempt: Attempt) -> None:
        self.id, self.attempt = attempt.lease.run, attempt.lease.attempt
        self._attempt = attempt
        self._stop: Stop | None = None
        self._raised: tuple[Fact, str] | None = None  # the last fact that a step raised, and the step
        self._consents = ApprovalGate(attempt)
        self._replay = _replay(attempt)

    def step(self, call: StepCall[T], *, key: str | None = None) -> T:
        """Run a step, or hand back its stored value if it has ended in an earlier attempt.

        Args:
            call: the step with its arguments.
            key: the caller's own bookmark, instead of name and arguments.

        Returns:
            The step's value: what was read, or what was proven.

        Raises:
            Refused, Rejected, NotHappened: facts that a script may handle.
            Stop: the run ends; every later call raises it again.
            NeverRun: a step call or gesture was dropped since the last call.
        """
        call.take()
        return self._latched(lambda: self._step(call, key))

    def approve(self, words: str, calls: Sequence[StepCall[T]], *, valid: timedelta | None = None) -> list[StepCall[T]]:
        """Ask a person whether these calls may be made; hand back the approved ones.

        Each yes is bound to its step, its arguments and ONE gesture. A call that was refused, or whose yes has run out,
        is not made by `step` either: it raises `NotApproved`, or asks anew.

        Args:
            words: the question.
            calls: what is to be approved, with its arguments. None = nothing is asked.
            valid: how long after the answer a yes may be used; as the run's options say by default (24 hours). The
                answering person may say otherwise.

        Raises:
            WaitingForPerson: nobody has answered yet; a resume goes on from the answer.
        """
        for call in calls:
            call.take()
        raise_if_dropped()
        return self._latched(lambda: self._consents.approved(words, calls, valid))

    # called by the worker

    def recover(self) -> None:
        """Settle what earlier attempts left open, before the task runs again."""
        self._latched(self._recover)

    def end(self) -> None:
        """The task has returned: nothing may be left that it did not ask for."""
        self._latched(lambda: self._changed(self._replay.end))

    @property
    def stop(self) -> Stop | None:
        """The stop that this run is latched at."""
        return self._stop

    def reopen(self, error: BaseException) -> None:
        """The task ended by a fact that a step raised: a resume may run that step anew."""
        if self._raised is not None and self._raised[0] in causes(error):
            self._attempt.store.journal.end_step(self._attempt.lease, self._raised[1], StepState.BEGUN, "")

    def _latched(self, act: Callable[[], T]) -> T:
        if self._stop is not None:
            raise self._stop
        try:
            return act()
        except Stop as stop:
            self._stop = stop
            raise
        except StoreUnusable as unusable:  # what was being written may be there or not: as after a death, look first
            self._stop = MachineTrouble(str(unusable))
            raise self._stop from unusable

    # one step

    def _step(self, call: StepCall[T], key: str | None) -> T:
        raise_if_dropped()
        self._attempt.check_stop()
        row = self._row(call, key)
        value, ended = self._stored(call, row) if row.state is not StepState.BEGUN else self._run(call, row)
        self._replay.ended(call.step.identity, call.canonical, key)
        if isinstance(ended, Fact):
            self._raised = (ended, row.id)
            raise ended
        return value

    def _row(self, call: StepCall[Any], key: str | None) -> StepRow:
        bookmark = self._replay.bookmark(call.step.identity, call.canonical, key)
        writes = call.step.writes
        row = self._changed(lambda: self._replay.ask(bookmark, call.words, writes=writes), bookmark)
        called = Called(bookmark, call.step.name, call.words, call.canonical, writes)
        return row or self._attempt.store.journal.begin_step(self._attempt.lease, called)

    def _stored(self, call: StepCall[T], row: StepRow) -> tuple[T, Fact | None]:
        """What an earlier attempt (or an equal call) ended with."""
        if row.state is StepState.FINISHED:
            check_files(row.files, row.words)
            return call.step.load(row.value or "null"), None
        return _NOTHING, fact(json.loads(row.raised or "{}"))

    def _run(self, call: StepCall[T], row: StepRow) -> tuple[T, Fact | None]:
        with self._attempt.at_step(call.step.name, call.words):
            return self._settled(call, row)

    def _settled(self, call: StepCall[T], row: StepRow) -> tuple[T, Fact | None]:
        if not call.step.writes:
            value = signed_in(self._attempt, row.id, lambda: prepared(self._attempt, call.step.site, call.prepare))
            return self._finish(call, row, value.value if isinstance(value, Done) else value), None
        try:
            return self._write(call, row), None
        except Fact as raised:
            text = json.dumps(fact_json(raised))
            self._attempt.store.journal.end_step(self._attempt.lease, row.id, StepState.RAISED, text)
            return _NOTHING, raised

    def _write(self, call: StepCall[T], row: StepRow) -> T:
        """Prepare, make, settle; again only after a refusal or a proven absence, within the step's budget."""
        refusals = 0
        while True:
            earlier = self._gestures(row)
            last = earlier[-1] if earlier else None
            if last is not None and last.state is GestureState.HAPPENED:
                return self._proven(call, row, last)
            if last is not None and last.state in OPEN_GESTURE_STATES:
                raise MachineTrouble(f"An earlier gesture of this step is not settled: {last.words}")
            this_go = _since(row.ended, earlier)
            if this_go and this_go[-1].state is GestureState.REJECTED:
                raise rejected(this_go[-1])
            absences = sum(gesture.state is GestureState.NOT_HAPPENED for gesture in this_go)
            if this_go and absences > call.step.again and not by_person(this_go[-1]):
                raise NotHappened(this_go[-1].words, absences)
            made = signed_in(self._attempt, row.id, partial(self._make, call, row, earlier))
            if not isinstance(made, GestureRow):
                return self._finish(call, row, made)
            reasons = json.loads(made.reasons or "[]")
            if made.state is GestureState.REFUSED:
                refusals += 1
                if refusals > call.step.refusals:
                    raise Refused(made.words, " ".join(reasons[:1]))

    def _make(self, call: StepCall[T], row: StepRow, earlier: list[GestureRow]) -> GestureRow | T:
        """Prepare the page and make the gesture that comes back; or hand back the value if there is nothing to do."""
        self._ask_if_marked(call, row)
        self._attempt.goes_on()
        approval = self._consents.covering(call, row, earlier)
        writes = self._attempt.acting.writes  # of this very page: after a death there would be another
        writes.clear()
        try:
            made = self._prepared(call, row)
        finally:
            self._notice_writes(call, row, writes)
        if isinstance(made, Done):
            done: T = made.value
            return done
        if made is None:
            return call.step.adapter.validate_python(None)
        assert isinstance(made, Gesture)
        ordinal = len(self._attempt.store.journal.gestures(self.id)) + 1
        reverse = call.step.reverse.name if call.step.reverse is not None else None
        return GesturePipeline(self._attempt, row, call.step.site, earlier, ordinal, approval, reverse).make(made)

    def _proven(self, call: StepCall[T], row: StepRow, gesture: GestureRow) -> T:
        """The step's value from what was proven; a person is asked for a value that does not fit."""
        known = json.loads(gesture.intent).get("known", {})
        values = {**known, **json.loads(gesture.values or "{}")}
        try:
            return self._finish(call, row, call.step.proven(values))
        except (ValidationError, KeyError) as error:
            wrong = misfits(error)
            asked = Asked(
                kind=QuestionKind.VALUES,
                words=f"This happened: {gesture.words}. What is its {', '.join(wrong)}?",
                reasons=(
                    *(f"what was read does not fit: {name}: {why}" for name, why in wrong.items()),
                    *self._said(gesture),
                ),
                details={"needs": list(wrong)},
                last_confirmed=last_confirmed(self._attempt, gesture),
                safe_step="Answer happened with --value NAME=VALUE for each name.",
                step=row.id,
                gesture=gesture.id,
            )
            self._attempt.ask(asked)

    def _said(self, gesture: GestureRow) -> list[str]:
        """What its observers gave as reasons when they had seen it, such as that a value is not kept."""
        seen = [json.loads(row.observation) for row in self._attempt.store.journal.observations(gesture.id)]
        return list(dict.fromkeys(reason for said in seen if said["sight"] == "seen" for reason in said["reasons"]))

    def _finish(self, call: StepCall[T], row: StepRow, value: T) -> T:
        """Store the value as it will be read back, so that a replay hands out the same."""
        text = call.step.dump(value)
        stored, lease = call.step.load(text), self._attempt.lease
        self._attempt.store.journal.end_step(lease, row.id, StepState.FINISHED, text, files_of(stored))
        self._attempt.checkpoint(call.words)
        self._attempt.tell("step", call.words, value=json.loads(text), writes=row.writes, seq=row.seq)
        return stored

    def _gestures(self, row: StepRow) -> list[GestureRow]:
        return [gesture for gesture in self._attempt.store.journal.gestures(self.id) if gesture.step_id == row.id]

    # writes while a page is prepared

    def _prepared(self, call: StepCall[T], row: StepRow) -> Any:
        if call.step.preparation == "repeatable":
            return prepared(self._attempt, call.step.site, call.prepare)
        with self._attempt.noticing(row.id, _harmless(call)):
            return prepared(self._attempt, call.step.site, call.prepare)

    def _notice_writes(self, call: StepCall[Any], row: StepRow, seen: Sequence[str]) -> None:
        harmless = _harmless(call)
        writes = [write for write in seen if not is_among(write, harmless)]
        if writes and call.step.preparation != "repeatable":
            self._attempt.store.journal.mark_step(self._attempt.lease, row.id, writes[0])
            row.marked = row.marked or writes[0]

    def _ask_if_marked(self, call: StepCall[Any], row: StepRow) -> None:
        if (
            row.marked is None
            or call.step.preparation == "repeatable"
            or self._answered(row.id, QuestionKind.MARKED_STEP)
        ):
            return
        words = f"Preparing this step has written before ({row.marked}): {row.words}. May it be prepared once more?"
        safe = "Look at the site. Answer not-happened if preparing it once more does no harm."
        self._attempt.ask(Asked(QuestionKind.MARKED_STEP, words, safe_step=safe, step=row.id))

    # the rest

    def _recover(self) -> None:
        journal = self._attempt.store.journal
        if not self._attempt.options.only_look:
            self._close_what_is_asked_anew()
        opened = [gesture for gesture in journal.gestures(self.id) if gesture.state in OPEN_GESTURE_STATES]
        for gesture in opened:
            question = self._question_of(gesture)
            if question is not None and question.kind is QuestionKind.ALREADY_THERE:
                raise WaitingForPerson(question.words, question.id)
            case, because = None, ""
            try:
                case = case_of(self._attempt, gesture)
            except UnknownKind as unknown:
                because = str(unknown)
            Recovery(self._attempt, gesture, case, because).settle()
        if self._attempt.options.only_look:
            return
        self._attempt.disarm()
        self._replay = _replay(self._attempt)

    def _close_what_is_asked_anew(self) -> None:
        inbox = self._attempt.store.inbox
        settled = {row.id for row in self._attempt.store.journal.gestures(self.id) if row.settled_at is not None}
        for open_one in inbox.questions(self.id, open_only=True):
            if open_one.kind is QuestionKind.OUTCOME and open_one.gesture_id in settled:
                inbox.close(self._attempt.lease, open_one.id, "a look has settled it")
            elif open_one.kind in _ASKED_ANEW:
                inbox.close(self._attempt.lease, open_one.id, "the run goes on; it is asked anew if need be")

    def _question_of(self, gesture: GestureRow) -> QuestionRow | None:
        questions = self._attempt.store.inbox.questions(self.id, open_only=True)
        return next((question for question in questions if question.gesture_id == gesture.id), None)

    def _changed(self, ask: Callable[[], T], bookmark: str = "") -> T:
        """Put a `TaskChanged` before a person, with both calls side by side."""
        try:
            return ask()
        except TaskChanged as changed:
            stored = self._replay.awaited
            asked = Asked(
                kind=QuestionKind.TASK_CHANGED,
                words=f"The task has changed. The journal expects {changed.stored}; the task asks for {changed.asked}.",
                details={"asked": bookmark, "stored": stored.bookmark if stored else ""},
                safe_step="Answer map if both are the same work, make if the stored one is to be let go, or abandon.",
                step=stored.id if stored else None,
            )
            question = self._attempt.store.inbox.ask(self._attempt.lease, asked)
            raise TaskChanged(changed.asked, changed.stored, question.id) from None

    def _answered(self, step: str, kind: QuestionKind) -> bool:
        """Whether a person has answered that kind of question for the step in a way that lets it go on."""
        return any(
            question.step_id == step and question.kind is kind and question.state is QuestionState.ANSWERED
            for question in self._attempt.store.inbox.questions(self.id)
        )


def state_after(stop: Stop) -> RunState | None:
    """How a run stands after a stop; None if this attempt may not say so any more."""
    match stop:
        case Superseded() | KeeperGone():
            return None
        case Stopped():
            return RunState.STOPPED
        case OutcomeUnknown() | WaitingForPerson() | TaskChanged():
            return RunState.WAITING
        case _:
            return RunState.NEEDS_ATTENTION


_NOTHING: Any = None
_ASKED_ANEW = (QuestionKind.ATTEMPTS, QuestionKind.TASK_CHANGED, QuestionKind.SIGNED_OUT)


def _harmless(call: StepCall[Any]) -> Sequence[str]:
    return call.step.site.harmless if call.step.site is not None else ()


def _replay(attempt: Attempt) -> Replay:
    journal, run = attempt.store.journal, attempt.lease.run
    made = {gesture.step_id for gesture in journal.gestures(run) if gesture.state in MADE_GESTURE_STATES}
    mapped: dict[str, str] = {}
    let_go: set[str] = set()
    for question in attempt.store.inbox.questions(run):
        details = json.loads(question.details)
        if question.kind is QuestionKind.TASK_CHANGED and question.answer is Answer.MAP:
            mapped[details["asked"]] = details["stored"]
        elif question.kind is QuestionKind.TASK_CHANGED and question.answer is Answer.MAKE:
            let_go.add(details["stored"])
    return Replay(journal.steps(run), made, mapped, let_go)


def _since(ended: datetime | None, gestures: list[GestureRow]) -> list[GestureRow]:
    """The gestures of this go: those settled after the step was opened again by a person's resume."""
    return [made for made in gestures if ended is None or made.settled_at is None or made.settled_at > ended]


__all__ = ["Run", "state_after"]
