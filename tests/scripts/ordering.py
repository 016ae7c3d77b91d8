"""A task for the till: one order by a form, under a reference of ours."""

from playwright.sync_api import Page
from pydantic import BaseModel

from browser_agent import Click, ConfirmationText, Gesture, Record, Run, Site, step, task

till = Site("till", url="https://127.0.0.1:1", account="us")


class Ordered(BaseModel):
    """What the till calls an order."""

    number: str


@step(site=till)
def order(page: Page, item: str) -> Gesture[Ordered]:
    """Order by the form; the till's answer names the order, its list the item too."""
    page.goto(till / "?by=form")
    page.locator("[name=item]").fill(item)
    return Click(
        page.get_by_role("button", name="Order"),
        intent=f"order {item}",
        sends="POST /orders",
        proof=[
            ConfirmationText(r"Order (?P<number>\d+) taken"),
            Record(till, "orders", key={"Item": item}, reads={"number": "Order"}),
        ],
        gives=Ordered,
    )


@task(sites=[till])
def order_one(run: Run, item: str) -> str:
    """Order one thing."""
    return run.step(order(item)).number
