"""Tasks for the acceptance tests: one write each on the shop, the seller's price list, the wizard and the bank."""

from datetime import timedelta

from playwright.sync_api import Page
from pydantic import BaseModel

from browser_agent import Click, ConfirmationText, Gesture, Record, Run, Site, step, task

HERE, SIGN, LATE = "http://127.0.0.1:1", '[data-account="acme"]', timedelta(seconds=2)
shop = Site("shop", url=HERE, account="acme", signed_in=SIGN, late_commit=LATE)
seller = Site("seller", url=HERE, account="acme", signed_in=SIGN, late_commit=LATE)
wizard = Site(
    "wizard",
    url=HERE,
    account="acme",
    signed_in=SIGN,
    late_commit=LATE,
    harmless=["POST /apply/*", "POST /draft/*"],
)
bank = Site("bank", url=HERE, account="acme", signed_in=SIGN, late_commit=LATE, harmless=["POST /payments"])


class Placed(BaseModel):
    """What a placed order, or a submitted application, is known by."""

    number: str


class Priced(BaseModel):
    """What an article costs after its price was changed."""

    price: str


@step(site=shop, again=3)
def place_order(page: Page, reference: str, by: str) -> Gesture[Placed]:
    """Order two packets of tea."""
    page.goto(shop / f"orders/new?by={by}")
    page.get_by_label("Article").select_option("A-10")
    page.get_by_label("Quantity").fill("2")
    page.get_by_label("Reference").fill(reference)
    return Click(
        page.get_by_role("button", name="Order"),
        intent=f"place the order {reference}",
        sends="POST /orders",
        proof=[
            ConfirmationText(rf"Order (?P<number>\S+) received for {reference}\b"),
            Record(
                shop,
                "orders",
                key={"Reference": reference},
                complete=True,
                reads={"number": "Number"},
                count=r"(\d+) orders?\b",
            ),
        ],
        gives=Placed,
        settle=3.0,
        timeout=4.0,
    )


@step(site=seller, again=3)
def raise_price(page: Page, reference: str, by: str) -> Gesture[Priced]:
    """Raise a price by ten percent: made twice, it is another price."""
    page.goto(seller / f"changes/new?article=A-10&by={by}")
    page.get_by_label("Change in %").fill("+10")
    page.get_by_label("Remark").fill(reference)
    return Click(
        page.get_by_role("button", name="Change"),
        intent=f"raise the price of A-10 by 10 % ({reference})",
        sends="POST /changes",
        proof=[
            ConfirmationText(rf"Price of A-10 changed by \+10 % to (?P<price>\S+) for {reference}\b"),
            Record(
                seller,
                "prices/A-10",
                key={"Remark": reference},
                complete=True,
                reads={"price": "New price"},
                count=r"(\d+) changes?\b",
            ),
        ],
        gives=Priced,
        settle=3.0,
        timeout=4.0,
    )


@step(site=wizard, again=3)
def apply_for(page: Page, reference: str, by: str) -> Gesture[Placed]:
    """Go through the wizard's pages, and submit the last one."""
    page.goto(wizard / f"apply/1?by={by}")
    page.get_by_label("Name").fill("Ann")
    page.get_by_role("button", name="Next").click()
    page.get_by_label("Purpose").fill("Travel")
    page.get_by_label("Reference").fill(reference)
    page.get_by_role("button", name="Next").click()
    page.get_by_label("Amount").fill("10.00")
    page.get_by_role("button", name="Next").click()
    return Click(
        page.get_by_role("button", name="Submit"),
        intent=f"submit the application {reference}",
        sends="POST /applications",
        proof=[
            ConfirmationText(rf"Application (?P<number>\S+) submitted for {reference}\b"),
            Record(
                wizard,
                "applications",
                key={"Reference": reference},
                complete=True,
                reads={"number": "Number"},
                count=r"(\d+) applications?\b",
            ),
        ],
        gives=Placed,
        settle=3.0,
        timeout=4.0,
    )


@step(site=bank, again=3)
def transfer(page: Page, reference: str, by: str, frame: bool) -> Gesture[None]:
    """Transfer money, where nothing but the bookings of the next day would prove it."""
    page.goto(bank / f"transfers/new?by={by}")
    page.get_by_label("IBAN").fill("DE89370400440532013000")
    page.get_by_label("Amount").fill("100.00")
    page.get_by_label("Remark").fill(reference)
    pay = page.get_by_role("button", name="Pay")
    if frame:
        pay.click()
        pay = page.frame_locator("iframe").get_by_role("button", name="Confirm")
    return Click(
        pay,
        intent=f"transfer 100.00 ({reference})",
        sends="POST /transfers",
        proof=[Record(bank, "bookings", key={"Remark": reference}, staleness=timedelta(days=1))],
        settle=1.0,
        timeout=4.0,
    )


@task(sites=[shop])
def order_one(run: Run, reference: str, by: str) -> str:
    """Place one order."""
    return run.step(place_order(reference, by)).number


@task(sites=[seller])
def raise_one(run: Run, reference: str, by: str) -> str:
    """Raise one price."""
    return run.step(raise_price(reference, by)).price


@task(sites=[wizard])
def apply_once(run: Run, reference: str, by: str) -> str:
    """Submit one application."""
    return run.step(apply_for(reference, by)).number


@task(sites=[bank])
def transfer_one(run: Run, reference: str, by: str, frame: bool = False) -> str:
    """Make one transfer."""
    run.step(transfer(reference, by, frame))
    return "paid"
