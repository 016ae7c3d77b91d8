"""Open runs on a page that the test owns: one gesture, one effect where the guard can work; honest where it can't."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from types import SimpleNamespace
from typing import NamedTuple, cast

import pytest
from playwright.sync_api import Browser, Error, Page, Playwright

from browser_agent import (
    Click,
    ConfirmationText,
    Gesture,
    InOtherHands,
    NotAllowed,
    OutcomeUnknown,
    Record,
    Refused,
    Rejected,
    Site,
)
from browser_agent.browser.chromium import find_chromium
from browser_agent.errors import MachineTrouble, Misuse, Stop
from browser_agent.keeper.own_page import AT_THE_WIRE, OpenRun, open_run
from browser_agent.states import Answer, Point, RunState
from browser_agent.store import PersonAnswer, Store, database
from browser_agent.store.records import GestureRow
from browser_agent.testing.proxy.fault_proxy import FaultProxy
from browser_agent.testing.sites.books import Books
from browser_agent.testing.suite.agent_run import crash
from tests.fix_matrix import chosen

LAUNCHED = {"guarded": ["--enable-net-benchmarking"], "unguarded": []}


class Posted(NamedTuple):
    number: str


class Desk:
    """A site behind a proxy, a page of a launched browser, and a store."""

    def __init__(self, page: Page, books: Books, road: FaultProxy, folder: Path) -> None:
        self.page, self.books, self.road = page, books, road
        self.store = folder / "runs.db"
        self.site = Site("books", url=road.url, account="acme", signed_in='[data-account="acme"]')

    def fill(self, reference: str = "R-1") -> None:
        """Fill the form of an invoice."""
        self.page.goto(self.site / "invoices/new")
        self.page.get_by_label("Customer").fill("Contoso Ltd")
        self.page.get_by_label("Amount").fill("380.00")
        self.page.get_by_label("Reference").fill(reference)

    def post(self, reference: str = "R-1", *, counted: bool = True) -> Click[Posted]:
        """Fill the form, and hand out the click that posts it."""
        self.fill(reference)
        record = Record(self.site, "invoices", key={"Reference": reference}, complete=True, reads={"number": "Number"})
        confirmation = ConfirmationText(rf"Invoice (?P<number>\S+) posted for {reference}\b", key=reference)
        return Click(
            self.page.get_by_role("button", name="Post"),
            intent=f"post invoice {reference}",
            sends="POST /invoices",
            proof=[confirmation, *([record] if counted else [])],
            gives=Posted,
            settle=1.0,
        )

    def open(self, key: str | None = None) -> AbstractContextManager[OpenRun]:
        return open_run(self.page, site=self.site, store=self.store, key=key)

    def gestures(self) -> list[GestureRow]:
        with Store(self.store) as store:
            return store.journal.gestures(store.leases.runs()[0].id)

    def state(self) -> RunState:
        with Store(self.store) as store:
            return store.leases.runs()[0].state


@pytest.fixture(scope="module")
def launch(playwright: Playwright) -> Iterator[Callable[[str], Browser]]:
    """A browser as a test suite launches it, with the flag that the guard needs or without."""
    known: dict[str, Browser] = {}

    def launched(how: str) -> Browser:
        if how not in known:
            known[how] = playwright.chromium.launch(
                executable_path=find_chromium(), args=["--no-sandbox", "--disable-gpu", *LAUNCHED[how]]
            )
        return known[how]

    yield launched
    for browser in known.values():
        browser.close()


@pytest.fixture
def desk(request: pytest.FixtureRequest, launch: Callable[[str], Browser], tmp_path: Path) -> Iterator[Desk]:
    context = launch(getattr(request, "param", "guarded")).new_context()
    with Books() as books, FaultProxy(books.url) as road:
        yield Desk(context.new_page(), books, road, tmp_path)
        context.close()


unguarded = pytest.mark.parametrize("desk", ["unguarded"], indirect=True)


@pytest.mark.parametrize(("desk", "guarded"), [("guarded", True), ("unguarded", False)], indirect=["desk"])
def test_a_gesture_is_made_once_and_proven(desk: Desk, guarded: bool) -> None:
    with desk.open() as run:
        made = run.make(desk.post())
    assert made == Posted("INV-1") and [each.number for each in desk.books.invoices] == ["INV-1"]
    (gesture,) = desk.gestures()
    assert (str(gesture.state), gesture.guarded) == ("happened", guarded)
    assert desk.state() is RunState.FINISHED
    assert len(desk.page.context.pages) == 1, "the helper page was left behind"


def test_what_the_browser_would_send_twice_is_sent_once_under_the_guard(desk: Desk) -> None:
    desk.road.fault("drop_after_commit")
    with desk.open() as run:
        assert run.make(desk.post()) == Posted("INV-1")
    assert len(desk.books.invoices) == 1 and desk.gestures()[0].guarded


@unguarded
def test_without_the_guard_the_second_order_of_the_browser_is_counted_and_put_to_a_person(desk: Desk) -> None:
    desk.road.fault("drop_after_commit")
    with pytest.raises(OutcomeUnknown), desk.open() as run:
        run.make(desk.post())
    assert len(desk.books.invoices) == 2, "the fault does not bite any more"
    (gesture,) = desk.gestures()
    assert (str(gesture.state), gesture.guarded, desk.state()) == ("asked", False, RunState.WAITING)


@unguarded
def test_without_the_guard_a_confirmation_alone_settles_nothing(desk: Desk) -> None:
    with pytest.raises(OutcomeUnknown), desk.open() as run:
        run.make(desk.post(counted=False))
    assert len(desk.books.invoices) == 1


def test_a_clean_no_is_raised_under_the_guard(desk: Desk) -> None:
    desk.books.reject(422, "The period is closed.")
    with desk.open() as run:
        with pytest.raises(Rejected) as no:
            run.make(desk.post())
        assert no.value.status == 422
    assert len(desk.books.invoices) == 0


@pytest.mark.matrix  # what follows is a no to a second copy in truth
@unguarded
def test_without_the_guard_a_no_may_be_the_answer_to_a_second_copy(desk: Desk) -> None:
    desk.books.reject(422, "The period is closed.")
    with pytest.raises(OutcomeUnknown), desk.open() as run:
        run.make(desk.post())


@unguarded
@pytest.mark.parametrize("status", chosen(403, others=[404, 422]))
def test_without_the_guard_the_no_to_a_second_copy_is_never_a_rejection(desk: Desk, status: int) -> None:
    desk.road.fault("drop_after_commit")
    second = desk.road.fault("status", code=status)
    with pytest.raises(OutcomeUnknown), desk.open() as run:
        run.make(desk.post(counted=False))
    assert second.triggered == 1, "the browser does not send a second copy any more"
    assert (len(desk.books.invoices), str(desk.gestures()[0].state)) == (1, "asked")


@unguarded
def test_without_the_guard_the_no_to_a_second_copy_is_settled_by_counting(desk: Desk) -> None:
    desk.road.fault("drop_after_commit")
    second = desk.road.fault("status", code=403)
    with desk.open() as run:
        assert run.make(desk.post()) == Posted("INV-1")
    assert (second.triggered, len(desk.books.invoices)) == (1, 1)


@unguarded
def test_without_the_guard_a_refused_connection_proves_nothing(desk: Desk) -> None:
    with pytest.raises(OutcomeUnknown), desk.open() as run:
        gesture = desk.post()
        desk.road.fault("refuse", "GET /invoices", skip=1)  # it answers the look before the gesture
        run.make(gesture)
    assert str(desk.gestures()[0].state) == "asked"


def test_absence_never_proves_in_a_browser_that_is_not_ours_to_end(desk: Desk) -> None:
    desk.road.fault("drop_before_commit")
    with pytest.raises(OutcomeUnknown), desk.open("order-17") as run:
        run.make(desk.post())
    assert len(desk.books.invoices) == 0 and desk.state() is RunState.WAITING


def test_a_run_with_a_key_goes_on_after_a_persons_answer_and_makes_nothing_twice(desk: Desk) -> None:
    desk.road.fault("gateway_502_after_commit")
    with pytest.raises(OutcomeUnknown), desk.open("order-17") as run:
        run.make(desk.post(counted=False))
    with Store(desk.store) as store:
        (question,) = store.inbox.questions(store.leases.runs()[0].id, open_only=True)
        said = PersonAnswer(
            Answer.HAPPENED, by="Ann", reason="it is on the list", values={"number": "INV-1"}, override=True
        )
        store.inbox.answer(question.id, said)
    with desk.open("order-17") as run:
        assert run.make(desk.post(counted=False)) == Posted("INV-1")
        assert run.make(desk.post("R-2")) == Posted("INV-2")
    assert [each.reference for each in desk.books.invoices] == ["R-1", "R-2"]
    with pytest.raises(NotAllowed), desk.open("order-17"):
        pass


def test_a_control_that_never_gets_ready_is_refused_and_the_code_may_go_on(desk: Desk) -> None:
    with desk.open() as run:
        desk.page.goto(desk.site / "invoices")
        button: Gesture[None] = Click(
            desk.page.get_by_role("button", name="Nowhere"),
            intent="press what isn't there",
            proof=[ConfirmationText("never", key="never")],
            timeout=0.5,
        )
        with pytest.raises(Refused):
            run.make(button)
        assert run.make(desk.post()) == Posted("INV-1")


def test_a_page_that_its_owners_listener_would_not_leave_sends_nothing_and_a_person_is_asked(desk: Desk) -> None:
    desk.page.context.on("dialog", lambda dialog: dialog.dismiss())
    with pytest.raises(OutcomeUnknown), desk.open("order-30") as run:
        gesture = desk.post()
        desk.page.evaluate("addEventListener('beforeunload', event => event.preventDefault())")
        stood = desk.page.url
        run.make(gesture)
    assert desk.page.url == stood and desk.books.ledger.writes == []
    assert (str(desk.gestures()[0].state), desk.state()) == ("asked", RunState.WAITING)


def test_code_that_raises_leaves_a_run_that_can_be_opened_again(desk: Desk) -> None:
    with pytest.raises(ZeroDivisionError), desk.open("order-18") as run:
        run.make(desk.post())
        print(1 / 0)
    assert desk.state() is RunState.RAISED
    with desk.open("order-18") as run:
        assert run.make(desk.post()) == Posted("INV-1")
    assert len(desk.books.invoices) == 1


def test_its_durable_points_are_told_of_and_a_cut_there_leaves_the_run_as_a_dead_process_would(desk: Desk) -> None:
    seen: list[Point] = []

    class Cut(BaseException):
        pass

    def reach(point: Point, number: int) -> None:
        seen.append(point)
        if (point, number) == (Point.SETTLED, 2):
            run.cut()
            raise Cut

    opened = open_run(desk.page, site=desk.site, store=desk.store, key="order-20", reach=reach)
    with pytest.raises(Cut), opened as run:
        run.make(desk.post("R-1"))
        assert set(seen) == set(Point)
        assert [each for each in seen if each in AT_THE_WIRE] == [Point.PAUSED, Point.RELEASED, Point.ANSWERED]
        run.make(desk.post("R-2"))
    with Store(desk.store) as store:
        row = store.leases.keyed("order-20")
        assert row is not None and row.state is RunState.RUNNING
        assert store.leases.attempts(row.id)[0].ended is None
        assert store.leases.keyed("order-21") is None


def test_what_is_held_when_its_run_is_cut_never_leaves(desk: Desk) -> None:
    def reach(point: Point, _: int) -> None:
        if point is Point.PAUSED:
            run.cut()

    with pytest.raises(Stop), open_run(desk.page, site=desk.site, store=desk.store, reach=reach) as run:
        run.make(desk.post())
    assert not desk.books.invoices and not desk.books.ledger.writes


def test_a_page_that_crashes_after_its_input_is_looked_for_from_a_fresh_one(desk: Desk) -> None:
    crashed: list[Point] = []

    def reach(point: Point, _: int) -> None:
        if point is Point.INPUT and crash(desk.page):
            crashed.append(point)

    with open_run(desk.page, site=desk.site, store=desk.store, reach=reach) as run:
        assert run.make(desk.post()) == Posted("INV-1")
        assert crashed == [Point.INPUT]
        with pytest.raises(Error, match="crashed"):
            desk.page.wait_for_timeout(1)
    assert len(desk.books.invoices) == 1


def test_a_site_behind_another_road_is_the_same_work_by_the_address_that_it_really_has(desk: Desk) -> None:
    really = {"books": desk.books.url}
    for _ in range(2):
        with FaultProxy(desk.books.url) as another, suppress(ZeroDivisionError):
            desk.site.bind(another.url)
            with open_run(desk.page, site=desk.site, store=desk.store, key="order-22", addresses=really) as run:
                attempt = run.attempt
                print(1 / 0)
    assert attempt == 2


def test_a_run_that_is_open_is_in_other_hands(desk: Desk) -> None:
    with desk.open("order-19"), pytest.raises(InOtherHands), desk.open("order-19"):
        pass


def test_a_persistent_context_is_refused_before_anything_is_written(playwright: Playwright, tmp_path: Path) -> None:
    context = playwright.chromium.launch_persistent_context(
        tmp_path / "profile", executable_path=find_chromium(), args=["--no-sandbox"]
    )
    if context.browser is None:
        with pytest.raises(Misuse, match="persistent"), open_run(context.pages[0], store=tmp_path / "runs.db"):
            pass
        assert not (tmp_path / "runs.db").exists()
    context.close()


def test_the_lines_of_the_page_about_open_runs_make_one_gesture(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = (Path(__file__).parents[2] / "docs" / "own-page.md").read_text(encoding="utf-8")
    lines = page.split("# in a test or a notebook\n")[1].split("```")[0]
    monkeypatch.chdir(tmp_path)
    desk.fill()
    proof = [ConfirmationText(r"Invoice (?P<value>\S+) posted for R-1\b", key="R-1")]
    given = {"page": desk.page, "books": desk.site, "proof": proof, "open_run": open_run, "Click": Click}
    exec(lines, given)
    assert given["number"] == "INV-1" and [each.number for each in desk.books.invoices] == ["INV-1"]


@pytest.mark.parametrize("kind", ["firefox", "webkit"])
def test_a_page_that_nothing_could_guard_is_refused_before_anything_is_written(kind: str, tmp_path: Path) -> None:
    browser = SimpleNamespace(browser_type=SimpleNamespace(name=kind))
    page = cast("Page", SimpleNamespace(context=SimpleNamespace(browser=browser)))
    with pytest.raises(Misuse, match=f"a page of Chromium, not of {kind}"), open_run(page, store=tmp_path / "runs.db"):
        raise AssertionError("it was opened")
    assert not (tmp_path / "runs.db").exists()


def test_a_store_that_cannot_be_written_ends_the_go_and_the_next_one_looks_first(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "BUSY_SECONDS", 0.2)
    other = sqlite3.connect(desk.store, isolation_level=None)
    with pytest.raises(MachineTrouble, match="was locked"), desk.open("order-1") as run:
        click = desk.post()
        other.execute("BEGIN IMMEDIATE")
        try:
            with suppress(Exception):  # a script that carries on past whatever it meets
                run.make(click)
        finally:
            other.close()
    assert desk.books.invoices == []
    with desk.open("order-1") as run:
        assert run.make(desk.post()) == Posted("INV-1")
    assert [str(made.state) for made in desk.gestures()] == ["happened"]
