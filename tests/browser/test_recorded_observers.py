"""Gestures whose confirmation is gone, elsewhere or only a number when anybody looks: proven from what was recorded."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from playwright.sync_api import Page

from browser_agent import (
    Address,
    Click,
    Download,
    ErrorShown,
    NewPage,
    Observer,
    Opened,
    OrderStatus,
    OutcomeUnknown,
    ProofTooThin,
    Site,
    ToastLog,
)
from browser_agent.keeper.own_page import open_run
from browser_agent.reporting.html_report import write_report
from browser_agent.store import Store
from browser_agent.store.records import GestureRow
from browser_agent.testing import Shop

SIGNED_IN = '[data-account="acme"]'


class Placed(NamedTuple):
    number: str


class Counter:
    """A shop, a page in the browser of ours, and a store."""

    def __init__(self, page: Page, shop: Shop, folder: Path) -> None:
        self.page, self.shop, self.store = page, shop, folder / "runs.db"
        self.site = Site("shop", url=shop.url, account="acme", signed_in=SIGNED_IN)

    def order(self, *proof: Observer, by: str = "", reference: str = "R-1", settle: float = 4.0) -> Placed:
        """Fill the form of an order, and make the click that places it."""
        self.page.goto(self.site / f"orders/new{by}")
        self.page.get_by_label("Reference").fill(reference)
        click = Click(
            self.page.get_by_role("button", name="Order"),
            intent=f"order {reference}",
            sends="POST /orders",
            proof=proof,
            gives=Placed,
            settle=settle,
        )
        with open_run(self.page, site=self.site, store=self.store) as run:
            return run.make(click)

    def gesture(self) -> GestureRow:
        """The last gesture."""
        with Store(self.store) as store:
            return store.journal.gestures(store.leases.runs()[0].id)[-1]

    def said(self) -> list[dict[str, Any]]:
        """All that observers have said of it."""
        with Store(self.store) as store:
            return [json.loads(row.observation) for row in store.journal.observations(self.gesture().id)]

    def report(self) -> str:
        """The run's report."""
        with Store(self.store) as store:
            return write_report(store, store.leases.runs()[0].id, self.store.with_suffix(".html")).read_text()


@pytest.fixture
def counter(page: Page, tmp_path: Path) -> Iterator[Counter]:
    with Shop() as shop:
        yield Counter(page, shop, tmp_path)


@pytest.mark.parametrize("by", ["", "?by=fetch"])
def test_a_toast_that_is_gone_before_it_is_read_proves_the_order_whose_key_it_holds(counter: Counter, by: str) -> None:
    counter.shop.toast_ms = 150  # type: ignore[misc]  # shorter than any look takes
    counter.shop.confirm_by("toast")
    made = counter.order(ToastLog(r"Order (?P<number>\S+) received", key="R-1"), by=by)
    assert [made.number] == [order.number for order in counter.shop.orders]
    assert json.loads(counter.gesture().reasons or "") == ["the toast saw “Order O-1 received”"]


def test_a_toast_without_our_key_supports_and_proves_nothing(counter: Counter) -> None:
    counter.shop.confirm_by("toast")
    thin = ToastLog(r"Order (?P<number>\S+) received for \S+")
    with pytest.raises(ProofTooThin):
        counter.order(thin)
    assert counter.shop.orders == []
    someone_elses = ToastLog(r"Order (?P<number>\S+) received for \S+", key="R-10")
    with pytest.raises(OutcomeUnknown):
        counter.order(someone_elses, thin, settle=1.0)
    assert len(counter.shop.orders) == 1, "one click, one order, and nobody can say so"
    reasons = {reason for said in counter.said() for reason in said["reasons"]}
    assert "the toast “Order O-1 received for R-1” doesn't hold our key, so it supports and proves nothing" in reasons


