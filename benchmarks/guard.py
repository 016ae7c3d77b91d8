"""What the gate alone costs: the same click and the same page in a browser that nobody holds, and in a held one.

The two take turns, so that a busy moment of the machine strikes both.
"""

from __future__ import annotations

import asyncio
import tempfile
import threading
import time
from collections.abc import Coroutine, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from statistics import median
from typing import Any, TypeVar

from playwright.async_api import async_playwright
from playwright.sync_api import BrowserContext, Page, sync_playwright

from browser_agent.browser.chromium import Chromium
from browser_agent.browser.guarded_browser import GuardedBrowser
from browser_agent.states import Point
from fixtures.till.till import Till

PICTURES = 50
CALL_SECONDS = 30.0

T = TypeVar("T")


@dataclass(frozen=True)
class Guarding:
    """Ratios of medians, each to the same thing in a browser that nobody holds."""

    click_ratio: float
    gesture_ratio: float
    open_page_ratio: float
    armed_page_ratio: float
    pictures: int = PICTURES


class Keeper:
    """The gate of a Chromium, held in a thread of its own as a keeper holds it in a process of its own."""

    def __init__(self, chromium: Chromium) -> None:
        self._loop = asyncio.new_event_loop()
        threading.Thread(target=self._loop.run_forever, name="keeper", daemon=True).start()
        self._gestures = count(1)
        self._held = self._run(self._hold(chromium))

    def arm(self) -> None:
        """Stand before a gesture."""
        if not self._run(self._held.arm(f"gesture {next(self._gestures)}", "POST /orders")):
            raise RuntimeError("The gate cannot be armed in this browser.")

    def open(self) -> None:
        """Open the gate."""
        self._run(self._held.disarm())

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(CALL_SECONDS)

    async def _hold(self, chromium: Chromium) -> GuardedBrowser:
        playwright = await async_playwright().start()
        held = await GuardedBrowser.attach(playwright, chromium, release=_nothing, reach=_nowhere)
        if held is None:
            raise RuntimeError("Nothing can attach to the browser.")
        return held


def guarding(times: int) -> Guarding:
    """Do each thing `times` times in turn, and compare."""
    took: dict[str, list[float]] = {name: [] for name in ("click", "guarded", "gesture", "page", "open", "armed")}
    with _pages() as (plain, held, keeper), Till() as till:
        for _ in range(times + 1):
            took["click"].append(_click(plain, till.url))
            before = time.perf_counter()
            keeper.arm()
            armed = time.perf_counter() - before
            clicked = _click(held, till.url)
            before = time.perf_counter()
            keeper.open()
            took["guarded"].append(clicked)
            took["gesture"].append(clicked + armed + time.perf_counter() - before)
            took["page"].append(_load(plain, till.url))
            took["open"].append(_load(held, till.url))
            keeper.arm()
            took["armed"].append(_load(held, till.url))
            keeper.open()
    of = {name: median(each[1:]) for name, each in took.items()}  # the first time of everything is slower
    click, page = of["click"], of["page"]
    return Guarding(of["guarded"] / click, of["gesture"] / click, of["open"] / page, of["armed"] / page)


@contextmanager
def _pages() -> Iterator[tuple[Page, Page, Keeper]]:
    """A page in a browser that nobody holds, one in a held one, and what holds it."""
    with tempfile.TemporaryDirectory(prefix="browser-agent-benchmarks-") as name, ExitStack() as ends:
        chromiums = [Chromium.start(Path(name) / each) for each in ("plain", "held")]
        for chromium in chromiums:
            ends.callback(chromium.end)
        keeper = Keeper(chromiums[1])
        playwright = ends.enter_context(sync_playwright())
        contexts: list[BrowserContext] = [
            playwright.chromium.connect_over_cdp(chromium.endpoint).contexts[0] for chromium in chromiums
        ]
        yield contexts[0].new_page(), contexts[1].new_page(), keeper


def _click(page: Page, url: str) -> float:
    """Seconds from a click until the page knows that its order was taken."""
    page.goto(f"{url}/?by=fetch")
    began = time.perf_counter()
    page.get_by_text("Order", exact=True).click()
    page.get_by_text("answered").wait_for()
    return time.perf_counter() - began


def _load(page: Page, url: str) -> float:
    began = time.perf_counter()
    page.goto(f"{url}/?by=fetch&pictures={PICTURES}")
    return time.perf_counter() - began


async def _nothing(gesture: str, method: str, address: str) -> None:
    """No run, no journal: only the gate is measured."""


async def _nowhere(point: Point, gesture: str) -> None:
    """Nothing is ended here."""
