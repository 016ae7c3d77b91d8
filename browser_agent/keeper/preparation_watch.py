"""The keeper's eye on a step that is being prepared: a write that no gesture makes marks the step at once.

The worker notices such writes too, but tells of them when the step's body is over; one that hangs in it, or dies, never
does. What may never happen: a step that has written is prepared once more by itself because its worker could not tell.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from playwright.async_api import Request

from browser_agent.errors import StoreUnusable, Superseded
from browser_agent.store import Lease, Store
from browser_agent.wire import SAFE_METHODS, is_among
from observers.evidence import plain_address


class PreparationWatch:
    """Notices the writes of the one step that is being prepared.

    Args:
        store: where the step is written.
        lease: the right of the present attempt.
        say: tells the person who watches, by kind and words.
    """

    def __init__(self, store: Store, lease: Callable[[], Lease], say: Callable[[str, str], None]) -> None:
        self._store, self._lease, self._say = store, lease, say
        self._step, self._harmless = "", tuple[str, ...]()
        self._marking: set[asyncio.Task[None]] = set()

    def begin(self, step: str, harmless: Sequence[str]) -> None:
        """From now on that step is being prepared; none: empty. It outlasts its worker, whose page goes on.

        Args:
            step: the step's id.
            harmless: patterns of the writes that may be repeated.
        """
        self._step, self._harmless = step, tuple(harmless)

    def saw(self, request: Request) -> None:
        """A request of the page that acts, or of another one beside it."""
        write = f"{request.method} {plain_address(request.url)}"
        if not self._step or request.method in SAFE_METHODS or is_among(write, self._harmless):
            return
        task = asyncio.ensure_future(self._mark(self._step, write))
        self._marking.add(task)
        task.add_done_callback(self._marking.discard)

    async def _mark(self, step: str, write: str) -> None:
        try:
            await asyncio.to_thread(self._store.journal.mark_step, self._lease(), step, write)
        except Superseded:  # whoever has the run now keeps the browser, or has ended it
            return
        except StoreUnusable as unusable:
            self._say("store", str(unusable))
