"""The gate at the wire, in the keeper's hands: a gesture's writes are held, checked, and let go once, or refused.

A worker can click; it cannot send. Every write of the acting pages is paused while the gate is armed; before one is
let go the fence is checked again and `released` is written, then the browser's pooled connections are closed, so that
the request leaves on a fresh connection, which Chromium does not send a second time by itself (measured; see
`ShouldResendRequest` in Chromium's net/http/http_network_transaction.cc). Fails closed: whatever goes wrong here, the
request is refused. Knows nothing of tasks or observers; runs in the keeper's event loop.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime

from playwright.async_api import BrowserContext, Error, Page, Request, Response, Route, WebSocket, Worker

from browser_agent.browser.netlog import NetworkLog
from browser_agent.browser.watch import Watch
from browser_agent.states import Point
from browser_agent.wire import WireReport

FLUSH_SECONDS = 5.0
FLUSH = """() => {
  if (!globalThis.chrome?.benchmarking?.closeConnections) return false;
  chrome.benchmarking.closeConnections();
  return true;
}"""
EVERYTHING = "**/*"
Release = Callable[[str, str, str], Awaitable[None]]
"""Check the fence and write `released`: gesture, method, address. Raises when the request must not leave."""
Reach = Callable[[Point, str], Awaitable[None]]
"""Called at a durable point of a gesture; where a test ends a process."""


class Gate:
    """The gate of one browser context.

    Args:
        context: the default context of our Chromium, on the keeper's own connection.
        helper: a page of that context that nothing acts on; pooled connections are closed from it. May be replaced.
        release: see `Release`.
        reach: see `Reach`.
        log: the browser's network log, if one is kept.
    """

    def __init__(
        self, context: BrowserContext, helper: Page, release: Release, reach: Reach, log: NetworkLog | None = None
    ) -> None:
        self._context, self._release, self._reach, self._log = context, release, reach, log
        self.helper = helper
        self._watches: dict[str, Watch] = {}
        self._current: Watch | None = None
        self._sockets: set[WebSocket] = set()
        self._refusing: str | None = None
        context.on("page", self._watch_page)
        context.on("serviceworker", self._watch_worker)
        context.on("response", self._answered)
        context.on("requestfailed", self._ended)
        for page in context.pages:
            self._watch_page(page)

    async def arm(self, gesture: str, sends: str | None) -> bool:
        """Stand before the gesture's input. False: the guard cannot work here, nothing may be made through it."""
        if not await self._flush():
            return False
        self._refusing = None
        span = await self._log.span(self.helper) if self._log is not None else None
        watch = Watch(gesture, sends, sockets=len(self._sockets), workers=len(self._context.service_workers), span=span)
        self._current = self._watches[gesture] = watch
        await self._context.route(EVERYTHING, self._on_request)
        return True

    async def disarm(self) -> None:
        """Open the gate again."""
        if self._current is not None:
            self._current.armed = False
            self._current = None
            await self._context.unroute(EVERYTHING, self._on_request)

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

    async def _on_request(self, route: Route) -> None:
        watch, request = self._current, route.request
        if watch is None or not watch.holds(request):
            if watch is not None:
                watch.passed(request)
            await _quietly(route.continue_())
            return
        address = watch.held(request, datetime.now(UTC))
        refused = await self._refused(watch, request, address)
        if refused is not None:
            watch.note(request, refused=refused)
            await _quietly(route.abort("blockedbyclient"))
            return
        watch.note(request, released=True)  # from here on it may have left, whatever the next line says
        await _quietly(route.continue_())
        await self._reach(Point.RELEASED, watch.gesture)

    async def _refused(self, watch: Watch, request: Request, address: str) -> str | None:
        """Why the held request must not leave, or None: fence checked, `released` written, connections closed."""
        try:
            await self._reach(Point.PAUSED, watch.gesture)
            if self._refusing is None:
                await self._release(watch.gesture, request.method, address)
        except asyncio.CancelledError:
            raise
        except BaseException as error:  # a stop, a lost lease, a full disk: each means that it must not leave
            return str(error)
        if self._refusing is None and not await self._flush():
            return "pooled connections could not be closed"
        return self._refusing  # it may have been said while the connections were being closed

    async def _flush(self) -> bool:
        try:
            return bool(await asyncio.wait_for(self.helper.evaluate(FLUSH), FLUSH_SECONDS))
        except (Error, TimeoutError):
            return False

    async def _answered(self, response: Response) -> None:
        for watch in self._watches.values():
            if watch.answered(response.request, response):
                await self._reach(Point.ANSWERED, watch.gesture)

    def _ended(self, request: Request) -> None:
        for watch in self._watches.values():
            watch.ended(request)

    def _watch_page(self, page: Page) -> None:
        page.on("websocket", self._watch_socket)

    def _watch_worker(self, worker: Worker) -> None:
        if self._current is not None:
            self._current.workers += 1

    def _watch_socket(self, opened: WebSocket) -> None:
        self._sockets.add(opened)
        if self._current is not None:
            self._current.sockets += 1
        opened.on("close", self._forget_socket)

    def _forget_socket(self, closed: WebSocket) -> None:
        self._sockets.discard(closed)


async def _quietly(answer: Awaitable[None]) -> None:
    """Answer a held request. The page may be gone meanwhile, and then there is nothing to answer."""
    try:
        await answer
    except Error as error:
        if "closed" not in str(error) and "handled" not in str(error):
            raise
