"""Order an article in a shop whose list says how each order stands, and hand back the order's number.

    python -m browser_agent.testing shop --port 8003
    browser-agent run examples/shop_order.py article=A-10 quantity=2 reference=R-17

Interrupted on purpose: the browser is killed, and the confirmation with it. The list is what is left to look at.

    browser-agent run examples/shop_order.py article=A-30 quantity=1 reference=R-18 --kill-at answered:1@browser

A reference that is on the list already is not ordered again: the run asks.
"""

import re
from datetime import timedelta

from playwright.sync_api import Page

from browser_agent import Click, ConfirmationText, Gesture, OrderStatus, Run, Site, step, task

shop = Site(
    "shop",
    url="http://127.0.0.1:8003",
    account="acme",
    signed_in='[data-account="acme"]',
    late_commit=timedelta(seconds=2),
)


def order_of(reference: str) -> OrderStatus:
    """The order with our reference, on whichever page of the list it is, and what its status says of it.

    Every word that the shop has must be declared. One that isn't is a question to a person, never a guess.
    """
    return OrderStatus(
        shop,
        "orders",
        key={"Reference": reference},
        means={
            "Received": "happened",
            "Shipped": "happened",
            "Cancelled": "happened",  # it was placed, whatever became of it
            "Processing": "pending",  # accepted, and not done yet
            "Draft": "partial",
            "Payment failed": "no_effect",  # final: the shop never tries the payment again
        },
        complete=True,  # every order stands there, also the cancelled ones
        reads={"value": "Number"},
        count=r"(\d+) orders?\b",  # what the list says of itself must agree with the rows that were read
    )


@step(site=shop)
def place_order(page: Page, article: str, quantity: int, reference: str) -> Gesture[str]:
    """Fill in the form; the gesture is the click on Order."""
    page.goto(shop / "orders/new")
    page.get_by_label("Article").select_option(article)
    page.get_by_label("Quantity").fill(f"{quantity}")
    page.get_by_label("Reference").fill(reference)
    return Click(
        page.get_by_role("button", name="Order"),
        intent=f"order {quantity} of {article} for {reference}",
        sends="POST /orders",
        proof=[
            ConfirmationText(rf"(?m)^Order (?P<value>\S+) received for {re.escape(reference)}$"),
            order_of(reference),
        ],
        gives=str,
    )


@task(sites=[shop])
def order(run: Run, article: str, quantity: int, reference: str) -> str:
    """Place one order. The reference is what it is found by: take a new one for each."""
    return run.step(place_order(article, quantity, reference))
