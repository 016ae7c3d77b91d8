"""A task whose run lives for as long as a test wants it to."""

from pathlib import Path

from playwright.sync_api import Page

from browser_agent import Run, step, task
from tests.scripts.posting import books, post


@step(site=books)
def wait_for(page: Page, go_on: str) -> bool:
    """Wait until that file is there: a read."""
    page.goto(books / "invoices")
    while not Path(go_on).exists():
        page.wait_for_timeout(100)
    return True


@task(sites=[books])
def wait_then_post(run: Run, reference: str, go_on: Path) -> str:
    """Post one invoice when that file is there."""
    run.step(wait_for(f"{go_on}"))
    return run.step(post(reference, "form")).number
