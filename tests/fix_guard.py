"""The keeper's side of a Chromium in a thread of its own: its gate is armed here, tests click on another connection.

Where a run would check its fence, what is let go is only written down.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

import pytest
from playwright.async_api import Playwright as AsyncPlaywright
from playwright.async_api import async_playwright
from playwright.sync_api import Browser, BrowserContext, Playwright

from browser_agent.browser.chromium import Chromium
from browser_agent.browser.held import HeldBrowser
from browser_agent.states import Point
from browser_agent.wire import WireReport
from fixtures.certificate import Certificate
from fixtures.loop import Loop

GESTURES = count(1)


class Guard:
    """The gate of one Chromium, as a keeper holds it."""

    def __init__(self, chromium: Chromium) -> None:
        self.released: list[str] = []
        self.points: list[Point] = []
        self._gesture = ""
        self._loop = Loop("keeper of the guard")
        self._playwright, self._held = self._loop.run(self._attach(chromium))

    async def _attach(self, chromium: Chromium) -> tuple[AsyncPlaywright, HeldBrowser]:
        playwright = await async_playwright().start()
        held = await HeldBrowser.attach(playwright, chromium, release=self._release, reach=self._reach)
        assert held is not None
        return playwright, held

    async def _release(self, gesture: str, method: str, address: str) -> None:
        self.released.append(f"{method} {address}")

    async def _reach(self, point: Point, gesture: str) -> None:
        self.points.append(point)

    def arm(self, sends: str | None = "POST /orders") -> bool:
        """Stand before the next gesture."""
        self.released, self.points = [], []
        self._gesture = f"gesture {next(GESTURES)}"
        return self._loop.run(self._held.arm(self._gesture, sends))

    def refuse(self, because: str) -> None:
        """Let nothing go from now on."""
        self._loop.call(lambda: self._held.gate.refuse(because))

    def disarm(self) -> None:
        """Open the gate."""
        assert self._loop.run(self._held.disarm())

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


@pytest.fixture
def context(till_browser: Browser, guard: Guard) -> Iterator[BrowserContext]:
    """Its default context, where the guard stands; afterwards every page is closed but the keeper's own."""
    context = till_browser.contexts[0]
    kept = set(context.pages)
    yield context
    guard.disarm()
    for page in set(context.pages) - kept:
        page.close()
    context.clear_cookies()
