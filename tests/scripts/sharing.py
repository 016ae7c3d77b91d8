"""Tasks whose invoices are looked for by customer and amount: a key that other invoices may have too."""

from datetime import timedelta

from playwright.sync_api import Page

from browser_agent import Click, Gesture, Record, Run, Site, step, task
from tests.scripts.posting import Posted, about, fill

books = Site(
    "books",
    url="http://127.0.0.1:1",
    account="acme",
    signed_in='[data-account="acme"]',
    late_commit=timedelta(seconds=2),
    sole_user=True,
)


@step(site=books)
def post(page: Page, reference: str) -> Gesture[Posted]:
    """Post an invoice, and know it again by customer, amount and time alone."""
    fill(page, books, reference, "form")
    key = {"Customer": "Contoso Ltd", "Amount": "380.00"}
    proof = Record(
        books,
        "invoices",
        key=key,
        unique=False,
        created="Posted",
        complete=True,
        count=r"(\d+) invoices?",
        reads={"number": "Number"},
    )
    return Click(page.get_by_role("button", name="Post"), gives=Posted, **about(books, reference, proof=[proof]))


@task(sites=[books])
def post_one(run: Run, reference: str) -> str:
    """Post one invoice."""
    return run.step(post(reference)).number
