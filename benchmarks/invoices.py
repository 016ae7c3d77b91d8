"""The task that is measured: the same form, filled and posted several times."""

from playwright.sync_api import Page

from browser_agent import Click, ConfirmationText, Gesture, Record, Run, Site, step, task
from observers.observer import Observer

books = Site("books", url="http://127.0.0.1:8001", account="acme", signed_in='[data-account="acme"]')


def fill(page: Page, reference: str) -> None:
    """Open the form and fill it, as both ways do."""
    page.goto(books / "invoices/new")
    page.get_by_label("Customer").fill("Contoso Ltd")
    page.get_by_label("Amount").fill("10.00")
    page.get_by_label("Reference").fill(reference)


def record(reference: str) -> Record:
    """The observer that counts."""
    return Record(
        books,
        "invoices",
        key={"Reference": reference},
        complete=True,
        count=r"(\d+) invoices?",
        reads={"value": "Number"},
    )


@step(site=books)
def post(page: Page, reference: str) -> Gesture[str]:
    """Post one invoice, guarded and journalled."""
    fill(page, reference)
    proof: list[Observer] = [ConfirmationText(rf"Invoice (?P<value>\S+) posted for {reference}"), record(reference)]
    return Click(
        page.get_by_role("button", name="Post"),
        intent=f"post an invoice for {reference}",
        sends="POST /invoices",
        proof=proof,
        gives=str,
    )


@task(sites=[books])
def post_all(run: Run, times: int) -> list[str]:
    """Post several invoices, one after the other."""
    return [run.step(post(f"R-{number}")) for number in range(times)]
