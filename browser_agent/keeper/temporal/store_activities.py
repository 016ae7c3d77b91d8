"""The activities of the workflow worker: what a workflow reads from the store, or writes to it.

Temporal may repeat each of them; a repetition changes nothing more.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import timedelta
from typing import ParamSpec

from temporalio import activity
from temporalio.client import Client
from temporalio.worker import Worker
from temporalio.worker.workflow_sandbox import SandboxedWorkflowRunner, SandboxRestrictions

from browser_agent.errors import InOtherHands, Misuse, Superseded
from browser_agent.keeper.temporal.messages import ANSWER, GIVE_UP, STATUS, Reply, RunStatus, workflow_queue
from browser_agent.keeper.temporal.status import application_error, run_status
from browser_agent.keeper.temporal.workflow import RunWorkflow
from browser_agent.ownership.engine import Engine, NoEngine
from browser_agent.ownership.takeover import last_attempt, take_over
from browser_agent.reporting.words import last_confirmed
from browser_agent.states import Answer, QuestionKind, QuestionState, RunState
from browser_agent.store import AttemptEnd, Consent, NewQuestion, PersonAnswer, Store

P = ParamSpec("P")

_GIVEN_UP_FROM = frozenset({RunState.NEW, RunState.RUNNING, RunState.STOPPED})


class StoreActivities:
    """The activities that need the store alone.

    Args:
        client: connected to Temporal.
        store: where the runs are stored.
    """

    def __init__(self, client: Client, store: Store) -> None:
        self._client, self._store = client, store

    def worker(self, queue: str) -> Worker:
        """The worker that serves the workflows of a queue."""
        ours = SandboxRestrictions.default.with_passthrough_modules("browser_agent")
        return Worker(
            self._client,
            task_queue=workflow_queue(queue),
            workflows=[RunWorkflow],
            activities=[self.status, self.answer, self.give_up],
            workflow_runner=SandboxedWorkflowRunner(restrictions=ours),
        )

    @activity.defn(name=STATUS)
    async def status(self, run: str) -> RunStatus:
        """The status of a run."""
        return await asyncio.to_thread(self._checked, run_status, self._store, run)

    @activity.defn(name=ANSWER)
    async def answer(self, reply: Reply) -> RunStatus:
        """Store a person's answer, once."""
        return await asyncio.to_thread(self._checked, self._answer, reply)

    @activity.defn(name=GIVE_UP)
    async def give_up(self, run: str, words: str) -> RunStatus:
        """Ask a person, because the workflow starts no further attempt by itself."""
        info = activity.info()
        engine = _Named(
            f"temporal/{info.workflow_namespace}/{info.workflow_id}", info.current_attempt_scheduled_time.timestamp()
        )
        return await asyncio.to_thread(self._checked, self._give_up, run, words, engine)

    def _checked(self, act: Callable[P, RunStatus], *args: P.args, **kwargs: P.kwargs) -> RunStatus:
        try:
            return act(*args, **kwargs)
        except Misuse as error:
            raise application_error(self._store, error) from error

    def _answer(self, reply: Reply) -> RunStatus:
        said = _said(reply)
        row = self._store.inbox.question(reply.question)
        same = (row.answer, row.by, row.reason) == (said.answer, said.by, said.reason)
        if not (row.state is QuestionState.ANSWERED and same):  # else this is a repetition
            self._store.inbox.answer(reply.question, said)
        return run_status(self._store, row.run_id)

    def _give_up(self, run: str, words: str, engine: Engine) -> RunStatus:
        if self._store.leases.run(run).state in _GIVEN_UP_FROM:
            try:
                lease = take_over(self._store, run, last_attempt(self._store, run), engine=engine)
            except (InOtherHands, Superseded):  # another keeper has resumed it, which is better
                return run_status(self._store, run)
            safe = f"Find out why, then: browser-agent temporal resume {run}. It looks first."
            confirmed = last_confirmed(self._store.journal.gestures(lease.run))
            asked = NewQuestion(QuestionKind.ATTEMPTS, words, safe_step=safe, last_confirmed=confirmed)
            self._store.inbox.ask(lease, asked)
            self._store.leases.end(lease, RunState.NEEDS_ATTENTION, ended_by=words)
            self._store.leases.end_attempt(lease, AttemptEnd("it asked a person"))
        return run_status(self._store, run)


class _Named(NoEngine):
    """The engine in whose name a person is asked."""

    def __init__(self, name: str, sequence: float) -> None:
        self.name, self.sequence = name, sequence


def _said(reply: Reply) -> PersonAnswer:
    hours = timedelta(hours=reply.hours) if reply.hours is not None else None
    consent = Consent(tuple(reply.only), reply.until_done, hours)
    return PersonAnswer(Answer(reply.answer), reply.by, reply.reason, reply.values, reply.override, consent)
