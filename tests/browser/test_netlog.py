"""The network log of a real Chromium: what it sent again by itself, seen from outside and from the site's own books."""

from __future__ import annotations

import asyncio
import os
import stat
import threading
from collections.abc import Coroutine, Iterator
from pathlib import Path
from typing import Any, TypeVar

import pytest
from playwright.async_api import Page, async_playwright

from browser_agent.browser.guarded_browser import GuardedBrowser
from browser_agent.browser.netlog import LogSpan, NetworkLog
from browser_agent.states import Point
from browser_agent.testing.proxy.fault_proxy import FaultProxy
from browser_agent.testing.sites.books import Books
from browser_agent.wire import WireReport

T = TypeVar("T")
PIPE_BYTES = 2**16
"""What the pipe holds when nobody reads it (Linux)."""


class Keeping:
    """An event loop in a thread of its own, as a keeper has one; browsers that it starts are ended with it."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._started = folder, list[GuardedBrowser]()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever)
        self._thread.start()
        self._playwright = self.do(async_playwright().start())

    def do(self, coroutine: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result(60)

    def start(self, name: str) -> GuardedBrowser:
        self._started.append(self.do(self._held(self._folder / name)))
        return self._started[-1]

    def close(self) -> None:
        for held in self._started:
            self.do(held.end())
        self.do(self._playwright.stop())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _held(self, profile: Path) -> GuardedBrowser:
        return await GuardedBrowser.start(
            self._playwright,
            profile,
            headed=False,
            extra=(),
            state={},
            release=_let_go,
            reach=_nothing,
            netlog=True,
        )


async def _let_go(gesture: str, method: str, address: str) -> None:
    """The lease holds."""


async def _nothing(point: Point, gesture: str) -> None:
    """No test ends a process here."""


@pytest.fixture(scope="module")
def keeping(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Keeping]:
    keeping = Keeping(tmp_path_factory.mktemp("netlog"))
    yield keeping
    keeping.close()


@pytest.fixture(scope="module")
def held(keeping: Keeping) -> GuardedBrowser:
    """One browser for all tests that leave it alive."""
    return keeping.start("shared")


@pytest.fixture
def books() -> Iterator[Books]:
    with Books() as books:
        yield books


@pytest.fixture
def road(books: Books) -> Iterator[FaultProxy]:
    with FaultProxy(books.url) as road:
        yield road


def log_of(held: GuardedBrowser) -> NetworkLog:
    assert held.log is not None
    return held.log


async def form(held: GuardedBrowser, road: FaultProxy, *, secret: str = "") -> Page:
    """The filled form of an invoice; its connection is warm."""
    page = next(page for page in held.gate.helper.context.pages if page is not held.gate.helper)
    await page.goto(f"{road.url}/invoices/new")
    await page.get_by_label("Customer").fill("Contoso Ltd")
    await page.get_by_label("Amount").fill("380.00")
    await page.get_by_label("Reference").fill("R-1")
    if secret:
        await page.evaluate("secret => { document.forms[0].action += secret }", secret)
    return page


async def post(page: Page) -> None:
    """Click, and wait for an answer to it, or for the browser's own page that says that there was none."""
    with_answer = page.wait_for_event("framenavigated", timeout=20_000)
    await asyncio.gather(with_answer, page.get_by_role("button", name="Post").click())


async def post_raw(held: GuardedBrowser, road: FaultProxy, fault: str, **options: Any) -> LogSpan:
    page = await form(held, road)
    span = await log_of(held).span(held.gate.helper)
    road.fault(fault, **options)
    await post(page)
    await log_of(held).catch_up(held.gate.helper)
    return span


async def post_guarded(
    held: GuardedBrowser, road: FaultProxy, fault: str = "", *, secret: str = "", code: int = 0
) -> str:
    page = await form(held, road, secret=secret)
    gesture = f"g-{road.url}"
    assert await held.arm(gesture, "POST /invoices")
    if fault:
        options: dict[str, Any] = {"code": code} if code else {}
        road.fault(fault, **options)
    await post(page)
    await held.gate.catch_up()
    return gesture


def guarded_report(
    keeping: Keeping, held: GuardedBrowser, road: FaultProxy, fault: str = "", **more: Any
) -> WireReport:
    gesture = keeping.do(post_guarded(held, road, fault, **more))
    report = held.gate.reports()[gesture]
    assert keeping.do(held.disarm())
    return report


@pytest.mark.parametrize(("fault", "at_the_site"), [("drop_after_commit", 2), ("drop_before_commit", 1)])
def test_an_unguarded_click_is_sent_again_and_the_log_says_so(
    keeping: Keeping, held: GuardedBrowser, books: Books, road: FaultProxy, *, fault: str, at_the_site: int
) -> None:
    span = keeping.do(post_raw(held, road, fault))
    assert len(books.invoices) == at_the_site
    assert span.restarts(pending=False) == 1
    (restart,) = span.resent
    assert str(restart).startswith(f"the browser sent POST {road.url}/invoices again by itself (net::ERR_")


