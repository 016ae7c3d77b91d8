"""The keeper's side of a Chromium in a thread of its own: its gate is armed here, tests click on another connection.

Where a run would check its fence, what is let go is only written down.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from playwright.async_api import Playwright as AsyncPlaywright
from playwright.async_api import async_playwright
from playwright.sync_api import Browser, BrowserContext, Page, Playwright, Request, Response

from browser_agent.browser.chromium import Chromium
from browser_agent.browser.guarded_browser import GuardedBrowser
from browser_agent.states import Point
from browser_agent.testing.proxy.loop_thread import LoopThread
from browser_agent.wire import NOTHING_SEEN, WireFact, WireReport
from fixtures.till.certificate import Certificate
from fixtures.till.till import Ending, Till, TillOrder

GESTURES = count(1)
DEADLINE_SECONDS = 20.0
GLANCE_MS = 10
RAW_CLICKS = 3


class NotInTime(AssertionError):
    """What was waited for did not come."""


class Guard:
    """The gate of one Chromium, as a keeper holds it."""

    def __init__(self, chromium: Chromium) -> None:
        self.released: list[str] = []
        self.points: list[Point] = []
        self._gesture = ""
        self._settled = False
        self._loop = LoopThread("keeper of the guard")
        self._playwright, self._held = self._loop.run(self._attach(chromium))

    async def _attach(self, chromium: Chromium) -> tuple[AsyncPlaywright, GuardedBrowser]:
        playwright = await async_playwright().start()
        held = await GuardedBrowser.attach(playwright, chromium, release=self._release, reach=self._reach)
        assert held is not None
        return playwright, held

    async def _release(self, gesture: str, method: str, address: str) -> None:
        if self._settled:
            raise RuntimeError("the gesture is settled")
        self.released.append(f"{method} {address}")

    async def _reach(self, point: Point, gesture: str) -> None:
        self.points.append(point)

    def arm(self, sends: str | None = "POST /orders") -> bool:
        """Stand before the next gesture."""
        self.released, self.points, self._settled = [], [], False
        self._gesture = f"gesture {next(GESTURES)}"
        return self._loop.run(self._held.arm(self._gesture, sends))

    def refuse(self, because: str) -> None:
        """Let nothing go from now on."""
        self._loop.call(lambda: self._held.gate.refuse(because))

    def settle(self) -> None:
        """The gesture is settled, and the gate is opened: the fence lets nothing more of it go."""
        self._settled = True
        self.disarm()

    def disarm(self) -> None:
        """Open the gate."""
        assert self._loop.run(self._held.disarm())

    def remember_state(self) -> None:
        """Read the session, as it is read before each gesture."""
        self._loop.run(self._held.remember_state())

    def break_helper(self) -> None:
        """Take the page away from which pooled connections are closed; the next gesture gets a new one."""
        self._loop.run(self._held.gate.helper.close())

    @property
    def report(self) -> WireReport:
        """What the gate saw of the last gesture."""
        return self._loop.call(self._held.gate.reports)[self._gesture]

    def close(self) -> None:
        """Leave the browser alone."""
        self._loop.run(self._playwright.stop())
        self._loop.close()


@pytest.fixture(scope="session")
def certificate() -> Certificate:
    return Certificate()


@pytest.fixture(scope="session")
def till_chromium(certificate: Certificate, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chromium]:
    """One that accepts the tills' certificate, for all tests of the guard."""
    chromium = Chromium.start(tmp_path_factory.mktemp("till") / "profile", extra=[certificate.chromium_flag])
    yield chromium
    chromium.end()


@pytest.fixture(scope="session")
def guard(till_chromium: Chromium) -> Iterator[Guard]:
    guard = Guard(till_chromium)
    yield guard
    guard.close()


@pytest.fixture(scope="session")
def till_browser(playwright: Playwright, till_chromium: Chromium, guard: Guard) -> Browser:
    """The worker's connection to the same Chromium."""
    return playwright.chromium.connect_over_cdp(till_chromium.endpoint)


@dataclass(frozen=True)
class Clicked:
    """What one click did.

    `orders` = what the till took; `arrived` = every POST that reached it; `ended` = how the page saw its own POST end;
    `text` = what the page says at last; `report` = what the gate saw.
    """

    orders: list[TillOrder]
    arrived: list[TillOrder]
    ended: str | None
    text: str
    report: WireReport

    @property
    def fact(self) -> WireFact:
        """The only declared request that was held."""
        (fact,) = [fact for fact in self.report.facts if fact.declared]
        return fact


