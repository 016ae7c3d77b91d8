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
from dataclasses import dataclass, field
from datetime import UTC, datetime

from playwright.async_api import BrowserContext, Error, Page, Request, Response, Route, WebSocket, Worker

from browser_agent.browser.netlog import NetworkLog, Span
from browser_agent.sends import matches_request
from browser_agent.states import Point
from browser_agent.wire import SAFE_METHODS, WireFact, WireReport
from observers.evidence import plain_address

FLUSH_SECONDS = 5.0
_FLUSH = """() => {
  if (!globalThis.chrome?.benchmarking?.closeConnections) return false;
  chrome.benchmarking.closeConnections();
  return true;
}"""
_EVERYTHING = "**/*"
_MAY_WRITE = frozenset({"document", "xhr", "fetch"})
"""Kinds of requests by which a site may do something on a GET; pictures and styles are not among them."""

Release = Callable[[str, str, str], Awaitable[None]]
"""Check the fence and write `released`: gesture, method, address. Raises when the request must not leave."""
Reach = Callable[[Point, str], Awaitable[None]]
"""Called at a durable point of a gesture; where a test ends a process."""


@dataclass
class _Watch:
    """One gesture at the gate."""

    gesture: str
    sends: str | None
    span: Span | None = None
    armed: bool = True
    sockets: int = 0
    workers: int = 0
    reads: int = 0
    facts: dict[Request, WireFact] = field(default_factory=dict)

    def is_declared(self, request: Request) -> bool:
        return self.sends is not None and matches_request(self.sends, request.method, request.url)

    def holds(self, request: Request) -> bool:
        return request.method not in SAFE_METHODS or self.is_declared(request)

    @property
    def pending(self) -> bool:
        """Whether something that was let go waits for its answer."""
        return any(fact.released and fact.status is None and fact.error is None for fact in self.facts.values())

    def note(self, request: Request, **facts: object) -> None:
        if self.span is not None:
            self.span.doubt()
        self.facts[request] = self.facts[request].model_copy(update=facts)


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
        self._watches: dict[str, _Watch] = {}
        self._current: _Watch | None = None
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
        watch = _Watch(gesture, sends, span, sockets=len(self._sockets), workers=len(self._context.service_workers))
        self._current = self._watches[gesture] = watch
        await self._context.route(_EVERYTHING, self._on_request)
        return True

    async def disarm(self) -> None:
        """Open the gate again."""
        if self._current is not None:
            self._current.armed = False
            self._current = None
            await self._context.unroute(_EVERYTHING, self._on_request)

    def refuse(self, because: str) -> None:
        """From now on let nothing go: the worker is dead, or the run is in other hands."""
        self._refusing = because

    async def catch_up(self) -> None:
        """Read the network log up to now, so that the reports can say what is not in it."""
        if self._log is not None:
            await self._log.catch_up(self.helper)

    def reports(self) -> dict[str, WireReport]:
        """What was seen, gesture by gesture."""
        return {gesture: self._report(watch) for gesture, watch in self._watches.items()}

    def _report(self, watch: _Watch) -> WireReport:
        return WireReport(
            armed=watch.armed,
            facts=tuple(watch.facts.values()),
            sockets=watch.sockets,
            workers=watch.workers,
            declared=watch.sends is not None,
            reads=watch.reads,
            restarts=watch.span.restarts(pending=watch.pending) if watch.span is not None else None,
            resent=watch.span.resent if watch.span is not None else (),
        )

    async def _on_request(self, route: Route) -> None:
        watch, request = self._current, route.request
        if watch is None or not watch.holds(request):
            if watch is not None and request.resource_type in _MAY_WRITE:
                watch.reads += 1
            await _quietly(route.continue_())
            return
        address = plain_address(request.url)
        watch.facts[request] = WireFact(
            method=request.method, address=address, at=datetime.now(UTC), declared=watch.is_declared(request)
        )
        refused = await self._refused(watch, request, address)
        if refused is not None:
            watch.note(request, refused=refused)
            await _quietly(route.abort("blockedbyclient"))
            return
        watch.note(request, released=True)  # from here on it may have left, whatever the next line says
        await _quietly(route.continue_())
        await self._reach(Point.RELEASED, watch.gesture)

    async def _refused(self, watch: _Watch, request: Request, address: str) -> str | None:
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
            return bool(await asyncio.wait_for(self.helper.evaluate(_FLUSH), FLUSH_SECONDS))
        except (Error, TimeoutError):
            return False

    async def _answered(self, response: Response) -> None:
        watch = self._watch_of(response.request)
        if watch is None or watch.facts[response.request].status is not None:
            return
        location = response.headers.get("location")
        watch.note(
            response.request,
            status=response.status,
            location=plain_address(location) if location else None,
            by_service_worker=response.from_service_worker,
        )
        await self._reach(Point.ANSWERED, watch.gesture)

    def _ended(self, request: Request) -> None:
        watch = self._watch_of(request)
        if watch is not None and watch.facts[request].refused is None:
            watch.note(request, error=request.failure or "no answer")

    def _watch_of(self, request: Request) -> _Watch | None:
        return next((watch for watch in self._watches.values() if request in watch.facts), None)

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