@pytest.mark.parametrize(("fault", "at_the_site"), [("drop_after_commit", 1), ("drop_before_commit", 0), ("", 1)])
def test_a_guarded_click_is_sent_once_and_the_log_says_so(
    keeping: Keeping, held: GuardedBrowser, books: Books, road: FaultProxy, *, fault: str, at_the_site: int
) -> None:
    report = guarded_report(keeping, held, road, fault)
    assert len(books.invoices) == at_the_site
    assert (report.restarts, report.resent, report.sent_once) == (0, (), True)


def test_an_unguarded_click_that_is_answered_well_is_not_in_the_log(
    keeping: Keeping, held: GuardedBrowser, books: Books, road: FaultProxy
) -> None:
    span = keeping.do(post_raw(held, road, "cut_after_head"))
    assert (len(books.invoices), span.restarts(pending=False)) == (1, 0)


def test_a_timed_out_answer_on_a_warm_connection_has_it_sent_again(
    keeping: Keeping, held: GuardedBrowser, books: Books, road: FaultProxy
) -> None:
    span = keeping.do(post_raw(held, road, "status", code=408))
    assert (len(books.invoices), span.restarts(pending=False)) == (1, 1)
    assert span.resent[0].error == "answered 408"


def test_what_the_guard_cannot_stop_is_in_the_report_without_its_query(
    keeping: Keeping, held: GuardedBrowser, books: Books, road: FaultProxy
) -> None:
    report = guarded_report(keeping, held, road, "status", code=421, secret="?token=hunter2&hunter3")
    assert (len(books.invoices), report.guarded) == (1, True)
    assert (report.restarts, report.sent_once) == (1, False)
    words = f"the browser sent POST {road.url}/invoices again by itself (answered 421)"
    assert [str(restart) for restart in report.resent] == [words]
    assert "hunter2" not in report.model_dump_json()


def test_a_restart_belongs_to_its_own_gesture(
    keeping: Keeping, held: GuardedBrowser, books: Books, road: FaultProxy
) -> None:
    first = keeping.do(post_raw(held, road, "drop_after_commit"))
    second = keeping.do(post_raw(held, road, "cut_after_head"))
    assert (first.restarts(pending=False), second.restarts(pending=False)) == (1, 0)


def test_the_log_is_never_on_the_disk_and_restarts_are_still_found_after_many_pipes_full(
    keeping: Keeping, held: GuardedBrowser, books: Books, road: FaultProxy
) -> None:
    log = log_of(held)

    async def read_pages() -> None:
        page = await form(held, road)
        until = log.reading.size + 10 * PIPE_BYTES
        while log.reading.size < until:
            await page.goto(f"{road.url}/invoices")

    keeping.do(read_pages())
    seen = os.stat(log.path)
    assert stat.S_ISFIFO(seen.st_mode) and (seen.st_size, stat.S_IMODE(seen.st_mode)) == (0, 0o600)
    span = keeping.do(post_raw(held, road, "drop_after_commit"))
    assert (len(books.invoices), span.restarts(pending=False)) == (2, 1)
    assert log.reading.holes == 0


def test_a_browser_that_is_ended_leaves_what_was_read_and_no_log(
    keeping: Keeping, books: Books, road: FaultProxy
) -> None:
    held = keeping.start("ended")
    answered = keeping.do(post_guarded(held, road, "drop_after_commit"))

    async def leave_hanging() -> None:
        page = await form(held, road)
        assert await held.arm("hanging", "POST /invoices")
        road.fault("hang")
        await page.get_by_role("button", name="Post").click(no_wait_after=True)
        await asyncio.to_thread(road.wait_for, "committed", count=2)
        await held.gate.catch_up()

    keeping.do(leave_hanging())
    assert held.gate.reports()["hanging"].restarts == 0  # until now
    keeping.do(held.end())
    reports = held.gate.reports()
    assert (reports[answered].restarts, reports["hanging"].restarts) == (0, None)
    assert not log_of(held).path.exists()


def test_a_browser_whose_log_is_not_read_any_more_lives_on_and_nothing_is_said_of_it(
    keeping: Keeping, books: Books, road: FaultProxy
) -> None:
    held = keeping.start("unread")
    keeping.do(post_raw(held, road, "cut_after_head"))
    keeping.do(stop_reading(held))
    report = guarded_report(keeping, held, road)
    assert len(books.invoices) == 2 and held.chromium.alive()
    assert report.restarts is None


async def stop_reading(held: GuardedBrowser) -> None:
    """As the death of its keeper does."""
    log_of(held).close()
