"""The gate for a page that somebody else owns: it runs in the task's own process, without a keeper.

It is the keeper's gate, on the task's own connection. It needs a Chromium started with `--enable-net-benchmarking`. In
any other Chromium it holds and checks requests too, but its report says that the browser may send a request twice
(`armed` is false: an error on the wire then proves nothing, and only an observer that counts can settle the gesture).
If this process dies, the browser releases the held requests.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from playwright import async_api
from playwright.sync_api import Error, Page, Route

from browser_agent.browser.gate import Gate
from browser_agent.browser.guarded_browser import HELPER_ADDRESS
from browser_agent.browser.interception import EVERYTHING, Interceptor, browser_context_of
from browser_agent.browser.sync_bridge import async_page, async_session, run
from browser_agent.states import Point
from browser_agent.wire import NO_SITE, NOTHING_SEEN, SiteWrites, WireReport

Release = Callable[[str, str, str], None]
"""Check the fence and store `released`: gesture, method, address. Raises if the request must not leave."""
Reach = Callable[[Point, str], None]
"""Called at each durable point of a gesture on the wire. It must not call Playwright."""


class OwnPageGate:
    """The gate for one page's gestures; it covers the page's whole browser context.

    Args:
        page: the page that the gestures are made on.
        release: see `Release`.
        reach: see `Reach`.
    """

    def __init__(self, page: Page, release: Release, reach: Reach = lambda point, gesture: None) -> None:
        self._page, self._release, self._reach = page, release, reach
        self._helper: Page | None = None
        self._gate = self._make_gate()

    def arm(self, gesture: str, sends: str | None, site: SiteWrites = NO_SITE) -> bool:
        """Arm it before the gesture's input. False: this browser may send a request twice by itself."""
        try:
            if self._helper is None or self._helper.is_closed():
                self._gate.helper = async_page(self._new_helper())
            run(self._page, self._gate.arm(gesture, sends, site, unguarded=True))
        except Error:  # the browser is gone, and the gesture will raise
            return False
        return self.report(gesture).armed

    def refuse(self, because: str) -> None:
        """Release nothing until the gate is armed again."""
        self._gate.refuse(because)

    def disarm(self) -> None:
        """Open the gate again. If the browser is gone, there is nothing to open."""
        try:
            run(self._page, self._gate.disarm())
        except Error as error:
            if "closed" not in str(error):
                raise

    def report(self, gesture: str) -> WireReport:
        """What was seen of a gesture since it was armed."""
        return self._gate.reports().get(gesture, NOTHING_SEEN)

    def close(self) -> None:
        """Remove the gate and its helper page from the browser."""
        run(self._page, self._gate.close())
        if self._helper is not None and not self._helper.is_closed():
            self._helper.close()

    def _make_gate(self) -> Gate:
        context = self._page.context
        browser = context.browser
        assert browser is not None, "a context without a browser is refused when the run is opened"
        of_page = context.new_cdp_session(self._page)
        own = browser_context_of(of_page.send("Target.getTargetInfo"))
        of_page.detach()
        session = async_session(browser.new_browser_cdp_session())
        interceptor = run(self._page, Interceptor.install(session, own))
        context.route(EVERYTHING, _continue)
        context.unroute(EVERYTHING, _continue)
        # The gate only listens to the context; both APIs report the same events.
        listened = cast("async_api.BrowserContext", context)
        return Gate(interceptor, listened, async_page(self._page), self._check_release, self._reached)

    async def _check_release(self, gesture: str, method: str, address: str) -> None:
        self._release(gesture, method, address)

    async def _reached(self, point: Point, gesture: str) -> None:
        self._reach(point, gesture)

    def _new_helper(self) -> Page:
        """Open a page that nothing acts on; the browser's pooled connections are closed from it."""
        self._helper = self._page.context.new_page()
        self._helper.goto(HELPER_ADDRESS)
        self._page.bring_to_front()
        return self._helper


def _continue(route: Route) -> None:
    route.continue_()
