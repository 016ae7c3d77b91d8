"""Raise a price by a percentage, once a person has said yes; and take it back again.

    python -m browser_agent.testing seller --port 8004
    browser-agent run examples/price_change.py article=A-10 percent=10 reference=autumn

Made twice, it would be another price. It stops with a question first, since the step says `approval=True`. Interrupted
on purpose: the yes is written down, and the worker that goes on is killed when its request has left.

    browser-agent approve QUESTION --by ann --reason "agreed on Monday" --no-resume
    browser-agent resume last --kill-at released:1

Taking it back is a change of its own, which asks too:

    browser-agent reverse last
    browser-agent approve QUESTION --by ann --reason "not this year"
"""

import re
from datetime import timedelta
from decimal import Decimal
from typing import Annotated

from playwright.sync_api import Page
from pydantic import BaseModel, Field

from browser_agent import Click, ConfirmationText, Gesture, Record, Run, Site, step, task

seller = Site(
    "seller",
    url="http://127.0.0.1:8004",
    account="acme",
    signed_in='[data-account="acme"]',
    late_commit=timedelta(seconds=2),
)


class Raised(BaseModel):
    """A price that was raised: what was known before, and the price that came of it."""

    article: str
    percent: Decimal
    reference: str
    price: Decimal


def changing(page: Page, article: str, percent: Decimal, remark: str) -> Click[Raised]:
    """Fill in the form; the gesture is the click on Change."""
    page.goto(seller / f"changes/new?article={article}")
    page.get_by_label("Change in %").fill(f"{percent}")
    page.get_by_label("Remark").fill(remark)
    return Click(
        page.get_by_role("button", name="Change"),
        intent=f"change the price of {article} by {percent:+} % ({remark})",
        sends="POST /changes",
        proof=[
            ConfirmationText(rf"(?m)^Price of {article} changed by \S+ % to (?P<price>\S+) for {re.escape(remark)}$"),
            Record(
                seller,
                f"prices/{article}",
                key={"Remark": remark},
                complete=True,
                reads={"price": "New price"},
                count=r"(\d+) changes?\b",
            ),
        ],
        known={"article": article, "percent": percent, "reference": remark},
        gives=Raised,
    )


@step(site=seller)
def lower_again(page: Page, raised: Raised) -> Gesture[Raised]:
    """Take a raise back. What takes back +10 % is -9.09090909 %; -10 % would leave the price lower than it was.

    The price is then what it was before, to the cent. What somebody else has changed in the meantime stays changed.
    """
    percent = 100 * 100 / (100 + raised.percent) - 100
    return changing(page, raised.article, round(percent, 8), f"{raised.reference}, taken back")


@step(site=seller, approval=True, reverse=lower_again)
def raise_price(page: Page, article: str, percent: Decimal, reference: str) -> Gesture[Raised]:
    """Raise a price. A person must have said yes to exactly this article, percentage and reference."""
    return changing(page, article, percent, reference)


@task(sites=[seller])
def change_price(run: Run, article: str, percent: Annotated[Decimal, Field(gt=0)], reference: str) -> Decimal:
    """Raise one price, and hand back the new one. A no is raised here, as `NotApproved`."""
    return run.step(raise_price(article, percent, reference)).price
