"""A task whose invoices can be taken back: by a credit note, which is an invoice of its own here."""

from playwright.sync_api import Page

from browser_agent import Gesture, Run, step, task
from tests.scripts.posting import Posted, books, posting


@step(site=books)
def credit(page: Page, invoice: Posted) -> Gesture[Posted]:
    """Post the credit note of an invoice."""
    return posting(page, books, f"CREDIT-{invoice.number}")


@step(site=books, reverse=credit)
def post(page: Page, reference: str) -> Gesture[Posted]:
    """Post an invoice that can be taken back."""
    return posting(page, books, reference)


@task(sites=[books])
def post_all(run: Run, references: list[str]) -> list[str]:
    """Post several."""
    return [run.step(post(reference)).number for reference in references]
