"""Run: what a task works with. Finds each call in the journal, or runs it.

After a stop every call on the run raises the same one, whatever the script catches.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from typing import Any, TypeVar

from browser_agent.errors import (
    Fact,
    KeeperGone,
    MachineTrouble,
    OutcomeUnknown,
    Stop,
    Stopped,
    StoreUnusable,
    Superseded,
    TaskChanged,
    WaitingForPerson,
)
from browser_agent.run.approval_gate import ApprovalGate
from browser_agent.run.attempt import Attempt
from browser_agent.run.recovery import settle_open_gestures
from browser_agent.run.replay import stored_replay, task_changed_question
from browser_agent.run.step_runner import StepRunner, stored_end
from browser_agent.run.stored_facts import causes
from browser_agent.script.must_run import raise_if_dropped
from browser_agent.script.steps import StepCall
from browser_agent.states import QuestionKind, RunState, StepState
from browser_agent.store import NewStep
from browser_agent.store.records import StepRow

T = TypeVar("T")


class Run:
    """One execution of a task, as the task sees it.

    Attributes:
        id: the run's id.
        attempt: the number of this attempt, from 1.
    """

    def __init__(self, attempt: Attempt) -> None:
        self.id, self.attempt = attempt.lease.run, attempt.lease.attempt
        self._attempt = attempt
        self._stop: Stop | None = None
        self._raised: tuple[Fact, str] | None = None  # the last fact that a step raised, and the step
        self._approvals = ApprovalGate(attempt)
        self._runner = StepRunner(attempt, self._approvals)
        self._replay = stored_replay(attempt.store, self.id)

    def step(self, call: StepCall[T], *, key: str | None = None) -> T:
        """Run a step, or return its stored value if it has ended in an earlier attempt.

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
        """Ask a person whether these calls may be made, and return the approved ones.

        Each approval is bound to its step, its arguments and ONE gesture. `step` makes no call that was refused (it
        raises `NotApproved`), nor one whose approval has expired (it asks again).

        Args:
            words: the question.
            calls: the calls to approve, with their arguments. With none, nothing is asked.
            valid: how long after the answer an approval may be used. None = as the run's options say (24 hours by
                default). The person who answers may choose another time.

        Raises:
            WaitingForPerson: nobody has answered yet; a resume continues from the answer.
        """
        for call in calls:
            call.take()
        raise_if_dropped()
        return self._latched(lambda: self._approvals.approved(words, calls, valid))

    # called by the worker

    def recover(self) -> None:
        """Settle what earlier attempts left open, before the task runs again."""
        self._latched(self._recover)

    def end(self) -> None:
        """Check, when the task has returned, that it asked for every gesture of the journal."""

        def check() -> None:
            with self._asking_if_changed():
                self._replay.end()

        self._latched(check)

    @property
    def stop(self) -> Stop | None:
        """The stop that ended this run; None while it runs."""
        return self._stop

    def reopen(self, error: BaseException) -> None:
        """Open the step again whose fact ended the task, so that a resume may run it again."""
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
        except StoreUnusable as unusable:  # the row may have been written or not: as after a death, look first
            self._stop = MachineTrouble(str(unusable))
            raise self._stop from unusable

    def _step(self, call: StepCall[T], key: str | None) -> T:
        raise_if_dropped()
        self._attempt.check_stop()
        row = self._row(call, key)
        end = self._runner.run(call, row) if row.state is StepState.BEGUN else stored_end(call, row)
        self._replay.ended(call.step.identity, call.canonical, key)
        if end.raised is not None:
            self._raised = (end.raised, row.id)
            raise end.raised
        return end.value

    def _row(self, call: StepCall[Any], key: str | None) -> StepRow:
        """The call's step in the journal; a new one is written."""
        bookmark = self._replay.bookmark(call.step.identity, call.canonical, key)
        writes = call.step.writes
        with self._asking_if_changed(bookmark):
            row = self._replay.ask(bookmark, call.words, writes=writes)
        called = NewStep(bookmark, call.step.name, call.words, call.canonical, writes)
        return row or self._attempt.store.journal.begin_step(self._attempt.lease, called)

    @contextmanager
    def _asking_if_changed(self, bookmark: str = "") -> Iterator[None]:
        """Ask a person about a `TaskChanged` that the body raises, and raise it with the question's id."""
        try:
            yield
        except TaskChanged as changed:
            question = self._attempt.put(task_changed_question(changed, self._replay.awaited, bookmark))
            raise TaskChanged(changed.asked, changed.stored, question.id) from None

    def _recover(self) -> None:
        only_look = self._attempt.options.only_look
        if not only_look:
            self._close_stale_questions()
        settle_open_gestures(self._attempt)
        if not only_look:
            self._attempt.disarm()
            self._replay = stored_replay(self._attempt.store, self.id)

    def _close_stale_questions(self) -> None:
        """Close questions that a look has settled, and those that this attempt asks again if they still stand."""
        inbox = self._attempt.store.inbox
        settled = {row.id for row in self._attempt.store.journal.gestures(self.id) if row.settled_at is not None}
        for question in inbox.questions(self.id, open_only=True):
            if question.kind is QuestionKind.OUTCOME and question.gesture_id in settled:
                inbox.close(self._attempt.lease, question.id, "a look has settled it")
            elif question.kind in _ASKED_AGAIN:
                inbox.close(self._attempt.lease, question.id, "the run was resumed; it is asked again if needed")


def state_after(stop: Stop) -> RunState | None:
    """The run's state after a stop; None if this attempt may no longer write it."""
    match stop:
        case Superseded() | KeeperGone():
            return None
        case Stopped():
            return RunState.STOPPED
        case OutcomeUnknown() | WaitingForPerson() | TaskChanged():
            return RunState.WAITING
        case _:
            return RunState.NEEDS_ATTENTION


_ASKED_AGAIN = (QuestionKind.ATTEMPTS, QuestionKind.TASK_CHANGED, QuestionKind.SIGNED_OUT, QuestionKind.BASELINE)


__all__ = ["Run", "state_after"]