class Counter:
    """Where tests order: each click on a new page of a new till, in one Chromium."""

    def __init__(self, context: BrowserContext, guard: Guard, certificate: Certificate) -> None:
        self._context, self.guard, self._certificate = context, guard, certificate

    @contextmanager
    def order_page(
        self, protocol: str, by: str, *, endings: Sequence[Ending] = (), always: Ending = "answer", **query: object
    ) -> Iterator[tuple[Page, Till]]:
        """A page of a new till, loaded, with its button not yet pressed."""
        with Till(None if protocol == "HTTP/1.1" else self._certificate, http2=protocol == "HTTP/2") as till:
            till.end(*endings, always=always)
            page = self._context.new_page()
            page.goto(f"{till.url}/?{urlencode({'by': by, **query})}")
            if "under" in query:
                page.wait_for_function("navigator.serviceWorker.controller")
            yield page, till
            self._close_all_but_the_first()

    def raw(self, protocol: str, by: str, *, copies: int | None = None, **how: Any) -> Clicked:
        """Press the button with the gate open; wait until the page knows the end, or that many copies have arrived.

        Copies are sent only where the browser happens to take a used connection, so that a further click is tried on a
        new page if there was but one.
        """
        for left in reversed(range(RAW_CLICKS)):
            with self._pressed(protocol, by, **how) as (page, till, ended):
                try:
                    wait(page, lambda: bool(ended) if copies is None else len(till.arrived) >= copies)
                except NotInTime:
                    if not left:
                        raise
                    continue
                return self._clicked(page, till, ended, NOTHING_SEEN)
        raise AssertionError("never reached: the last click returns or raises")

    def guarded(
        self,
        protocol: str,
        by: str,
        *,
        until: str = "/orders",
        sends: str = "POST /orders",
        seen: bool = True,
        **how: Any,
    ) -> Clicked:
        """Press it with the gate armed; wait until every POST to `until` has ended, as the gate sees it.

        `seen` = a page tells how its POST ends, so that the gate learns the browser's own words for it.
        """
        with self._pressed(protocol, by, arm=sends, **how) as (page, till, ended):
            wait(page, lambda: _have_ended(self.guard.report, until, seen))
            if not seen:  # its end may be told before the till has taken it
                wait(page, lambda: bool(till.arrived))
            return self._clicked(page, till, ended, self.guard.report)

    def refused(self, protocol: str, by: str, **how: Any) -> Clicked:
        """Press it with a gate that lets nothing go."""
        with self._pressed(protocol, by, arm="POST /orders", refuse=True, **how) as (page, till, ended):
            wait(page, lambda: any(fact.refused for fact in self.guard.report.facts))
            return self._clicked(page, till, ended, self.guard.report)

    @contextmanager
    def _pressed(
        self,
        protocol: str,
        by: str,
        *,
        arm: str | None = None,
        refuse: bool = False,
        file: Path | None = None,
        **how: Any,
    ) -> Iterator[tuple[Page, Till, list[str]]]:
        with self.order_page(protocol, by, **how) as (page, till), self._ends() as ended:
            if file is not None:
                choose(page, file)
            if arm:
                assert self.guard.arm(arm)
            if refuse:
                self.guard.refuse("nothing may leave")
            press(page)
            yield page, till, ended
            self.guard.disarm()

    @contextmanager
    def _ends(self) -> Iterator[list[str]]:
        """How the pages see their POSTs end."""
        ended: list[str] = []

        def answered(response: Response) -> None:
            if response.request.method == "POST":
                ended.append(str(response.status))

        def failed(request: Request) -> None:
            if request.method == "POST":
                ended.append(request.failure or "no answer")

        self._context.on("response", answered)
        self._context.on("requestfailed", failed)
        yield ended
        self._context.remove_listener("response", answered)
        self._context.remove_listener("requestfailed", failed)

    def _clicked(self, page: Page, till: Till, ended: list[str], report: WireReport) -> Clicked:
        page.wait_for_load_state()
        return Clicked(till.orders, till.arrived, ended[-1] if ended else None, page.inner_text("body"), report)

    def _close_all_but_the_first(self) -> None:
        for page in self._context.pages:
            if not page.url.startswith("about:"):
                page.close()


def choose(page: Page, file: Path) -> None:
    """Choose a file by its path, as a person does; Playwright would send its bytes through the browser's port."""
    session = page.context.new_cdp_session(page)
    found = session.send("Runtime.evaluate", {"expression": "document.querySelector('input[type=file]')"})
    session.send("DOM.setFileInputFiles", {"files": [str(file)], "objectId": found["result"]["objectId"]})


def press(page: Page) -> None:
    """Press what orders, wherever it stands on the page."""
    frame = page.frame_locator("iframe") if page.locator("iframe").count() else page
    frame.get_by_text("Order", exact=True).click()


def wait(page: Page, until: Callable[[], bool]) -> None:
    """Wait while the browser's events arrive."""
    deadline = time.monotonic() + DEADLINE_SECONDS
    while not until():
        if time.monotonic() > deadline:
            raise NotInTime("what was waited for did not come")
        page.wait_for_timeout(GLANCE_MS)


def _have_ended(report: WireReport, path: str, seen: bool) -> bool:
    facts = [fact for fact in report.facts if path in fact.address]
    if seen and any(fact.error == "net::ERR_FAILED" for fact in facts):
        return False
    return bool(facts) and all(fact.refused or fact.status or fact.error for fact in facts)


@pytest.fixture
def counter(till_browser: Browser, guard: Guard, certificate: Certificate) -> Iterator[Counter]:
    """In the default context, where the guard stands."""
    context = till_browser.contexts[0]
    yield Counter(context, guard, certificate)
    guard.disarm()
    context.clear_cookies()