def test_a_receipt_that_closes_itself_proves_the_order_and_its_picture_is_kept(counter: Counter) -> None:
    counter.shop.receipt_ms = 2000  # type: ignore[misc]  # a machine that is busy needs so long for a picture
    counter.shop.confirm_by("tab")
    assert counter.order(NewPage(r"Receipt for order (?P<number>\S+)", key="R-1")) == Placed("O-1")
    assert len(counter.shop.orders) == 1
    (evidence,) = [kept for said in counter.said() if said["matches"] for kept in said["evidence"]][:1]
    assert evidence["address"] == f"{counter.shop.url}/receipts/O-1"
    assert evidence["text"] == "Receipt for order O-1"
    with Store(counter.store) as store:
        assert store.artifacts.read(evidence["blob"])[1] == "image/webp"


@pytest.mark.parametrize(("way", "line"), [("csv", "O-1,R-1,A-10,1,"), ("text", "Reference: R-1")])
def test_a_file_that_came_to_its_end_proves_the_order_and_only_one_line_of_it_is_kept(
    counter: Counter, way: Any, line: str
) -> None:
    counter.shop.confirm_by(way)
    assert counter.order(Download(r"receipt-(?P<number>O-\d+)\.\w+", key="R-1")) == Placed("O-1")
    assert len(counter.shop.orders) == 1
    (evidence,) = [kept for said in counter.said() if said["matches"] for kept in said["evidence"]][:1]
    assert evidence["text"].startswith(line) and "SHA-256" in evidence["words"]
    assert "Quantity" not in json.dumps(counter.said())


def test_a_view_put_in_place_by_script_is_a_number_that_the_orders_own_page_proves(counter: Counter) -> None:
    counter.shop.confirm_by("view")
    number = Address(r"/orders/(?P<number>O-\d+)")
    assert counter.order(Opened(counter.site, "orders/{number}", by=number, key="R-1")) == Placed("O-1")
    assert len(counter.shop.orders) == 1
    assert counter.gesture().reasons is not None and "with R-1" in counter.gesture().reasons  # type: ignore[operator]


def test_where_the_declared_request_led_is_proof_and_a_number_alone_is_not(counter: Counter) -> None:
    led = Address(r"/orders/(?P<number>O-\d+)", answer=True)
    assert counter.order(led) == Placed("O-1")
    counter.shop.confirm_by("view")  # the same address, put there by a script
    with pytest.raises(OutcomeUnknown):
        counter.order(led, reference="R-2", settle=0.5)
    assert [order.reference for order in counter.shop.orders] == ["R-1", "R-2"]


def test_an_error_that_is_shown_is_kept_and_decides_nothing(counter: Counter) -> None:
    counter.shop.commit_late(0.0)  # answered with 504, and placed all the same
    toast = ToastLog(r"Order (?P<number>\S+) received", key="R-1")
    with pytest.raises(OutcomeUnknown):
        counter.order(ErrorShown(r"(?i)gateway.*"), toast, settle=1.0)
    assert len(counter.shop.orders) == 1
    assert any("which decides nothing" in reason for said in counter.said() for reason in said["reasons"])


def test_a_picture_of_one_colour_is_flagged_in_the_report_and_changes_nothing(counter: Counter) -> None:
    blank = "if (location.search) addEventListener('DOMContentLoaded', () => document.body.replaceChildren())"
    counter.page.add_init_script(f"{blank}; document.documentElement?.setAttribute('style', 'background: white')")
    led = Address(r"/orders/(?P<number>O-\d+)", answer=True)
    assert counter.order(led) == Placed("O-1")
    report = counter.report()
    assert "it has only one colour, so it shows nothing" in report
    assert "the address saw “/orders/O-1”" in report


def test_a_picture_of_the_old_view_is_marked_as_taken_before_the_page_settled(counter: Counter) -> None:
    counter.shop.confirm_by("view")
    counter.page.add_init_script(
        "const { fetch } = window; window.fetch = (...asked) => fetch(...asked).then(() => new Promise(() => {}))"
    )
    status = OrderStatus(counter.site, "orders", key={"Reference": "R-1"}, means={"Received": "happened"},
                         reads={"number": "Number"})  # fmt: skip
    assert counter.order(status, by="?by=fetch") == Placed("O-1")
    assert "it may show the page before its new view was drawn" in counter.report()
    assert len(counter.shop.orders) == 1
