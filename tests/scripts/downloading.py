"""Tasks for the acceptance tests whose steps bring files."""

from playwright.sync_api import Page

from browser_agent import Run, step, task
from tests.scripts.hearing import order_tea, shop

CLICK = "address => { const link = document.createElement('a'); link.href = address; link.click(); }"


@step(site=shop)
def fetch_receipt(page: Page, number: str) -> str:
    """Have a receipt downloaded, and take no care of it."""
    page.goto(shop / "orders")
    with page.expect_download():
        page.evaluate(CLICK, shop / f"receipts/{number}.csv")
    return number


@task(sites=[shop])
def fetch_receipts(run: Run, numbers: list[str]) -> list[str]:
    """One receipt after the other."""
    return [run.step(fetch_receipt(number)) for number in numbers]


@task(sites=[shop])
def order_and_keep(run: Run, reference: str) -> str:
    """Order; what confirms it is a file."""
    return run.step(order_tea("csv", reference, True))
