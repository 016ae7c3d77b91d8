"""Watches a step that is being prepared, and marks it as soon as its page writes something that no gesture makes.

The worker notices such writes too, but reports them only after the step's body. A worker that hangs or dies in the body
never reports them, and the step would then be prepared again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from playwright.async_api import Request

from browser_agent.errors import StoreUnusable, Superseded
from browser_agent.store import Lease, Store
from browser_agent.wire import is_among
from observers.evidence import plain_address
from observers.request_pattern import SAFE_METHODS


class PreparationWatch:
    """Watches one step at a time.

    Args:
        store: where the step is stored.
        lease: the lease of the current attempt.
        notify: shows an event, by kind and words, to the person who watches.
    """

    def __init__(self, store: Store, lease: Callable[[], Lease], notify: Callable[[str, str], None]) -> None:
        self._store, self._lease, self._notify = store, lease, notify
        self._step, self._harmless = "", tuple[str, ...]()
        self._marking: set[asyncio.Task[None]] = set()

    def begin(self, step: str, harmless: Sequence[str]) -> None:
        """Watch a step from now on. A worker's death doesn't end the watch, because its page keeps working.

        Args:
            step: the step's id; "" = watch none.
            harmless: patterns of the writes that may be repeated.
        """
        self._step, self._harmless = step, tuple(harmless)

    def saw(self, request: Request) -> None:
        """Check a request of the task's page, or of another one in its browser."""
        write = f"{request.method} {plain_address(request.url)}"
        if not self._step or request.method in SAFE_METHODS or is_among(write, self._harmless):
            return
        task = asyncio.ensure_future(self._mark(self._step, write))
        self._marking.add(task)
        task.add_done_callback(self._marking.discard)

    async def _mark(self, step: str, write: str) -> None:
        try:
            await asyncio.to_thread(self._store.journal.mark_step, self._lease(), step, write)
        except Superseded:  # the run's new keeper uses this browser, or has ended it
            return
        except StoreUnusable as unusable:
            self._notify("store", str(unusable))
