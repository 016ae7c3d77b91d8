"""Tasks for the acceptance tests: an invoice posted by each kind of gesture, with and without something in the way."""

from datetime import timedelta
from pathlib import Path

from playwright.sync_api import Page
from pydantic import BaseModel

from browser_agent import (
    Check,
    Click,
    ConfirmationText,
    Gesture,
    Record,
    Run,
    Select,
    Site,
    Upload,
    step,
    task,
)
from browser_agent.script.gestures import About

late = timedelta(seconds=2)
books = Site("books", url="http://127.0.0.1:1", account="acme", signed_in='[data-account="acme"]', late_commit=late)


class Posted(BaseModel):
    """What a posted invoice is known by."""

    number: str


def about(reference: str, by: str) -> About:
    """What every gesture here is told."""
    return {
        "intent": f"post invoice {reference} by {by}",
        "sends": "POST /invoices",
        "proof": [
            ConfirmationText(rf"Invoice (?P<number>\S+) posted for {reference}\b"),
            Record(
                books,
                "invoices",
                key={"Reference": reference},
                complete=True,
                count=r"(\d+) invoices?",
                reads={"number": "Number"},
            ),
        ],
        "settle": 3.0,
        "timeout": 4.0,
    }


@step(site=books, again=3, refusals=0)
def post_by(page: Page, reference: str, by: str, *, but: str, contract: str) -> Gesture[Posted]:
    """Post an invoice by the control that `by` names."""
    page.goto(books / f"invoices/new?by={by}&but={but}")
    page.get_by_label("Customer").fill("Contoso Ltd")
    page.get_by_label("Amount").fill("380.00")
    page.get_by_label("Reference").fill(reference)
    told = about(reference, by)
    match by:
        case "check":
            return Check(page.get_by_label("Posted"), gives=Posted, **told)
        case "select":
            return Select(page.get_by_label("Status"), "Posted", gives=Posted, **told)
        case "upload":
            upload = Upload(page.get_by_label("Contract"), Path(contract), gives=Posted, **told)
            if but == "changed":
                Path(contract).write_text("forged")
            return upload
        case _:
            return Click(page.get_by_role("button", name="Post"), gives=Posted, **told)


@task(sites=[books])
def post_one(run: Run, reference: str, by: str, *, contract: str, but: str = "") -> str:
    """Post one invoice by the control that `by` names."""
    return run.step(post_by(reference, by, but=but, contract=contract)).number
