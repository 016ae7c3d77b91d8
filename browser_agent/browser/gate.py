"""The keeper's gate: holds a gesture's writes, checks them, and releases each once or refuses it.

A worker can click but not send. While the gate is armed, every write of the browser is paused. Before a write is
released, the fence is checked again, `released` is stored, and the browser's pooled connections are closed, so that the
request leaves on a fresh connection. Chromium doesn't resend such a request by itself (measured; see
`ShouldResendRequest` in Chromium's net/http/http_network_transaction.cc). The gate fails closed: on any error here the
request is refused.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from urllib.parse import urlsplit

from playwright.async_api import BrowserContext, Error, Page, Request, WebSocket

from browser_agent.browser.gesture_traffic import GestureTraffic
from browser_agent.browser.interception import Interceptor, PausedRequest, ResponseHead
from browser_agent.browser.netlog import NetworkLog
from browser_agent.browser.send_order import SendOrder
from browser_agent.states import Point
from browser_agent.wire import NO_SITE, SiteWrites, WireReport

FLUSH_SECONDS = 5.0
COMMIT_SECONDS = 5.0
"""How long an undeclared write waits for the declared commit request to leave first."""
_POLL_SECONDS = 0.02
CAN_FLUSH = "() => Boolean(globalThis.chrome?.benchmarking?.closeConnections)"
FLUSH = """() => {
  if (!globalThis.chrome?.benchmarking?.closeConnections) return false;
  chrome.benchmarking.closeConnections();
  return true;
}"""
Release = Callable[[str, str, str], Awaitable[None]]
"""Check the fence and store `released`: gesture, method, address. Raises if the request must not leave."""
Reach = Callable[[Point, str], Awaitable[None]]
"""Called at each durable point of a gesture, where a test may inject a fault."""


class Gate:
    """The gate of one Chromium.

    Args:
        interceptor: installed in that Chromium, on the keeper's own connection.
        context: the default context of our Chromium, on the keeper's own connection.
        helper: a page of that context that no task acts on; pooled connections are closed from it. May be replaced.
        release: see `Release`.
        reach: see `Reach`.
        log: the browser's network log, if one is read.
    """

    def __init__(  # noqa: PLR0917  # all are needed, and there are two callers
        self,
        interceptor: Interceptor,
        context: BrowserContext,
        helper: Page,
        release: Release,
        reach: Reach,
        log: NetworkLog | None = None,
    ) -> None:
        self._interceptor, self._release, self._reach, self._log = interceptor, release, reach, log
        self.helper = helper
        self._traffic: dict[str, GestureTraffic] = {}
        self._current: GestureTraffic | None = None
        self._sockets: set[WebSocket] = set()
        self._refusing: str | None = None
        self._send_order = SendOrder()
        self._context = context
        interceptor.listen(self._request_paused, self._request_ended, self._worker_started)
        context.on("page", self._watch_page)
        context.on("requestfinished", self._finished)
        context.on("requestfailed", self._failed)
        for page in context.pages:
            self._watch_page(page)

    async def arm(
        self, gesture: str, sends: str | None, site: SiteWrites = NO_SITE, *, unguarded: bool = False
    ) -> bool:
        """Arm it before the gesture's input. False: it can't work in this browser, and isn't armed.

        With `unguarded` it is armed anyway: the fence is checked and `released` is stored, and the report says that the
        browser may send a request twice.
        """
        guarded = await self._ask_helper(CAN_FLUSH)
        if not guarded and not unguarded:
            return False
        self._refusing = None
        self._send_order.reset()
        span = await self._log.span(self.helper) if self._log is not None else None
        sockets, workers = len(self._sockets), self._interceptor.workers
        traffic = GestureTraffic(gesture, sends, site, guarded=guarded, sockets=sockets, workers=workers, span=span)
        self._current = self._traffic[gesture] = traffic
        await self._interceptor.pause_all()
        return True

    async def disarm(self) -> None:
        """Open the gate again."""
        if self._current is not None:
            self._current.armed = False
            self._current = None
            await self._interceptor.pause_none()

    async def close(self) -> None:
        """Open it for good and remove its listeners; the browser continues without us."""
        self._current = None
        self._context.remove_listener("page", self._watch_page)
        self._context.remove_listener("requestfinished", self._finished)
        self._context.remove_listener("requestfailed", self._failed)
        for page in self._context.pages:
            page.remove_listener("websocket", self._watch_socket)
        await self._interceptor.remove()

    def refuse(self, because: str) -> None:
        """Release nothing from now on: the worker is dead, or another keeper owns the run."""
        self._refusing = because

    async def catch_up(self) -> None:
        """Read the network log up to now, so that the reports can rely on what isn't in it."""
        if self._log is not None:
            await self._log.catch_up(self.helper)

    def reports(self) -> dict[str, WireReport]:
        """What was seen, by gesture."""
        return {gesture: traffic.report() for gesture, traffic in self._traffic.items()}

    # a request is paused

    async def _request_paused(self, paused: PausedRequest) -> None:
        traffic = self._current
        if traffic is not None and traffic.holds(paused) and not self._interceptor.is_foreign(paused):
            await self._hold(traffic, paused)
            return
        if traffic is not None and not self._interceptor.is_foreign(paused):
            traffic.passed(paused)
        await self._send_order.read_turn(paused)
        await self._interceptor.release(paused)

    async def _hold(self, traffic: GestureTraffic, paused: PausedRequest) -> None:
        address = traffic.held(paused, datetime.now(UTC))
        refused = await self._error_of(self._reach(Point.PAUSED, traffic.gesture))
        if refused is None and traffic.waits_for_commit(paused) and not await self._commit_left(traffic):
            words = f"declared {traffic.sends}, and the page sends {paused.method} {urlsplit(paused.url).path}"
            traffic.update(paused, refused=words, undeclared=True)
            await self._interceptor.refuse(paused)
            return
        declared = traffic.is_declared(paused)

        def may_cut_off(other: PausedRequest) -> bool:
            return declared and not traffic.is_declared(other)

        async with self._send_order.write_turn(paused, may_cut_off=may_cut_off) as clear:
            # An undeclared write that still waits when the gesture is settled isn't part of it, and passes.
            # One that may be the commit request never passes this way: the fence of a settled gesture refuses it.
            opened = not traffic.armed and self._refusing is None and traffic.sends is not None and not declared
            if not opened:
                refused = refused or await self._refused(traffic, paused, address, flush=clear and traffic.guarded)
            if not opened and refused is None:
                fresh = clear and traffic.guarded
                traffic.update(paused, released=True, fresh=fresh)  # first: if the release raises, it may have left
                self._send_order.sent(paused)
                await self._interceptor.release(paused, report=True)
        if opened:
            del traffic.facts[paused]
            await self._request_paused(paused)
        elif refused is not None:
            traffic.update(paused, refused=refused)
            await self._interceptor.refuse(paused)
        else:
            await self._reach(Point.RELEASED, traffic.gesture)

    async def _commit_left(self, traffic: GestureTraffic) -> bool:
        """Wait for the declared commit request to leave; False if it doesn't. Also True once the gesture is settled."""
        until = asyncio.get_running_loop().time() + COMMIT_SECONDS
        while traffic.armed and not traffic.commit_left:
            if self._refusing is not None or asyncio.get_running_loop().time() > until:
                return False
            await asyncio.sleep(_POLL_SECONDS)
        return True

    async def _refused(
        self, traffic: GestureTraffic, paused: PausedRequest, address: str, *, flush: bool
    ) -> str | None:
        """Why it must not leave; None if the fence holds, `released` is stored and connections are closed."""
        if self._refusing is None:
            error = await self._error_of(self._release(traffic.gesture, paused.method, address))
            if error is not None:
                return error
        if self._refusing is None and flush and not await self._ask_helper(FLUSH):
            return "pooled connections could not be closed"
        return self._refusing  # it may have been set while the connections were being closed

    async def _error_of(self, call: Awaitable[None]) -> str | None:
        """What the call raises, as text. On a stop, a lost lease or a full disk, the request must not leave."""
        try:
            await call
        except asyncio.CancelledError:
            raise
        except BaseException as error:
            return str(error) or type(error).__name__
        return None

    async def _ask_helper(self, question: str) -> bool:
        try:
            return bool(await asyncio.wait_for(self.helper.evaluate(question), FLUSH_SECONDS))
        except (Error, TimeoutError):
            return False

    # a released write has ended

    async def _request_ended(self, paused: PausedRequest, end: ResponseHead | str) -> None:
        """The request got a response head or an error; the body may still be on its way to a living page."""
        traffic = next((traffic for traffic in self._traffic.values() if paused in traffic.facts), None)
        first = traffic is not None and isinstance(end, ResponseHead) and traffic.answered(paused, end)
        if traffic is not None and isinstance(end, str):
            traffic.update(paused, error=end)
        more = paused.in_page and isinstance(end, ResponseHead) and not 300 <= end.status < 400
        self._send_order.answered(paused, more=more)
        await self._interceptor.release(paused)
        if traffic is not None and first:
            await self._reach(Point.ANSWERED, traffic.gesture)

    def _finished(self, request: Request) -> None:
        for traffic in self._traffic.values():
            for paused in traffic.facts:
                if _is_same(paused, request):
                    traffic.ended(paused)
        self._end_turn(request)

    def _end_turn(self, request: Request) -> None:
        for paused in self._send_order.unended:
            if _is_same(paused, request):
                self._send_order.ended(paused)
                return
        for paused in self._send_order.starting:
            if _is_same(paused, request):
                self._send_order.read_ended(paused)
                return

    def _failed(self, request: Request) -> None:
        """The page's own error text says more than the protocol's."""
        self._end_turn(request)
        for traffic in self._traffic.values():
            for paused, fact in traffic.facts.items():
                if _is_same(paused, request) and fact.released and fact.status is None:
                    traffic.update(paused, error=request.failure or "no answer")
                    return

    # other ways out

    def _watch_page(self, page: Page) -> None:
        page.on("websocket", self._watch_socket)

    def _worker_started(self) -> None:
        if self._current is not None:
            self._current.workers += 1

    def _watch_socket(self, opened: WebSocket) -> None:
        self._sockets.add(opened)
        if self._current is not None:
            self._current.sockets += 1
        opened.on("close", self._forget_socket)

    def _forget_socket(self, closed: WebSocket) -> None:
        self._sockets.discard(closed)


def _is_same(paused: PausedRequest, request: Request) -> bool:
    return paused.method == request.method and paused.url == request.url.partition("#")[0]
