"""The workflow of one run: notices that its worker has died or gone silent, starts the next attempt, and asks people.

It decides nothing about an outcome: each attempt begins by looking. So an attempt is never repeated by Temporal's own
retry policy, only by this workflow, which counts it.
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
    from browser_agent.browser.chromium import ChromiumSilent
    from browser_agent.errors import InOtherHands, StoreUnusable, Superseded
    from browser_agent.keeper.temporal.messages import (
        ANSWER,
        GIVE_UP,
        KEEP,
        STATUS,
        SUBMIT,
        WORKFLOW,
        AnswerableQuestion,
        KeepRequest,
        Reply,
        RunStatus,
        WorkflowInput,
    )
    from browser_agent.keeper.worker_process import ForkServerGone
    from browser_agent.processes import StillAlive
    from browser_agent.states import RunState

ONCE = RetryPolicy(maximum_attempts=1)
UNLESS_AWAY = RetryPolicy(non_retryable_error_types=["StoreUnusable"])
"""For writes to the store: the caller learns at once that nothing can be stored."""
SOON = timedelta(minutes=1)
"""How long an activity of the store may take before it is repeated, as each of them may be."""
_DUE = SearchAttributeKey.for_datetime("TemporalScheduledStartTime")
_PAUSE = timedelta(seconds=2)
_KEPT_ELSEWHERE = frozenset({InOtherHands.__name__})
_INTERRUPTED = frozenset(
    each.__name__ for each in (Superseded, StoreUnusable, StillAlive, ForkServerGone, ChromiumSilent)
)
"""Errors after which the next attempt is started; the kind of an error is the name of its class."""
_WAITING = frozenset({RunState.WAITING, RunState.NEEDS_ATTENTION})


@workflow.defn(name=WORKFLOW)
class RunWorkflow:
    """One run, kept by browser workers until it has ended."""

    @workflow.init
    def __init__(self, work: WorkflowInput) -> None:
        self._work, self._run = work, work.run
        self._status: RunStatus | None = None
        self._questions: list[AnswerableQuestion] = []
        self._answering = False  # an answer is being taken
        self._resumed = work.resumed
        self._interruptions = 0
        self._store_pause = work.limits.look_seconds  # how long to wait for a store that can't be written

    @workflow.run
    async def run(self, work: WorkflowInput) -> RunStatus:
        """Have the run kept until it has ended. Its result stays in the store."""
        if work.wanted is not None and not self._run:
            self._run = await self._submitted()
        await self._look()
        while (ended := self._ended()) is None:
            if workflow.cancellation_reason() is not None:  # an activity that ended by itself has hidden it
                raise asyncio.CancelledError
            if self._waits():
                await self._wait_for_person()
            else:
                self._resumed = False
                await self._keep()
        await workflow.wait_condition(workflow.all_handlers_finished)
        return ended

    @workflow.query(name="stand")
    def status(self) -> RunStatus | None:
        """The status of the run when the workflow last learned it."""
        return self._status

    @workflow.update
    async def answer(self, reply: Reply) -> RunStatus:
        """Take a person's answer, after one more look if a look could settle the question."""
        await workflow.wait_condition(lambda: not self._answering)
        self._answering = True
        try:
            asked = self._question(reply.question)
            if asked is not None and asked.look:
                await self._keep(only_look=True)
                if self._status is None or self._question(reply.question) is None:
                    return await self._look()  # the look has settled it
            return await self._store_answer(reply)
        finally:
            self._answering = False

    @answer.validator
    def _check(self, reply: Reply) -> None:
        """Refuse what can't be an answer, by what is known here. Nothing of it is stored."""
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
        """Resume the run although a question is open or its attempts are used up. It looks first."""
        if self._waits():
            self._interruptions, self._resumed = 0, True

    # deciding

    def _ended(self) -> RunStatus | None:
        """The run's status if it has ended. Raises ApplicationError for an end that a person must see."""
        found = self._status
        assert found is not None
        match found.state:
            case RunState.FINISHED:
                return found
            case RunState.ABANDONED:
                self._fail("Abandoned", "was abandoned by a person")
            case RunState.RAISED if not self._resumed:
                self._fail(found.why or "Raised", "has raised")
        return None

    def _fail(self, kind: str, what: str) -> None:
        raise ApplicationError(
            f"Run {self._run} {what}; `browser-agent show {self._run}` says why.", type=kind, non_retryable=True
        )

    def _waits(self) -> bool:
        return self._answering or (
            not self._resumed and self._status is not None and self._status.state in _WAITING and bool(self._questions)
        )

    def _question(self, question: str) -> AnswerableQuestion | None:
        return next((each for each in self._questions if each.id == question), None)

    def _learn(self, found: RunStatus) -> RunStatus:
        self._status, self._questions = found, found.questions
        return found

    # acting

    async def _wait_for_person(self) -> None:
        """Wait until no question is open; look now and then, since it may be answered at the store itself."""
        seconds = self._work.limits.look_seconds
        while self._waits():
            try:
                await workflow.wait_condition(lambda: not self._waits(), timeout=timedelta(seconds=seconds))
            except asyncio.TimeoutError:  # noqa: UP041  # the loop of a workflow raises its own
                if self._answering:
                    continue
                await self._look()
                seconds = min(2 * seconds, self._work.limits.look_most_seconds)
                self._continue_as_new_if_long()

    def _continue_as_new_if_long(self) -> None:
        """Continue as a new workflow once the history is long."""
        if workflow.info().is_continue_as_new_suggested() and workflow.all_handlers_finished():
            workflow.continue_as_new(replace(self._work, run=self._run, resumed=False))

    async def _keep(self, *, only_look: bool = False) -> None:
        """Have a browser worker keep the run, or only look, and learn its status afterwards."""
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
            self._interruptions, self._store_pause = 0, limits.look_seconds
            self._learn(kept)

    async def _interrupted(self, cause: BaseException | None) -> None:
        """A browser worker ended without reporting the run's status, or never started."""
        limits = self._work.limits
        match cause:
            case TimedOut(type=Timeout.SCHEDULE_TO_START):
                words = f"No browser worker of queue {self._work.queue} has taken run {self._run}"
                await self._give_up(f"{words} for {limits.start_seconds:g} s; it was not started.")
                return
            case ApplicationError(type=kind) if kind in _KEPT_ELSEWHERE:
                await workflow.sleep(_PAUSE)  # another keeper has it: look how the run stands then
            case ApplicationError(type=kind) if kind not in _INTERRUPTED:
                raise ApplicationError(cause.message, type=kind, non_retryable=True)
            case _:
                self._interruptions += 1
                if self._interruptions >= limits.attempts:
                    words = f"The browser workers of run {self._run} have died or gone silent"
                    await self._give_up(f"{words} {self._interruptions} times in a row.")
                    return
                if isinstance(cause, ApplicationError):
                    await workflow.sleep(_PAUSE)
        await self._look()

    async def _look(self) -> RunStatus:
        found = await workflow.execute_activity(STATUS, self._run, result_type=RunStatus, start_to_close_timeout=SOON)
        return self._learn(found)

    async def _store_answer(self, reply: Reply) -> RunStatus:
        found = await workflow.execute_activity(
            ANSWER, reply, result_type=RunStatus, start_to_close_timeout=SOON, retry_policy=UNLESS_AWAY
        )
        return self._learn(found)

    async def _give_up(self, words: str) -> None:
        """Ask a person. If the store can't take the question either, wait, and continue by looking."""
        self._interruptions = 0
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
            await workflow.sleep(self._store_pause)
            self._store_pause = min(2 * self._store_pause, self._work.limits.look_most_seconds)
            self._continue_as_new_if_long()
            await self._look()
        else:
            self._learn(found)

    async def _submitted(self) -> str:
        """Submit the scheduled run, for the day on which it was due."""
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
