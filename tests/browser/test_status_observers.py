"""What a status word and a delivery log say of what was done; and that no observer acts, whatever page it looks at."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from playwright.sync_api import Browser, Page
from pydantic import ValidationError

from browser_agent.testing import Mail, Shop
from observers import (
    Address,
    Both,
    Circumstances,
    ConfirmationText,
    Download,
    ErrorShown,
    Gone,
    NewPage,
    Observation,
    Observer,
    Opened,
    OrderStatus,
    Outcome,
    Record,
    SentMail,
    Sight,
    Site,
    ToastLog,
    open_view,
    weigh,
)

MEANS: dict[str, Any] = {
    "Received": "happened",
    "Shipped": "happened",
    "Cancelled": "happened",
    "Processing": "pending",
    "Draft": "partial",
    "Payment failed": "no_effect",
}
DELIVERY = {"delivered": "delivered", "bounced": "bounced", "queued": "under way"}
DEAD_AND_WAITED = Circumstances(
    sender_dead=True, waited=timedelta(seconds=31), late_commit=timedelta(seconds=30), spaced_looks_agree=True
)


@pytest.fixture
def shop() -> Iterator[Shop]:
    with Shop() as shop:
        yield shop


@pytest.fixture
def status(shop: Shop) -> OrderStatus:
    site = Site("shop", url=shop.url, account="acme", signed_in='[data-account="acme"]')
    return OrderStatus(site, "orders", key={"Reference": "R-1"}, means=MEANS, complete=True,
                       reads={"number": "Number"}, count=r"(\d+) orders?\b")  # fmt: skip


@pytest.fixture
def mail() -> Iterator[Mail]:
    with Mail() as mail:
        yield mail


@pytest.fixture
def sent(mail: Mail) -> SentMail:
    site = Site("mail", url=mail.url, account="ann", signed_in='[data-account="ann"]')
    return SentMail(
        site, to="bob@example.org", subject="R-1", complete=True, log="log", delivery=DELIVERY, empty="0 messages"
    )


def look(browser: Browser, observer: Observer, page: Page | None = None) -> Observation:
    with open_view(browser, page, deadline=5) as view:
        return observer.observe(view)


@pytest.mark.parametrize(
    ("word", "outcome"),
    [
        ("Received", Outcome.happened),
        ("shipped", Outcome.happened),
        ("Cancelled", Outcome.happened),
        ("Processing", Outcome.unknown),
        ("Draft", Outcome.unknown),
        ("Payment failed", Outcome.unknown),  # a failed payment may be a real order
        ("Backordered", Outcome.unknown),
    ],
)
def test_an_order_is_what_its_status_is_declared_to_mean(
    attached: Browser, shop: Shop, status: OrderStatus, word: str, outcome: Outcome
) -> None:
    before = look(attached, status)
    shop.begin_as(word)
    shop.enter(reference="R-1")
    for number in range(20):  # the one that is looked for stands on the list's second page
        shop.enter(reference=f"X-{number}")
    said = look(attached, status)
    verdict = weigh([said], [before], [status], DEAD_AND_WAITED)
    assert (verdict.outcome, verdict.more_than_once) == (outcome, False)
    assert any(f"“{word}”" in reason for reason in said.reasons)
    assert said.evidence[0].rows[0]["Status"] == word


def test_a_word_that_nobody_declared_is_never_guessed_at(attached: Browser, shop: Shop, status: OrderStatus) -> None:
    shop.enter(reference="R-1")
    shop.begin_as("On hold")
    shop.enter(reference="R-1")
    said = look(attached, status)
    assert (said.sight, said.reasons) == (Sight.cannot_tell, ("nobody has declared what the status “On hold” means",))
    shop.move("O-2", "Received")
    assert weigh([look(attached, status)], [said], [status], Circumstances()).matches == (), "both were there before"


def test_a_payment_that_failed_beside_an_order_is_one_order(attached: Browser, shop: Shop, status: OrderStatus) -> None:
    shop.begin_as("Payment failed")
    shop.enter(reference="R-1")
    before = look(attached, status)
    assert (before.sight, before.matches) == (Sight.not_seen, ())
    shop.begin_as("Received")
    shop.enter(reference="R-1")
    verdict = weigh([look(attached, status)], [before], [status], Circumstances())
    assert (verdict.outcome, verdict.count, verdict.values) == (Outcome.happened, 1, {"number": "O-2"})


def test_an_order_that_was_pending_before_and_is_done_now_is_not_a_new_one(
    attached: Browser, shop: Shop, status: OrderStatus
) -> None:
    shop.begin_as("Processing")
    before, _ = (shop.enter(reference="R-1"), None)
    earlier = look(attached, status)
    shop.move(before.number, "Received")
    assert weigh([look(attached, status)], [earlier], [status], Circumstances()).matches == ()


def test_what_was_declared_in_a_way_that_could_prove_nothing_is_refused(status: OrderStatus) -> None:
    for wrong in ({}, {"Draft": "partial"}, {"Sent": "happened", "SENT": "partial"}, {"Sent": "perhaps"}):
        with pytest.raises(ValidationError):
            OrderStatus(status.site, "orders", key={"Reference": "R-1"}, means=wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("word", "meaning"),
    [("delivered", "delivered"), ("bounced", "bounced"), ("queued", "under way"), ("deferred", "unknown")],
)
def test_sent_is_not_delivered_and_a_mail_that_bounced_was_sent(
    attached: Browser, mail: Mail, sent: SentMail, word: Any, meaning: str
) -> None:
    mail.deliver_as(word)
    before = look(attached, sent)
    mail.enter(to="bob@example.org", subject="R-1")
    said = look(attached, sent)
    verdict = weigh([said], [before], [sent], Circumstances())
    assert (verdict.outcome, verdict.values) == (Outcome.happened, {"delivery": meaning})
    assert f"it was sent; its delivery: {meaning} (the delivery log says “{word}”)" in said.reasons
    assert len(mail.messages) == 1


def test_a_mail_that_only_the_log_knows_of_is_not_absent(attached: Browser, mail: Mail, sent: SentMail) -> None:
    assert weigh([look(attached, sent)], [None], [sent], DEAD_AND_WAITED).outcome is Outcome.not_happened
    mail.enter(to="bob@example.org", subject="R-1")
    elsewhere = SentMail(sent.site, path="drafts", to=sent.to, subject=sent.subject, complete=True,
                         log="log", delivery=DELIVERY)  # fmt: skip
    said = look(attached, elsewhere)
    assert (said.sight, said.reasons[0]) == (
        Sight.cannot_tell,
        "it isn't in the folder, but the delivery log mentions it",
    )


def test_an_order_without_its_mail_is_a_question(
    attached: Browser, shop: Shop, mail: Mail, status: OrderStatus, sent: SentMail
) -> None:
    both = Both(status, sent)
    before = look(attached, both)
    shop.enter(reference="R-1")
    assert weigh([look(attached, both)], [before], [both], DEAD_AND_WAITED).outcome is Outcome.unknown
    mail.enter(to="bob@example.org", subject="R-1")
    verdict = weigh([look(attached, both)], [before], [both], Circumstances())
    assert (verdict.outcome, verdict.values) == (Outcome.happened, {"number": "O-1", "delivery": "delivered"})


def test_a_number_leads_to_nothing_that_isnt_ours(
    attached: Browser, page: Page, shop: Shop, status: OrderStatus
) -> None:
    order = shop.enter(reference="R-1")
    page.goto(f"{shop.url}/orders/{order.number}")
    by = Address(r"/orders/(?P<number>O-\d+)")
    assert look(attached, Opened(status.site, "orders/{number}", by=by, key="R-1"), page).sight is Sight.seen
    said = look(attached, Opened(status.site, "orders/{number}", by=by, key="R-10"), page)
    assert (said.sight, said.reasons) == (Sight.cannot_tell, (f"{shop.url}/orders/O-1 doesn't hold our key R-10",))
    missing = look(attached, Opened(status.site, "receipts/{number}.pdf", by=by, key="R-1"), page)
    assert missing.reasons == (f"{shop.url}/receipts/O-1.pdf was answered with status 404",)
    with pytest.raises(ValidationError, match="offers number"):
        Opened(status.site, "orders/{id}", by=by, key="R-1")


def test_no_observer_sends_the_post_again_whose_answer_it_looks_at(
    attached: Browser, page: Page, shop: Shop, status: OrderStatus, sent: SentMail
) -> None:
    shop.answer_post_in_place = True
    page.goto(f"{shop.url}/orders/new")
    page.get_by_label("Reference").fill("R-1")
    page.get_by_role("button", name="Order").click()
    page.get_by_text("received for R-1").wait_for()
    number = r"Order (?P<number>\S+) received"
    every = [
        Address(r"/orders"), ConfirmationText(f"{number} for R-1", key="R-1"), Download(r".*\.csv"),
        ErrorShown("Order .*"), NewPage(number),
        Opened(status.site, "orders/{number}", by=ConfirmationText(number), key="R-1"), status, ToastLog(number), sent,
        Record(status.site, "orders", key={"Reference": "R-1"}), Both(status, sent),
        Gone(Record(status.site, "orders", key={"Reference": "R-1"}, complete=True)),
    ]  # fmt: skip
    assert {type(observer) for observer in every} >= {
        kind for name, kind in Observer.kinds().items() if kind.__module__.startswith("observers.")
    }
    with open_view(attached, page, deadline=5, answer_of_post=True) as view:
        sights = [observer.observe(view).sight for observer in every]
    assert sights.count(Sight.seen) == 5, sights
    assert [order.reference for order in shop.orders] == ["R-1"] and len(shop.ledger.writes) == 1


def test_half_an_upload_beneath_a_green_tick_is_not_the_upload(attached: Browser, page: Page) -> None:
    page.route("http://files.test/**", lambda route: route.fulfill(content_type="text/html; charset=utf-8", body=_HALF))
    page.goto("http://files.test/")
    tick = look(attached, ConfirmationText(r"✓ report\.pdf", key="report.pdf"), page)
    assert tick.sight is Sight.seen, "the page claims it"
    whole = ConfirmationText(r"report\.pdf\W+(?P<size>[\d,]+) bytes", within=r"\b2,048 bytes", key="report.pdf")
    assert look(attached, whole, page).sight is Sight.cannot_tell
    assert weigh([look(attached, whole, page)], [None], [whole], Circumstances(guarded=True)).outcome is Outcome.unknown


_HALF = "<p style='color: green'>✓ report.pdf <small>1,024 bytes</small>"
