"""The public interface as its type checkers see it; checked by mypy --strict and pyright, never run.

A line with an ignore comment is a mistake that must be found: both checkers complain about an ignore that isn't needed.
"""

# pyright: strict, reportUnnecessaryTypeIgnoreComment=error, reportUnusedFunction=false

from collections.abc import Sequence
from datetime import date, timedelta
from decimal import Decimal
from pathlib import Path
from typing import assert_type

from playwright.sync_api import Page
from pydantic import BaseModel, TypeAdapter

from browser_agent import (
    Accept,
    Check,
    Click,
    ConfirmationText,
    Done,
    DoubleClick,
    DragTo,
    Gesture,
    Hold,
    Login,
    Press,
    Record,
    RightClick,
    Run,
    Select,
    SentMail,
    Site,
    StepCall,
    Task,
    Upload,
    login,
    step,
    task,
)

books = Site("books", url="https://books.example", account="acme", late_commit=timedelta(seconds=30))
mail = Site("mail", url="https://mail.example", account="ann")


@login(site=books)
def sign_in(page: Page) -> None:
    page.goto(books / "login")


class Shipment(BaseModel):
    id: str
    customer: str
    email: str
    amount: Decimal


class Invoice(BaseModel):
    number: str


@step
def find_shipments(page: Page, day: date) -> list[Shipment]:
    page.goto(books / f"shipments?day={day}")
    return [
        Shipment(id=text, customer="", email="", amount=Decimal(1)) for text in page.locator("td").all_inner_texts()
    ]


@step(site=books)
def post_invoice(page: Page, shipment: Shipment) -> Gesture[Invoice]:
    page.goto(books / "invoices/new")
    page.get_by_label("Customer").fill(shipment.customer)
    page.get_by_label("Amount").fill(f"{shipment.amount}")
    page.get_by_label("Reference").fill(shipment.id)
    return Click(
        page.get_by_role("button", name="Post"),
        intent=f"post an invoice of {shipment.amount} to {shipment.customer}",
        sends="POST /invoices",
        proof=[
            ConfirmationText(rf"Invoice (?P<number>\S+) posted for {shipment.id}"),
            Record(books, "invoices", key={"Reference": shipment.id}, complete=True, reads={"number": "Number"}),
        ],
        gives=Invoice,
    )


@step(site=mail, name="email", version=2, again=0, refusals=1, preparation="repeatable")
def email_invoice(page: Page, invoice: Invoice, to: Shipment) -> Gesture[None]:
    page.goto(mail / "compose")
    return Click(
        page.get_by_role("button", name="Send"),
        intent=f"send invoice {invoice.number} to {to.email}",
        proof=[SentMail(mail, to=to.email, subject=f"Invoice {invoice.number}")],
        dialogs=[Accept(r"Really send")],
    )


@step(site=books)
def by_pointer(page: Page, way: str) -> Gesture[Invoice]:
    row = page.get_by_role("row")
    proof = [ConfirmationText(r"Invoice (?P<number>\S+)")]
    assert_type(DoubleClick(row, intent="book", proof=proof), DoubleClick[None])
    assert_type(RightClick(row, intent="flag", proof=proof), RightClick[None])
    assert_type(Hold(row, 900, intent="approve", proof=proof), Hold[None])
    if way == "drag":
        return DragTo(row, page.get_by_role("group"), intent="finish", proof=proof, gives=Invoice)
    return Hold(row, 900, intent="approve", proof=proof, gives=Invoice)


@task(sites=[books, mail])
def invoice_shipments(run: Run, day: date) -> list[str]:
    posted = [(s, run.step(post_invoice(s))) for s in run.step(find_shipments(day))]
    for call in run.approve("Email these invoices?", [email_invoice(invoice, s) for s, invoice in posted]):
        run.step(call)
    return [invoice.number for _, invoice in posted]


assert_type(invoice_shipments.adapter, TypeAdapter[list[str]])
_any_task: Task[..., list[str]] = invoice_shipments


# A step is read off its annotation.


