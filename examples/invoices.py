"""Every weekday: find the shipments without an invoice, post the invoices, show them, then email the customers.

    python -m browser_agent.testing books --port 8001
    python -m browser_agent.testing mail --port 8002
    browser-agent run examples/invoices.py day=2026-11-30

It stops with a question before the first mail. Interrupted on purpose, add `--kill-at released:2`: the second invoice.
"""

from datetime import date, timedelta
from decimal import Decimal

from playwright.sync_api import Page
from pydantic import BaseModel

from browser_agent import Click, ConfirmationText, Gesture, Record, Run, SentMail, Site, step, task

books = Site(
    "books",
    url="http://127.0.0.1:8001",
    account="acme",
    signed_in='[data-account="acme"]',
    late_commit=timedelta(seconds=2),
)
mail = Site(
    "mail",
    url="http://127.0.0.1:8002",
    account="ann",
    signed_in='[data-account="ann"]',
    late_commit=timedelta(seconds=2),
)


class Shipment(BaseModel):
    """A shipment that has no invoice yet."""

    id: str
    customer: str
    email: str
    contract: str
    amount: Decimal


class Invoice(BaseModel):
    """A posted invoice."""

    number: str


@step(site=books)
def find_shipments(page: Page, day: date) -> list[Shipment]:
    """Read the day's shipments that have no invoice."""
    page.goto(books / f"shipments?day={day:%Y-%m-%d}")
    rows = [row.get_by_role("cell").all_inner_texts() for row in page.get_by_role("row").all()[1:]]
    return [
        Shipment(
            id=cells[0], customer=cells[1], email=cells[2], contract=cells[3], amount=Decimal(cells[4].replace(",", ""))
        )
        for cells in rows
        if not cells[-1].strip()
    ]


@step(site=books)
def post_invoice(page: Page, shipment: Shipment) -> Gesture[Invoice]:
    """Fill the invoice's form; the gesture is the click on Post."""
    page.goto(books / "invoices/new")
    page.get_by_label("Customer").fill(shipment.customer)
    page.get_by_label("Contract").fill(shipment.contract)
    page.get_by_label("Amount").fill(f"{shipment.amount}")
    page.get_by_label("Period").fill("2026-11")
    page.get_by_label("Reference").fill(shipment.id)
    return Click(
        page.get_by_role("button", name="Post"),
        intent=f"post an invoice of {shipment.amount} to {shipment.customer}",
        sends="POST /invoices",
        proof=[
            ConfirmationText(rf"Invoice (?P<number>\S+) posted for {shipment.id}"),
            Record(
                books,
                "invoices",
                key={"Reference": shipment.id},
                complete=True,
                count=r"(\d+) invoices?",
                reads={"number": "Number"},
            ),
        ],
        gives=Invoice,
    )


@step(site=mail)
def email_invoice(page: Page, invoice: Invoice, shipment: Shipment) -> Gesture[None]:
    """Fill the mail's form; the gesture is the click on Send."""
    subject = f"Invoice {invoice.number} for {shipment.id}"
    page.goto(mail / "compose")
    page.get_by_label("To").fill(shipment.email)
    page.get_by_label("Subject").fill(subject)
    page.get_by_label("Message").fill(
        f"Dear {shipment.customer}, please find invoice {invoice.number}: {shipment.amount}."
    )
    return Click(
        page.get_by_role("button", name="Send"),
        intent=f"email invoice {invoice.number} to {shipment.email}",
        sends="POST /messages",
        proof=[SentMail(mail, to=shipment.email, subject=subject, complete=True, count=r"(\d+) messages?")],
    )


@task(sites=[books, mail])
def invoice_shipments(run: Run, day: date) -> list[str]:
    """Post the day's invoices, show them, and email the customers once a person has approved."""
    posted = [(shipment, run.step(post_invoice(shipment))) for shipment in run.step(find_shipments(day))]
    for call in run.approve("Email these invoices?", [email_invoice(invoice, s) for s, invoice in posted]):
        run.step(call)
    return [invoice.number for _, invoice in posted]
