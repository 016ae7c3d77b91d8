"""New: what the suite's old function did, with what proves it; once as a gesture, once as a task."""

import re
from datetime import timedelta

from playwright.sync_api import Page

from browser_agent import Click, ConfirmationText, Gesture, Record, Run, Site, step, task

books = Site(
    "books",
    url="http://127.0.0.1:8001",
    account="acme",
    signed_in='[data-account="acme"]',
    late_commit=timedelta(seconds=2),
)


def posting(page: Page, order: str) -> Click[str]:
    page.goto(books / "invoices/new")
    page.get_by_label("Customer").fill("Contoso Ltd")
    page.get_by_label("Amount").fill("380.00")
    page.get_by_label("Reference").fill(order)
    return Click(
        page.get_by_role("button", name="Post"),
        intent=f"post an invoice for {order}",
        sends="POST /invoices",
        proof=[
            ConfirmationText(rf"Invoice (?P<value>\S+) posted for {re.escape(order)}"),
            Record(
                books,
                "invoices",
                key={"Reference": order},
                complete=True,
                count=r"(\d+) invoices?",
                reads={"value": "Number"},
            ),
        ],
        gives=str,
    )


@step(site=books)
def post_invoice(page: Page, order: str) -> Gesture[str]:
    return posting(page, order)


@task(sites=[books])
def invoice(run: Run, order: str) -> str:
    return run.step(post_invoice(order))