@step
def open_basket(page: Page, *, name: str = "") -> Gesture[Invoice] | Done[Invoice]:
    if page.get_by_text(name).is_visible():
        return Done(Invoice(number=name))
    return Press(
        page.get_by_label("Name"), "Enter", intent="open a basket", proof=[ConfirmationText("x")], gives=Invoice
    )


@step(site=books)
def perhaps(page: Page) -> Gesture[Invoice] | Done[Invoice] | None:
    return None


@step
def read_total(page: Page) -> int | None:
    return page.get_by_role("row").count() or None


@step
def look_about(page: Page) -> None:
    page.goto(books / "")


assert_type(find_shipments.adapter, TypeAdapter[list[Shipment]])
assert_type(find_shipments(date.min), StepCall[list[Shipment]])
assert_type(post_invoice(Shipment(id="", customer="", email="", amount=Decimal(0))), StepCall[Invoice])
assert_type(open_basket(name="a"), StepCall[Invoice])
assert_type(perhaps(), StepCall[Invoice | None])
assert_type(read_total(), StepCall[int | None])
assert_type(look_about(), StepCall[None])
assert_type(sign_in, Login)


def what_a_run_gives(run: Run, page: Page, shipment: Shipment, invoice: Invoice) -> None:
    assert_type(run.step(find_shipments(date.min)), list[Shipment])
    assert_type(run.step(post_invoice(shipment), key="S-102"), Invoice)
    assert_type(run.step(perhaps()), Invoice | None)
    assert_type(run.approve("Email?", [email_invoice(invoice, shipment)]), list[StepCall[None]])
    assert_type(run.approve("Post?", [post_invoice(shipment)], valid=timedelta(hours=1)), list[StepCall[Invoice]])
    assert_type(post_invoice.prepare(page, shipment), Gesture[Invoice])
    assert_type(post_invoice.proven({"number": "INV-1"}), Invoice)


# Gestures: covariant in their value, None without `gives`.


def kinds(page: Page) -> None:
    button, proof = page.get_by_role("button"), [ConfirmationText("x")]
    assert_type(Click(button, intent="a", proof=proof), Click[None])
    assert_type(Click(button, intent="a", proof=proof, gives=Invoice), Click[Invoice])
    assert_type(Press(button, "Enter", intent="a", proof=proof), Press[None])
    assert_type(Press(button, "Enter", intent="a", proof=proof, gives=str), Press[str])
    assert_type(Check(button, intent="a", proof=proof), Check[None])
    assert_type(Check(button, False, intent="a", proof=proof, gives=Invoice), Check[Invoice])
    assert_type(Select(button, "posted", intent="a", proof=proof), Select[None])
    assert_type(Select(button, "p", by="value", intent="a", proof=proof, gives=Invoice), Select[Invoice])
    assert_type(Upload(button, Path("a.pdf"), intent="a", proof=proof), Upload[None])
    assert_type(Upload(button, [Path("a.pdf")], intent="a", proof=proof, gives=Invoice), Upload[Invoice])
    _model: Gesture[BaseModel] = Click(button, intent="a", proof=proof, gives=Invoice)


# Mistakes that are found before anything runs.


@step
def forgets_gives(page: Page) -> Gesture[Invoice]:
    return Click(page.get_by_role("button"), intent="a", proof=[])  # type: ignore


def wrong_calls(page: Page, run: Run, calls: Sequence[StepCall[Invoice]]) -> None:
    post_invoice(1)  # type: ignore
    post_invoice()  # type: ignore
    open_basket("a")  # type: ignore
    run.step(post_invoice)  # type: ignore
    Click(page.get_by_role("button"), proof=[])  # type: ignore
    Check(page.get_by_role("checkbox"), "on", intent="a", proof=[])  # type: ignore
    Select(page.get_by_role("combobox"), intent="a", proof=[])  # type: ignore
    Select(page.get_by_role("combobox"), "a", by="index", intent="a", proof=[])  # type: ignore
    Upload(page.get_by_label("File"), "a.pdf", intent="a", proof=[])  # type: ignore
    step(site="books")  # type: ignore
    login(site="books")  # type: ignore
    login(sign_in)  # type: ignore
    step(preparation="always")  # type: ignore
