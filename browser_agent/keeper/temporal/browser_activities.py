"""Temporal's browser worker: keeps runs on this machine, each as one activity, with the `keep` of the command line.

An activity begins by looking at what is in doubt, and ends when its run has ended, waits for a person, or was assigned
to another keeper.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta

from temporalio import activity
from temporalio.client import Client
from temporalio.worker import Worker

from browser_agent.errors import NotAllowed, Stop, Superseded
from browser_agent.keeper.keeper import keep, look
from browser_agent.keeper.temporal.heartbeat import ActivityHeartbeat
from browser_agent.keeper.temporal.messages import KEEP, SUBMIT, KeepRequest, RunStatus, ScheduledRun
from browser_agent.keeper.temporal.status import application_error, run_status
from browser_agent.options import Event, OnEvent, Options
from browser_agent.ownership.engine import EngineOrder
from browser_agent.states import RUN_ARROWS, RunState
from browser_agent.store import Store

Submit = Callable[[ScheduledRun, str], str]
"""Submits a run that is due on that day, and returns its id."""


class BrowserActivities:
    """The activities that need a browser, or the task's own code.

    Args:
        client: connected to Temporal.
        store: where the runs are stored.
        options: how they are kept.
        at_once: how many at the same time.
        submit: see `Submit`.
        on_event: called with each event, from the keepers' threads.
    """

    def __init__(
        self, client: Client, store: Store, options: Options, *, at_once: int, submit: Submit, on_event: OnEvent
    ) -> None:
        self._client, self._store, self._options, self._on_event = client, store, options, on_event
        self._at_once, self._submit = at_once, submit
        self._threads = ThreadPoolExecutor(at_once, thread_name_prefix="keeper")

    def worker(self, queue: str) -> Worker:
        """The worker that serves a queue. When it is shut down, each gesture in hand is finished first."""
        return Worker(
            self._client,
            task_queue=queue,
            activities=[self.keep, self.submit],
            max_concurrent_activities=self._at_once,
            graceful_shutdown_timeout=timedelta(0),
        )

    @activity.defn(name=KEEP)
    async def keep(self, request: KeepRequest) -> RunStatus:
        """Keep the run as long as the engine wants it."""
        engine = ActivityHeartbeat(self._client, request.run)
        kept = asyncio.get_running_loop().run_in_executor(self._threads, self._keep, request, engine)
        beats = asyncio.create_task(engine.beat())
        cancelled = False
        try:
            while not kept.done():
                try:
                    await asyncio.wait([kept])
                except asyncio.CancelledError:
                    why = activity.cancellation_details()
                    cancelled = why is not None and why.cancel_requested
                    stops = why is not None and (why.cancel_requested or why.worker_shutdown)
                    engine.receive(EngineOrder.STOP if stops else EngineOrder.REVOKED)
        finally:
            beats.cancel()
        return self._ended(request, engine, kept.exception(), cancelled=cancelled)

    def _ended(
        self, request: KeepRequest, engine: ActivityHeartbeat, error: BaseException | None, *, cancelled: bool
    ) -> RunStatus:
        """What the activity reports."""
        if cancelled:
            raise asyncio.CancelledError
        found = run_status(self._store, request.run)
        if isinstance(error, NotAllowed) and not RUN_ARROWS[RunState(found.state)]:
            return found  # another process had ended it before this activity began
        if error is not None:
            raise application_error(self._store, error) from error
        if engine.latest_order() is EngineOrder.REVOKED or found.state == RunState.RUNNING:
            raise application_error(self._store, Superseded(request.run, engine.attempt))
        return found

    def _keep(self, request: KeepRequest, engine: ActivityHeartbeat) -> None:
        def on_event(event: Event) -> None:
            engine.record_progress(event)
            self._on_event(event)

        options, self._options = self._options, replace(self._options, kill_at=None)  # it is meant for the first run
        keeps = look if request.only_look else keep
        keeps(self._store, request.run, options, on_event, engine=engine)

    @activity.defn(name=SUBMIT)
    async def submit(self, wanted: ScheduledRun, day: str) -> str:
        """Submit the run that is due: one key is one run, however often this is repeated."""
        try:
            return await asyncio.to_thread(self._submit, wanted, day)
        except (Exception, Stop) as error:
            raise application_error(self._store, error) from error
