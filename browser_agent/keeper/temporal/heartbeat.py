"""The pulse of one activity: the engine as its keeper sees it. It asks Temporal by the activity's own task token.

Ordinary heartbeats are sent late and say nothing in return, so they are no fence: at a gesture the server itself is
asked, and its answer waited for. What may never happen: an activity is asked for by its id (that would be answered for
a later attempt, too); a heartbeat carries more than a mark of how far the run has come.
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
"""How long a gesture waits for the server's word; without one it is not made."""
_AGAIN_SECONDS = 0.2


class ActivityHeartbeat:
    """One activity's right to keep a run.

    Args:
        client: of the worker, in whose loop it is used.
        run: the run's id.

    Attributes:
        attempt: the number of its keeper's attempt, as far as it is known.
    """

    def __init__(self, client: Client, run: str) -> None:
        info = activity.info()
        self.name = f"temporal/{info.workflow_namespace}/{info.workflow_id}"
        self.order = info.current_attempt_scheduled_time.timestamp()
        self.attempt, self._run, self._at = 0, run, "taken"
        self._word = EngineOrder.GO_ON
        self._handle = client.get_async_activity_handle(task_token=info.task_token)
        self._loop = asyncio.get_running_loop()
        self._seconds = info.heartbeat_timeout.total_seconds() / 3 if info.heartbeat_timeout else 10.0

    def word(self) -> EngineOrder:
        """What the server last said."""
        return self._word

    def heard(self, word: EngineOrder) -> None:
        """Note what the server said; what is over stays over."""
        if self._word is not EngineOrder.OVER:
            self._word = word

    def tell(self, event: Event) -> None:
        """Note how far the run has come."""
        self.attempt, self._at = event.attempt, event.kind

    async def beat(self) -> None:
        """Send ordinary heartbeats, until cancelled."""
        while True:
            activity.heartbeat(self.attempt, self._at)
            await asyncio.sleep(self._seconds)

    async def fence(self) -> None:
        """Ask the server, from the keeper's loop.

        Raises:
            Superseded: the activity is not the current one any more, is cancelled, or no answer came in time.
        """
        asked = asyncio.run_coroutine_threadsafe(self._ask(), self._loop)
        try:
            await asyncio.wait_for(asyncio.wrap_future(asked), FENCE_SECONDS)
        except TimeoutError:
            self.heard(EngineOrder.OVER)
        if self._word is EngineOrder.OVER:
            raise Superseded(self._run, self.attempt)

    async def _ask(self) -> None:
        while self._word is not EngineOrder.OVER:
            try:
                await self._handle.heartbeat(self.attempt, self._at, rpc_timeout=timedelta(seconds=FENCE_SECONDS))
            except AsyncActivityCancelledError:
                self.heard(EngineOrder.OVER)
            except RPCError as error:
                if error.status is RPCStatusCode.NOT_FOUND:
                    self.heard(EngineOrder.OVER)
                await asyncio.sleep(_AGAIN_SECONDS)  # not to be reached at the moment
            else:
                return
