"""The gate at the wire, in the keeper's hands: a gesture's writes are held, checked, and let go once, or refused.

A worker can click; it cannot send. Every write of the browser is paused while the gate is armed; before one is let go
the fence is checked again and `released` is written, then the browser's pooled connections are closed, so that the
request leaves on a fresh connection, which Chromium does not send a second time by itself (measured; see
`ShouldResendRequest` in Chromium's net/http/http_network_transaction.cc). Fails closed: whatever goes wrong here, the
request is refused. Knows nothing of tasks or observers; runs in the keeper's event loop.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from urllib.parse import urlsplit

from playwright.async_api import BrowserContext, Error, Page, Request, WebSocket

from browser_agent.browser.gesture_traffic import GestureTraffic
from browser_agent.browser.interception import Answer, Pause, Paused
from browser_agent.browser.netlog import NetworkLog
from browser_agent.browser.send_order import Leaving
from browser_agent.states import Point
from browser_agent.wire import NO_SITE, SiteWrites, WireReport

FLUSH_SECONDS = 5.0
COMMIT_SECONDS = 5.0
"""How long a write that isn't declared waits for the declared commit request to leave first."""
_POLL_SECONDS = 0.02
CAN_FLUSH = "() => Boolean(globalThis.chrome?.benchmarking?.closeConnections)"
FLUSH = """() => {
  if (!globalThis.chrome?.benchmarking?.closeConnections) return false;
  chrome.benchmarking.closeConnections();
  return true;
}"""
Release = Callable[[str, str, str], Awaitable[None]]
"""Check the fence and write `released`: gesture, method, address. Raises when the request must not leave."""
Reach = Callable[[Point, str], Awaitable[None]]
"""Called at a durable point of a gesture; where a test ends a process."""


