"""Orders at a shop whose pages and answers say something else than what it did."""

from __future__ import annotations

from datetime import timedelta

from playwright.sync_api import Locator, Page

from browser_agent import Click, ConfirmationText, Gesture, Record, Run, Site, step, task

shop = Site(
    "misread",
    url="http://127.0.0.1:1",
    account="acme",
    signed_in='[data-account="{account}"]',
    late_commit=timedelta(seconds=1),
)


def click(target: Locator, key: str, sends: str = "POST /orders", lag: float = 0) -> Click[str]:
    listed = Record(
        shop,
        "orders",
        key={"Reference": key},
        reads={"value": "Number"},
        complete=True,
        staleness=timedelta(seconds=lag),
    )
    shown = ConfirmationText(rf"Order (?P<value>\S+) placed for {key}\b")
    return Click(target, intent=f"order {key}", sends=sends, proof=[shown, listed], settle=3.0, gives=str)


@step(site=shop)
def order(page: Page, key: str) -> Gesture[str]:
    page.goto(shop / f"new/{key}")
    return click(page.get_by_role("button", name="Order"), key)


@step(site=shop)
def order_late(page: Page, key: str, lag: float) -> Gesture[str]:
    """The list lags behind."""
    page.goto(shop / f"new/{key}")
    return click(page.get_by_role("button", name="Order"), key, lag=lag)


@step(site=shop)
def follow(page: Page, key: str) -> Gesture[str]:
    """A link that orders, taken for a form."""
    page.goto(shop / f"new/{key}")
    return click(page.get_by_role("link", name="Order by link"), key)


@step(site=shop, refusals=0)
def pay(page: Page, key: str) -> Gesture[str]:
    """The page pays another invoice than the one that is declared."""
    page.goto(shop / f"new/{key}")
    return click(page.get_by_role("button", name="Order"), key, f"POST /pay/{key}")


@step(site=shop)
def hasten(page: Page, key: str) -> Gesture[str]:
    """It orders while it prepares, before it returns its gesture."""
    page.goto(shop / f"new/{key}")
    page.get_by_role("button", name="Order").click()
    page.goto(shop / f"new/{key}")
    return click(page.get_by_role("button", name="Order"), key)


@task(sites=[shop])
def ordering(run: Run, key: str) -> str:
    return run.step(order(key))


@task(sites=[shop])
def lagging(run: Run, key: str, lag: float) -> str:
    return run.step(order_late(key, lag))


@task(sites=[shop])
def following(run: Run, key: str) -> str:
    return run.step(follow(key))


@task(sites=[shop])
def paying(run: Run, key: str) -> str:
    return run.step(pay(key))


@task(sites=[shop])
def hastening(run: Run, key: str) -> str:
    return run.step(hasten(key))


@task(sites=[shop])
def chaining(run: Run, key: str) -> str:
    """The key of the second order is the number of the first."""
    return run.step(order(run.step(order(key))))
