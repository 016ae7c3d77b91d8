"""A task whose list nobody vouches for: what isn't there proves nothing."""

from datetime import timedelta

from playwright.sync_api import Page

from browser_agent import Click, Gesture, Record, Run, Site, step, task
from tests.scripts.posting import fill

books = Site(
    "books",
    url="http://127.0.0.1:1",
    account="acme",
    signed_in='[data-account="acme"]',
    late_commit=timedelta(seconds=1),
)


@step(site=books)
def post_unvouched(page: Page, reference: str) -> Gesture[None]:
    """Post an invoice; the list that would show it may leave some out."""
    fill(page, books, reference, "form")
    return Click(
        page.get_by_role("button", name="Post"),
        intent=f"post invoice {reference}",
        sends="POST /invoices",
        proof=[Record(books, "invoices", key={"Reference": reference})],
    )


@task(sites=[books])
def post_one_unvouched(run: Run, reference: str) -> str:
    """Post one invoice."""
    run.step(post_unvouched(reference))
    return reference