class Gate:
    """The gate of one Chromium.

    Args:
        pause: laid over that Chromium, on the keeper's own connection.
        context: the default context of our Chromium, on the keeper's own connection.
        helper: a page of that context that nothing acts on; pooled connections are closed from it. May be replaced.
        release: see `Release`.
        reach: see `Reach`.
        log: the browser's network log, if one is kept.
    """

    def __init__(  # noqa: PLR0917  # each is a part of where it stands
        self,
        pause: Pause,
        context: BrowserContext,
        helper: Page,
        release: Release,
        reach: Reach,
        log: NetworkLog | None = None,
    ) -> None:
        self._pause, self._release, self._reach, self._log = pause, release, reach, log
        self.helper = helper
        self._watches: dict[str, GestureTraffic] = {}
        self._current: GestureTraffic | None = None
        self._sockets: set[WebSocket] = set()
        self._refusing: str | None = None
        self._leaving = Leaving()
        self._context = context
        pause.tell(self._came, self._ended, self._worker_made)
        context.on("page", self._watch_page)
        context.on("requestfinished", self._finished)
        context.on("requestfailed", self._failed)
        for page in context.pages:
            self._watch_page(page)

    async def arm(
        self, gesture: str, sends: str | None, site: SiteWrites = NO_SITE, *, unguarded: bool = False
    ) -> bool:
        """Stand before the gesture's input. False: the guard cannot work here, and it does not stand.

        `unguarded` = stand there all the same: the fence is checked and `released` written, and the report says that
        the browser may send a request twice.
        """
        guarded = await self._ask_helper(CAN_FLUSH)
        if not guarded and not unguarded:
            return False
        self._refusing = None
        self._leaving.forget()
        span = await self._log.span(self.helper) if self._log is not None else None
        sockets, workers = len(self._sockets), self._pause.workers
        watch = GestureTraffic(gesture, sends, site, guarded=guarded, sockets=sockets, workers=workers, span=span)
        self._current = self._watches[gesture] = watch
        await self._pause.stand()
        return True

    async def disarm(self) -> None:
        """Open the gate again."""
        if self._current is not None:
            self._current.armed = False
            self._current = None
            await self._pause.rest()

    async def close(self) -> None:
        """Open it for good, and listen to nothing any more; for a browser that goes on without us."""
        self._current = None
        self._context.remove_listener("page", self._watch_page)
        self._context.remove_listener("requestfinished", self._finished)
        self._context.remove_listener("requestfailed", self._failed)
        for page in self._context.pages:
            page.remove_listener("websocket", self._watch_socket)
        await self._pause.lift()

    def refuse(self, because: str) -> None:
        """From now on let nothing go: the worker is dead, or the run is in other hands."""
        self._refusing = because

    async def catch_up(self) -> None:
        """Read the network log up to now, so that the reports can say what is not in it."""
        if self._log is not None:
            await self._log.catch_up(self.helper)

    def reports(self) -> dict[str, WireReport]:
        """What was seen, gesture by gesture."""
        return {gesture: watch.report() for gesture, watch in self._watches.items()}

    # A request stands still

    async def _came(self, paused: Paused) -> None:
        watch = self._current
        if watch is not None and watch.holds(paused) and not self._pause.is_foreign(paused):
            await self._hold(watch, paused)
            return
        if watch is not None and not self._pause.is_foreign(paused):
            watch.passed(paused)
        await self._leaving.read()
        await self._pause.let_go(paused)

    async def _hold(self, watch: GestureTraffic, paused: Paused) -> None:
        address = watch.held(paused, datetime.now(UTC))
        refused = await self._said_no(self._reach(Point.PAUSED, watch.gesture))
        if refused is None and watch.waits_for_commit(paused) and not await self._commit_left(watch):
            words = f"declared {watch.sends}, and the page sends {paused.method} {urlsplit(paused.url).path}"
            watch.note(paused, refused=words, undeclared=True)
            await self._pause.refuse(paused)
            return
        declared = watch.is_declared(paused)  # it gets a fresh connection even if that cuts off one that isn't
        async with self._leaving.turn(
            paused, may_cut_off=lambda other: declared and not watch.is_declared(other)
        ) as clear:
            # Undeclared, and still waiting when the gesture was settled: none of it. One that may be the commit request
            # is never let go so: the fence of a settled gesture refuses it.
            opened = not watch.armed and self._refusing is None and watch.sends is not None and not declared
            if not opened:
                refused = refused or await self._refused(watch, paused, address, flush=clear and watch.guarded)
            if not opened and refused is None:
                fresh = clear and watch.guarded
                watch.note(paused, released=True, fresh=fresh)  # it may have left, whatever the next line says
                self._leaving.left(paused)
                await self._pause.let_go(paused, tell=True)
        if opened:
            del watch.facts[paused]
            await self._came(paused)
        elif refused is not None:
            watch.note(paused, refused=refused)
            await self._pause.refuse(paused)
        else:
            await self._reach(Point.RELEASED, watch.gesture)

    async def _commit_left(self, watch: GestureTraffic) -> bool:
        """Whether the declared commit request left, or the gesture was settled, while an undeclared write waited."""
        until = asyncio.get_running_loop().time() + COMMIT_SECONDS
        while watch.armed and not watch.commit_left:
            if self._refusing is not None or asyncio.get_running_loop().time() > until:
                return False
            await asyncio.sleep(_POLL_SECONDS)
        return True

    async def _refused(self, watch: GestureTraffic, paused: Paused, address: str, *, flush: bool) -> str | None:
        """Why the held request must not leave, or None: fence checked, `released` written, connections closed."""
        if self._refusing is None:
            no = await self._said_no(self._release(watch.gesture, paused.method, address))
            if no is not None:
                return no
        if self._refusing is None and flush and not await self._ask_helper(FLUSH):
            return "pooled connections could not be closed"
        return self._refusing  # it may have been said while the connections were being closed

    async def _said_no(self, asked: Awaitable[None]) -> str | None:
        """A stop, a lost lease, a full disk: each means that the request must not leave."""
        try:
            await asked
        except asyncio.CancelledError:
            raise
        except BaseException as error:
            return str(error)
        return None

    async def _ask_helper(self, question: str) -> bool:
        try:
            return bool(await asyncio.wait_for(self.helper.evaluate(question), FLUSH_SECONDS))
        except (Error, TimeoutError):
            return False

    # How a write that was let go ended

    async def _ended(self, paused: Paused, how: Answer | str) -> None:
        """The head of its answer, or an error; the rest of an answer may still be on its way to a living page."""
        watch = next((watch for watch in self._watches.values() if paused in watch.facts), None)
        told = watch is not None and isinstance(how, Answer) and watch.answered(paused, how)
        if watch is not None and isinstance(how, str):
            watch.note(paused, error=how)
        more = paused.in_page and isinstance(how, Answer) and not 300 <= how.status < 400
        self._leaving.answered(paused, more=more)
        await self._pause.let_go(paused)
        if watch is not None and told:
            await self._reach(Point.ANSWERED, watch.gesture)

    def _finished(self, request: Request) -> None:
        for watch in self._watches.values():
            for paused in watch.facts:
                if _are_one(paused, request):
                    watch.ended(paused)
        for paused in self._leaving.under_way:
            if _are_one(paused, request):
                self._leaving.over(paused)
                return

    def _failed(self, request: Request) -> None:
        """The page's own words for an end without an answer tell more than the protocol's."""
        for paused in self._leaving.under_way:
            if _are_one(paused, request):
                self._leaving.over(paused)
                break
        for watch in self._watches.values():
            for paused, fact in watch.facts.items():
                if _are_one(paused, request) and fact.released and fact.status is None:
                    watch.note(paused, error=request.failure or "no answer")
                    return

    # Other ways out

    def _watch_page(self, page: Page) -> None:
        page.on("websocket", self._watch_socket)

    def _worker_made(self) -> None:
        if self._current is not None:
            self._current.workers += 1

    def _watch_socket(self, opened: WebSocket) -> None:
        self._sockets.add(opened)
        if self._current is not None:
            self._current.sockets += 1
        opened.on("close", self._forget_socket)

    def _forget_socket(self, closed: WebSocket) -> None:
        self._sockets.discard(closed)


def _are_one(paused: Paused, request: Request) -> bool:
    return paused.method == request.method and paused.url == request.url.partition("#")[0]
