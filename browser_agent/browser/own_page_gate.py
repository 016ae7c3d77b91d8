"""The gate in the same process as the task, before a page that somebody else owns, where no keeper is.

It is the keeper's gate, on the task's own connection. It needs a Chromium started with `--enable-net-benchmarking`; in
any other it holds and checks as well, but its report says that nothing keeps the browser from sending a request twice
(`armed` is false: an error on the wire then proves nothing, and only an observer that counts can settle the gesture).
If this process dies, the browser lets go what was held.

Knows nothing of tasks or observers. What may never happen: a held request is let go without `released`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from playwright import async_api
from playwright.sync_api import Error, Page, Route

from browser_agent.browser.gate import Gate
from browser_agent.browser.guarded_browser import HELPER_ADDRESS
from browser_agent.browser.interception import EVERYTHING, Pause, home_of
from browser_agent.browser.sync_bridge import async_page, async_session, run
from browser_agent.states import Point
from browser_agent.wire import NO_SITE, NOTHING_SEEN, SiteWrites, WireReport

Release = Callable[[str, str, str], None]
"""Check the fence and write `released`: gesture, method, address. Raises when the request must not leave."""
Reach = Callable[[Point, str], None]
"""Called at a durable point of a gesture on the wire. Makes no call of Playwright."""


class OwnPageGate:
    """Stands before the gestures of one page, over all of its browser context.

    Args:
        page: the page that is acted on.
        release: see `Release`.
        reach: see `Reach`.
    """

    def __init__(self, page: Page, release: Release, reach: Reach = lambda point, gesture: None) -> None:
        self._page, self._release, self._reach = page, release, reach
        self._helper: Page | None = None
        self._gate = self._built()

    def arm(self, gesture: str, sends: str | None, site: SiteWrites = NO_SITE) -> bool:
        """Stand before the gesture's input. False: this browser may send what leaves a second time by itself."""
        try:
            if self._helper is None or self._helper.is_closed():
                self._gate.helper = async_page(self._new_helper())
            run(self._page, self._gate.arm(gesture, sends, site, unguarded=True))
        except Error:  # it is gone, as the gesture will find
            return False
        return self.report(gesture).armed

    def refuse(self, because: str) -> None:
        """From now on let nothing go, until the gate is armed anew."""
        self._gate.refuse(because)

    def disarm(self) -> None:
        """Open the gate again. Before a browser that is gone none stands any more."""
        try:
            run(self._page, self._gate.disarm())
        except Error as error:
            if "closed" not in str(error):
                raise

    def report(self, gesture: str) -> WireReport:
        """What was seen of a gesture since it was armed."""
        return self._gate.reports().get(gesture, NOTHING_SEEN)

    def close(self) -> None:
        """Leave the browser as it was found."""
        run(self._page, self._gate.close())
        if self._helper is not None and not self._helper.is_closed():
            self._helper.close()

    def _built(self) -> Gate:
        context = self._page.context
        browser = context.browser
        assert browser is not None, "a context without a browser is refused when the run is opened"
        of_page = context.new_cdp_session(self._page)
        home = home_of(of_page.send("Target.getTargetInfo"))
        of_page.detach()
        pause = run(self._page, Pause.lay(async_session(browser.new_browser_cdp_session()), home))
        context.route(EVERYTHING, _passes)
        context.unroute(EVERYTHING, _passes)
        # The gate only listens to the context, and its two faces tell the same.
        listened = cast("async_api.BrowserContext", context)
        return Gate(pause, listened, async_page(self._page), self._let_go, self._reached)

    async def _let_go(self, gesture: str, method: str, address: str) -> None:
        self._release(gesture, method, address)

    async def _reached(self, point: Point, gesture: str) -> None:
        self._reach(point, gesture)

    def _new_helper(self) -> Page:
        """A page that waits for nothing, from which the browser's pooled connections are closed."""
        self._helper = self._page.context.new_page()
        self._helper.goto(HELPER_ADDRESS)
        self._page.bring_to_front()
        return self._helper


def _passes(route: Route) -> None:
    route.continue_()
