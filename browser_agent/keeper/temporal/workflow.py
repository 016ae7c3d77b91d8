"""One run as a workflow: it notices that work has stopped, chooses who goes on, and waits for people.

Deterministic; it knows ids and words, and decides nothing about an outcome: whoever goes on begins by looking. What may
never happen: silence after a worker has died (it goes on, or a question stands in the inbox); an activity is tried
again by the engine's own policy.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC, timedelta

from temporalio import workflow
from temporalio.common import RetryPolicy, SearchAttributeKey
from temporalio.exceptions import (
    ActivityError,
    ApplicationError,
    is_cancelled_exception,
)
from temporalio.exceptions import TimeoutError as TimedOut
from temporalio.exceptions import TimeoutType as Timeout

with workflow.unsafe.imports_passed_through():
    from browser_agent.keeper.temporal.messages import (
        ANSWER,
        GIVE_UP,
        KEEP,
        STATUS,
        SUBMIT,
        WORKFLOW,
        KeepRequest,
        OpenQuestion,
        Reply,
        RunStatus,
        WorkflowInput,
    )
    from browser_agent.states import RunState

ONCE = RetryPolicy(maximum_attempts=1)
UNLESS_AWAY = RetryPolicy(non_retryable_error_types=["StoreUnusable"])
"""Of what is written at the desk: whoever waits for it learns at once that the store takes nothing."""
SOON = timedelta(minutes=1)
"""How long an act at the desk may take before it is tried again; each may be."""
_DUE = SearchAttributeKey.for_datetime("TemporalScheduledStartTime")
_PAUSE = timedelta(seconds=2)
_GO_ON_LATER = frozenset({"InOtherHands"})
_INTERRUPTED = frozenset({"Superseded", "StoreUnusable", "StillAlive", "NurseryGone", "ChromiumSilent"})
_ASKS = frozenset({RunState.WAITING, RunState.NEEDS_ATTENTION})


@workflow.defn(name=WORKFLOW)
class RunWorkflow:
    """A run that is kept by browser workers until it has come to an end."""

    @workflow.init
    def __init__(self, work: WorkflowInput) -> None:
        self._work, self._run = work, work.run
        self._status: RunStatus | None = None
        self._questions: list[OpenQuestion] = []
        self._busy = False  # an answer is being taken
        self._go_on = work.resumed
        self._doubts = 0
        self._later = work.limits.look_seconds  # how long a store that takes nothing is left alone

    @workflow.run
    async def run(self, work: WorkflowInput) -> RunStatus:
        """Go on with the run until it has come to an end; what it gave lies in the store."""
        if work.wanted is not None and not self._run:
            self._run = await self._submitted()
        await self._look()
        while (ended := self._ended()) is None:
            if workflow.cancellation_reason() is not None:  # an activity that ended in its own way has hidden it
                raise asyncio.CancelledError
            if self._waits():
                await self._wait_for_person()
            else:
                self._go_on = False
                await self._keep()
        await workflow.wait_condition(workflow.all_handlers_finished)
        return ended

    @workflow.query
    def stand(self) -> RunStatus | None:
        """Where the run stood when the workflow learned of it last."""
        return self._status

    @workflow.update
    async def answer(self, reply: Reply) -> RunStatus:
        """Take a person's answer, after one more look where a look could settle the question."""
        await workflow.wait_condition(lambda: not self._busy)
        self._busy = True
        try:
            asked = self._question(reply.question)
            if asked is not None and asked.look:
                await self._keep(only_look=True)
                if self._status is None or self._question(reply.question) is None:
                    return await self._look()  # the look has settled it
            return await self._take(reply)
        finally:
            self._busy = False

    @answer.validator
    def _check(self, reply: Reply) -> None:
        """Refuse what can't be an answer, by what is known here; nothing of it is written down."""
        asked = self._question(reply.question)
        if asked is None:
            now = ", ".join(each.id for each in self._questions) or "none"
            raise ApplicationError(
                f"Question {reply.question} of run {self._run} isn't open here (open now: {now}). Nothing was changed.",
                type="NotAllowed",
            )
        if reply.answer not in asked.answers:
            allowed = ", ".join(asked.answers)
            raise ApplicationError(
                f"Question {asked.id} can be answered with: {allowed}. Nothing was changed.", type="Misuse"
            )
        if not reply.by.strip() or not reply.reason.strip():
            raise ApplicationError("An answer needs a name and a reason. Nothing was changed.", type="Misuse")

    @workflow.update
    async def resume(self) -> None:
        """Go on, although a question is open or attempts are used up; whoever goes on begins by looking."""
        if self._waits():
            self._doubts, self._go_on = 0, True

    # deciding

    def _ended(self) -> RunStatus | None:
        """Where the run stands if that is its end. Raises ApplicationError for an end that a person must see."""
        found = self._status
        assert found is not None
        match found.state:
            case RunState.FINISHED:
                return found
            case RunState.ABANDONED:
                self._fail("Abandoned", "was abandoned by a person")
            case RunState.RAISED if not self._go_on:
                self._fail(found.why or "Raised", "has raised")
        return None

    def _fail(self, kind: str, what: str) -> None:
        raise ApplicationError(
            f"Run {self._run} {what}; `browser-agent show {self._run}` says why.", type=kind, non_retryable=True
        )

    def _waits(self) -> bool:
        return self._busy or (
            not self._go_on and self._status is not None and self._status.state in _ASKS and bool(self._questions)
        )

    def _question(self, question: str) -> OpenQuestion | None:
        return next((each for each in self._questions if each.id == question), None)

    def _know(self, found: RunStatus) -> RunStatus:
        self._status, self._questions = found, found.questions
        return found

    # acting

    async def _wait_for_person(self) -> None:
        """Wait until no question is open any more; look now and then, since it may be answered at the store itself."""
        seconds = self._work.limits.look_seconds
        while self._waits():
            try:
                await workflow.wait_condition(lambda: not self._waits(), timeout=timedelta(seconds=seconds))
            except asyncio.TimeoutError:  # noqa: UP041  # the loop of a workflow raises its own
                if self._busy:
                    continue
                await self._look()
                seconds = min(2 * seconds, self._work.limits.look_most_seconds)
                self._as_new_if_long()

    def _as_new_if_long(self) -> None:
        """Leave a long history behind."""
        if workflow.info().is_continue_as_new_suggested() and workflow.all_handlers_finished():
            workflow.continue_as_new(replace(self._work, run=self._run, resumed=False))

    async def _keep(self, *, only_look: bool = False) -> None:
        """Have a browser worker keep the run, or only look, and know afterwards where it stands."""
        limits = self._work.limits
        self._questions = self._questions if only_look else []
        try:
            kept = await workflow.execute_activity(
                KEEP,
                KeepRequest(self._run, only_look),
                result_type=RunStatus,
                task_queue=self._work.queue,
                schedule_to_start_timeout=timedelta(seconds=limits.start_seconds),
                start_to_close_timeout=timedelta(seconds=limits.keep_seconds),
                heartbeat_timeout=timedelta(seconds=limits.heartbeat_seconds),
                retry_policy=ONCE,
                cancellation_type=workflow.ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
            )
        except ActivityError as error:
            if is_cancelled_exception(error):
                raise
            await self._interrupted(error.cause)
        else:
            self._doubts, self._later = 0, limits.look_seconds
            self._know(kept)

    async def _interrupted(self, cause: BaseException | None) -> None:
        """A browser worker ended without saying where the run stands, or never began."""
        limits = self._work.limits
        match cause:
            case TimedOut(type=Timeout.SCHEDULE_TO_START):
                words = f"No browser worker of queue {self._work.queue} has taken run {self._run}"
                await self._give_up(f"{words} for {limits.start_seconds:g} s; it was not started.")
                return
            case ApplicationError(type=kind) if kind in _GO_ON_LATER:
                await workflow.sleep(_PAUSE)  # somebody else keeps it; where that leads is looked at
            case ApplicationError(type=kind) if kind not in _INTERRUPTED:
                raise ApplicationError(cause.message, type=kind, non_retryable=True)
            case _:
                self._doubts += 1
                if self._doubts >= limits.attempts:
                    words = f"The browser workers of run {self._run} have died or gone silent"
                    await self._give_up(f"{words} {self._doubts} times in a row.")
                    return
                if isinstance(cause, ApplicationError):
                    await workflow.sleep(_PAUSE)
        await self._look()

    async def _look(self) -> RunStatus:
        found = await workflow.execute_activity(STATUS, self._run, result_type=RunStatus, start_to_close_timeout=SOON)
        return self._know(found)

    async def _take(self, reply: Reply) -> RunStatus:
        found = await workflow.execute_activity(
            ANSWER, reply, result_type=RunStatus, start_to_close_timeout=SOON, retry_policy=UNLESS_AWAY
        )
        return self._know(found)

    async def _give_up(self, words: str) -> None:
        """Ask a person; where the store doesn't take the question either, wait, and go on by looking."""
        self._doubts = 0
        try:
            found = await workflow.execute_activity(
                GIVE_UP,
                args=[self._run, words],
                result_type=RunStatus,
                start_to_close_timeout=SOON,
                retry_policy=UNLESS_AWAY,
            )
        except ActivityError as error:
            if not (isinstance(error.cause, ApplicationError) and error.cause.type == "StoreUnusable"):
                raise
            await workflow.sleep(self._later)
            self._later = min(2 * self._later, self._work.limits.look_most_seconds)
            self._as_new_if_long()
            await self._look()
        else:
            self._know(found)

    async def _submitted(self) -> str:
        """Submit the run that is wanted, for the day on which it was due."""
        due = workflow.info().typed_search_attributes.get(_DUE) or workflow.info().start_time
        day = due.astimezone(UTC).date().isoformat()
        run: str = await workflow.execute_activity(
            SUBMIT,
            args=[self._work.wanted, day],
            result_type=str,
            task_queue=self._work.queue,
            start_to_close_timeout=SOON,
        )
        return run
