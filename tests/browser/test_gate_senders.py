"""Whatever sends, the gate holds: pages, frames, popups, workers, beacons. And what it can't vouch for, it says.

For each sender three clicks: a raw one, which shows that the fault bites; one that is refused, of which nothing reaches
the site; and one that is let go, which arrives once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Browser, Error, Page, Playwright

from browser_agent.browser import chromium
from browser_agent.browser.own_page_gate import OwnPageGate
from browser_agent.rules import nothing_left, rejection
from browser_agent.states import Point, RunState
from browser_agent.wire import WireReport
from fixtures.till.certificate import Certificate
from fixtures.till.till import Till
from tests.fix_browser import StartChromium
from tests.fix_guard import Counter, Guard, press, wait
from tests.fix_matrix import chosen
from tests.fix_world import World


class Fence:
    """Where a run would check its fence: what was let go, and the points that were reached, are written down."""

    def __init__(self) -> None:
        self.released: list[str] = []
        self.points: list[Point] = []

    def release(self, gesture: str, method: str, address: str) -> None:
        self.released.append(f"{method} {address}")

    def reach(self, point: Point, gesture: str) -> None:
        self.points.append(point)


OF_A_PAGE = (
    "xhr",
    "keepalive",
    "beacon",
    "timer",
    "window",
    "alone",
    "ping",
    "worker",
    "early worker",
    "blob worker",
    "blank form",
    "closed form",
    "frame",
    "foreign frame",
    "elsewhere",
)
OF_NO_PAGE = ("leaving", "later", "shared worker", "early shared worker")
"""No page tells of these requests; a route on pages would miss them."""


@pytest.mark.parametrize("by", [*OF_A_PAGE, *OF_NO_PAGE])
def test_whatever_sends_is_held_and_sends_once(counter: Counter, by: str) -> None:
    raw = counter.raw("HTTP/1.1", by, endings=["fin"], copies=2)
    refused = counter.refused("HTTP/1.1", by, endings=["fin"])
    let_go = counter.guarded("HTTP/1.1", by, endings=["fin"], seen=False)
    assert (len(raw.orders), len(refused.arrived), len(let_go.orders)) == (2, 0, 1)
    assert [fact.refused for fact in refused.report.facts] == ["nothing may leave"]
    has_workers = "shared" in by
    assert nothing_left(refused.report) is not has_workers, "a shared worker may hold a socket that nobody sees"
    assert let_go.report.guarded is not has_workers


def test_a_socket_is_counted_since_what_it_says_can_not_be_held(counter: Counter) -> None:
    with counter.order_page("HTTP/1.1", "socket") as (page, till):
        assert counter.guard.arm()
        press(page)
        wait(page, lambda: "/socket" in till.looks and counter.guard.report.sockets == 1)
        assert not nothing_left(counter.guard.report)


def test_a_preflight_passes_and_leaves_no_used_connection_behind(counter: Counter) -> None:
    with counter.order_page("HTTP/1.1", "elsewhere", endings=["fin"]) as (page, till):
        assert counter.guard.arm()
        press(page)
        wait(page, lambda: bool(till.arrived))
        assert till.looks[-1] == "/orders", "the browser did not ask for permission"
        wait(page, lambda: counter.guard.report.facts[0].error is not None)
        assert len(till.orders) == 1


def test_pages_of_another_context_are_none_of_the_gates_business(counter: Counter, till_browser: Browser) -> None:
    other = till_browser.new_context()
    with Till() as till:
        page = other.new_page()
        assert counter.guard.arm(None)
        page.goto(f"{till.url}/?by=fetch")
        press(page)
        page.get_by_text("answered 200").wait_for()
        assert len(till.orders) == 1
        assert counter.guard.report.facts == () and counter.guard.report.reads == 0
        counter.guard.disarm()
    other.close()


def test_the_guard_that_can_no_longer_close_connections_lets_nothing_go(counter: Counter) -> None:
    with counter.order_page("HTTP/1.1", "fetch") as (page, till):
        assert counter.guard.arm()
        counter.guard.break_helper()
        press(page)
        page.get_by_text("no answer").wait_for()
        assert till.arrived == []
        assert counter.guard.report.facts[0].refused == "pooled connections could not be closed"


# In browsers of their own


@pytest.fixture
def other_counter(
    playwright: Playwright, start_chromium: StartChromium, certificate: Certificate
) -> Iterator[Callable[[], Counter]]:
    """A guarded Chromium that a test may leave changed."""
    guards = []

    def start() -> Counter:
        started = start_chromium(extra=(certificate.chromium_flag,))
        guards.append(Guard(started))
        browser = playwright.chromium.connect_over_cdp(started.endpoint)
        return Counter(browser.contexts[0], guards[-1], certificate)

    yield start
    for guard in guards:
        guard.close()


@pytest.mark.parametrize("by", ["service worker", "form", "fetch"])
def test_what_a_service_worker_sends_is_held_but_nothing_is_claimed_of_it(
    other_counter: Callable[[], Counter], by: str
) -> None:
    counter = other_counter()
    raw = counter.raw("HTTP/1.1", by, under=1, endings=["fin"], copies=2)
    refused = counter.refused("HTTP/1.1", by, under=1, endings=["fin"])
    let_go = counter.guarded("HTTP/1.1", by, under=1, endings=["fin"], seen=False)
    assert (len(raw.orders), len(refused.arrived), len(let_go.orders)) == (2, 0, 1)
    assert not nothing_left(refused.report) and not let_go.report.guarded
    assert refused.report.workers >= 1 and let_go.report.workers >= 1


def test_pages_that_are_older_than_the_keeper_are_held(playwright: Playwright, start_chromium: StartChromium) -> None:
    started = start_chromium()
    context = playwright.chromium.connect_over_cdp(started.endpoint).contexts[0]
    with Till() as till:
        page = context.new_page()
        page.goto(f"{till.url}/?by=early worker")
        sharing = context.new_page()
        sharing.goto(f"{till.url}/?by=early shared worker")
        guard = Guard(started)
        assert guard.arm()
        guard.refuse("nothing may leave")
        page.get_by_text("Order", exact=True).click()
        wait(page, lambda: bool(guard.report.facts))
        assert till.arrived == []
        assert guard.report.workers == 1 and not nothing_left(guard.report)
        sharing.get_by_text("Order", exact=True).click()
        wait(page, lambda: bool(till.arrived))  # it is older than the gate: not held, but said
        assert not guard.report.guarded
        guard.disarm()
        guard.close()


@pytest.fixture
def without_flag(monkeypatch: pytest.MonkeyPatch) -> None:
    """Chromiums are started without the interface by which connections are closed."""
    flags = [flag for flag in chromium._FLAGS if flag != "--enable-net-benchmarking"]
    monkeypatch.setattr(chromium, "_FLAGS", tuple(flags))


def _go(page: Page, address: str) -> None:
    """Go there, however often the error page of a refused form comes in between."""

    def gone() -> bool:
        try:
            page.goto(address)
        except Error as error:
            if "interrupted by another navigation" not in str(error):
                raise
            return False
        return True

    wait(page, gone)


def _ended(report: WireReport) -> bool:
    return all(fact.refused or fact.status or fact.error for fact in report.facts)


@pytest.mark.parametrize(
    "by", chosen("form", "later", "shared worker", others=["leaving", "closed form", "blank form"])
)
def test_the_guard_of_a_process_of_its_own_holds_the_same(
    playwright: Playwright, start_chromium: StartChromium, by: str
) -> None:
    page = playwright.chromium.connect_over_cdp(start_chromium().endpoint).contexts[0].new_page()
    fence = Fence()
    guard = OwnPageGate(page, fence.release, fence.reach)
    with Till() as till:
        till.end("fin")
        for refused in (True, False):
            _go(page, f"{till.url}/?{urlencode({'by': by})}")
            assert guard.arm(f"gesture {refused}", "POST /orders")
            if refused:
                guard.refuse("nothing may leave")
            press(page)
            wait(page, lambda: bool(guard.report(f"gesture {refused}").facts))  # noqa: B023  # called at once
            wait(page, lambda: _ended(guard.report(f"gesture {refused}")))  # noqa: B023  # called at once
            guard.disarm()
            assert len(till.arrived) == (0 if refused else 1)
        (fact,) = guard.report("gesture False").facts
        assert fact.released and fact.fresh and fence.released == [f"POST {till.url}/orders"]
        assert fence.points[:3] == [Point.PAUSED, Point.PAUSED, Point.RELEASED]
    guard.close()


@pytest.mark.usefixtures("without_flag")
def test_in_a_browser_without_the_flag_a_run_sends_nothing(world: World) -> None:
    run = world.submit("post_one", reference="S-7")
    assert world.keep(run).state is RunState.RAISED
    assert set(world.outcomes(run)) == {"refused"}
    assert world.invoices("S-7") == []


@pytest.mark.usefixtures("without_flag")
@pytest.mark.parametrize("status", chosen(422, others=[403, 404]))
def test_unguarded_a_no_may_be_said_to_the_second_copy_and_is_no_rejection(
    playwright: Playwright, start_chromium: StartChromium, status: int
) -> None:
    page = playwright.chromium.connect_over_cdp(start_chromium().endpoint).contexts[0].new_page()
    guard = OwnPageGate(page, lambda gesture, method, address: None)
    with Till() as till:
        till.end("fin", always=status)
        page.goto(till.url)
        assert not guard.arm("gesture", "POST /orders")
        press(page)
        page.get_by_text(f"The till says {status}").wait_for()
        report = guard.report("gesture")
        assert len(till.orders) == 1, "it was carried out, and its answer lost"
        assert ([fact.status for fact in report.facts], report.guarded) == ([status], False)
        assert rejection(report) is None
    guard.close()
