"""The guard in the same process as the task: the gate's rules on a page that somebody else owns, where no keeper is.

The same care as the gate's: a gesture's writes are held, `released` is written, the browser's pooled connections are
closed, and the request is let go on a fresh one. It needs a Chromium started with `--enable-net-benchmarking`; in any
other browser it only watches, and its report says that nothing stood between the page and the wire (`armed` is false:
an error on the wire then proves nothing, and only an observer that counts can settle the gesture).

Knows nothing of tasks or observers. What may never happen: a held request is let go without `released`.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from playwright.sync_api import BrowserContext, Error, Page, Request, Response, Route

from browser_agent.browser.deadline import DeadlinePassed, within
from browser_agent.browser.gate import FLUSH, FLUSH_SECONDS
from browser_agent.browser.held import HELPER_ADDRESS
from browser_agent.browser.pause import EVERYTHING
from browser_agent.browser.watch import Watch
from browser_agent.states import Point
from browser_agent.wire import NOTHING_SEEN, WireReport

Release = Callable[[str, str, str], None]
"""Check the fence and write `released`: gesture, method, address. Raises when the request must not leave."""

Reach = Callable[[Point], None]
"""A durable point at the wire: a test may end the run's life there. What it raises while a request is held means that
the request must not leave; elsewhere it must raise nothing."""

UNROUTE_TRIES = 3


def _go_on(_: Point) -> None:
    """Nothing is struck."""


class Guard:
    """Stands before the gestures of one page.

    Args:
        page: the page that is acted on.
        release: see `Release`.
        reach: see `Reach`.
    """

    def __init__(self, page: Page, release: Release, reach: Reach = _go_on) -> None:
        self._page, self._release, self._reach = page, release, reach
        self._context: BrowserContext = page.context
        self._watches: dict[str, Watch] = {}
        self._current: Watch | None = None
        self._helper: Page | None = None
        self._sockets = 0
        self._refusing: str | None = None
        page.on("websocket", self._count_socket)

    def arm(self, gesture: str, sends: str | None) -> bool:
        """Stand before the gesture's input. False: this browser can't be guarded, and its writes are only watched."""
        guarded, self._refusing = self._flush(), None
        watch = Watch(gesture, sends, sockets=self._sockets, workers=len(self._context.service_workers))
        watch.armed = guarded
        self._current = self._watches[gesture] = watch
        self._listen(guarded)
        return guarded

    def refuse(self, because: str) -> None:
        """From now on let nothing go, until the gate is armed anew or opened."""
        self._refusing = because

    def disarm(self) -> None:
        """Open the gate again."""
        if self._current is None:
            return
        guarded, self._current.armed, self._current = self._current.armed, False, None
        if guarded:
            self._let_through()
        else:
            self._context.remove_listener("request", self._seen)
        self._context.remove_listener("response", self._answered)
        self._context.remove_listener("requestfailed", self._ended)

    def report(self, gesture: str) -> WireReport:
        """What was seen of a gesture since it was armed."""
        watch = self._watches.get(gesture)
        return NOTHING_SEEN if watch is None else watch.report()

    def close(self) -> None:
        """Open the gate and close its helper page."""
        self.disarm()
        self._page.remove_listener("websocket", self._count_socket)
        if self._helper is not None and not self._helper.is_closed():
            self._helper.close()

    def _let_through(self) -> None:
        """Hold nothing any more. A page that closes or crashes just now ends this (measured), and not the others."""
        for _ in range(UNROUTE_TRIES):
            try:
                return self._context.unroute(EVERYTHING, self._on_request)
            except Error as error:
                if "closed" not in str(error) and "crashed" not in str(error):
                    raise

    def _listen(self, guarded: bool) -> None:
        self._context.on("response", self._answered)
        self._context.on("requestfailed", self._ended)
        if guarded:
            self._context.route(EVERYTHING, self._on_request)
        else:
            self._context.on("request", self._seen)

    def _on_request(self, route: Route) -> None:
        watch, request = self._current, route.request
        if watch is None or not watch.holds(request):
            if watch is not None:
                watch.passed(request)
            _quietly(route.continue_)
            return
        address = watch.held(request, datetime.now(UTC))
        refused = self._refused(watch, request, address)
        if refused is not None:
            watch.note(request, refused=refused)
            _quietly(lambda: route.abort("blockedbyclient"))
            return
        watch.note(request, released=True)  # from here on it may have left, whatever the next line says
        _quietly(route.continue_)
        self._reach(Point.RELEASED)

    def _refused(self, watch: Watch, request: Request, address: str) -> str | None:
        """Why the held request must not leave, or None: fence checked, `released` written, connections closed."""
        if self._refusing is None:
            try:
                self._reach(Point.PAUSED)
                self._release(watch.gesture, request.method, address)
            except BaseException as error:  # a stop, a lost lease, a full disk: each means that it must not leave
                return str(error)
            if not self._flush():
                return "pooled connections could not be closed"
        return self._refusing

    def _flush(self) -> bool:
        """Close the browser's pooled connections, from a page that waits for nothing; False if that can't be done."""
        try:
            if self._helper is None or self._helper.is_closed():
                self._helper = self._new_helper()
            helper = self._helper
            return bool(within(FLUSH_SECONDS, lambda: helper.evaluate(FLUSH)))
        except (Error, DeadlinePassed):
            return False

    def _new_helper(self) -> Page:
        helper = self._context.new_page()
        helper.goto(HELPER_ADDRESS)
        self._page.bring_to_front()
        return helper

    def _seen(self, request: Request) -> None:
        """Where nothing can be held, a write is written down as it leaves."""
        if self._current is not None and self._current.holds(request):
            self._current.held(request, datetime.now(UTC))
            self._current.note(request, released=True)

    def _answered(self, response: Response) -> None:
        if self._current is not None and self._current.answered(response.request, response):
            self._reach(Point.ANSWERED)

    def _ended(self, request: Request) -> None:
        if self._current is not None:
            self._current.ended(request)

    def _count_socket(self, _: Any) -> None:
        self._sockets += 1
        if self._current is not None:
            self._current.sockets += 1


def _quietly(answer: Callable[[], object]) -> None:
    """Answer a held request. The page may be gone meanwhile, and then there is nothing to answer."""
    try:
        answer()
    except Error as error:
        if "closed" not in str(error) and "handled" not in str(error):
            raise
