"""Temporal as the engine of one activity's keeper: its heartbeats, its orders, and the fence before a gesture.

Ordinary heartbeats are throttled and bring no answer, so they are no fence: before a gesture the server itself is
asked. It is asked by the activity's task token, since one asked by id would also answer for a later attempt.
"""

from __future__ import annotations

import asyncio
from datetime import timedelta

from temporalio import activity
from temporalio.client import AsyncActivityCancelledError, Client
from temporalio.service import RPCError, RPCStatusCode

from browser_agent.errors import Superseded
from browser_agent.options import Event
from browser_agent.ownership.engine import EngineOrder

FENCE_SECONDS = 5.0
"""How long a gesture waits for the server's answer; without one it is not made."""
_RETRY_SECONDS = 0.2


class ActivityHeartbeat:
    """The engine of the current activity.

    Args:
        client: the worker's, used in the worker's loop.
        run: the run's id.

    Attributes:
        name, sequence: see `Engine`.
        attempt: the number of its keeper's attempt; 0 before that is known.
    """

    def __init__(self, client: Client, run: str) -> None:
        info = activity.info()
        self.name = f"temporal/{info.workflow_namespace}/{info.workflow_id}"
        self.sequence = info.current_attempt_scheduled_time.timestamp()
        self.attempt, self._run, self._progress = 0, run, "taken"
        self._order = EngineOrder.CONTINUE
        self._handle = client.get_async_activity_handle(task_token=info.task_token)
        self._loop = asyncio.get_running_loop()
        self._seconds = info.heartbeat_timeout.total_seconds() / 3 if info.heartbeat_timeout else 10.0

    def latest_order(self) -> EngineOrder:
        """The server's last order."""
        return self._order

    def receive(self, order: EngineOrder) -> None:
        """Record an order of the server; a revoked run stays revoked."""
        if self._order is not EngineOrder.REVOKED:
            self._order = order

    def record_progress(self, event: Event) -> None:
        """Record how far the run has come. Only the kind of the event travels, never its words."""
        self.attempt, self._progress = event.attempt, event.kind

    async def beat(self) -> None:
        """Send ordinary heartbeats until cancelled."""
        while True:
            activity.heartbeat(self.attempt, self._progress)
            await asyncio.sleep(self._seconds)

    async def fence(self) -> None:
        """Ask the server, from the keeper's loop.

        Raises:
            Superseded: the activity is no longer the current one, was cancelled, or no answer came in time.
        """
        asked = asyncio.run_coroutine_threadsafe(self._ask(), self._loop)
        try:
            await asyncio.wait_for(asyncio.wrap_future(asked), FENCE_SECONDS)
        except TimeoutError:
            self.receive(EngineOrder.REVOKED)
        if self._order is EngineOrder.REVOKED:
            raise Superseded(self._run, self.attempt)

    async def _ask(self) -> None:
        while self._order is not EngineOrder.REVOKED:
            try:
                await self._handle.heartbeat(self.attempt, self._progress, rpc_timeout=timedelta(seconds=FENCE_SECONDS))
            except AsyncActivityCancelledError:
                self.receive(EngineOrder.REVOKED)
            except RPCError as error:
                if error.status is RPCStatusCode.NOT_FOUND:
                    self.receive(EngineOrder.REVOKED)
                await asyncio.sleep(_RETRY_SECONDS)  # the server can't be reached at the moment
            else:
                return
