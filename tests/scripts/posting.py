"""Tasks for the acceptance tests: one write each, on the fixture sites, by form and by fetch."""

from datetime import timedelta
from typing import Any, cast

from playwright.sync_api import Page
from pydantic import BaseModel

from browser_agent import (
    Accept,
    Click,
    ConfirmationText,
    Gesture,
    Press,
    Record,
    Rejected,
    Run,
    SentMail,
    Site,
    step,
    task,
)
from browser_agent.script.gestures import About

late = timedelta(seconds=2)
books = Site("books", url="http://127.0.0.1:1", account="acme", signed_in='[data-account="acme"]', late_commit=late)
mail = Site("mail", url="http://127.0.0.1:1", account="ann", signed_in='[data-account="ann"]', late_commit=late)
slow = Site("slow", url="http://127.0.0.1:1", account="acme", signed_in='[data-account="acme"]')  # late_commit unknown


class Posted(BaseModel):
    """What a posted invoice is known by."""

    number: str


@step(site=books)
def read_shipments(page: Page) -> int:
    """How many shipments there are: a read, done once in a run."""
    page.goto(books / "shipments?day=2026-11-30")
    return page.get_by_role("row").count() - 1


def fill(page: Page, site: Site, reference: str, by: str) -> None:
    """Fill the form of an invoice."""
    page.goto(site / f"invoices/new{'?by=fetch' if by == 'fetch' else ''}")
    page.get_by_label("Customer").fill("Contoso Ltd")
    page.get_by_label("Amount").fill("380.00")
    page.get_by_label("Reference").fill(f"{reference}")


def record(site: Site, reference: str) -> Record:
    """The invoice in the site's list."""
    return Record(
        site,
        "invoices",
        key={"Reference": f"{reference}"},
        complete=True,
        count=r"(\d+) invoices?",
        reads={"number": "Number"},
    )


def confirmation(reference: str) -> ConfirmationText:
    """The sentence that the site shows after it."""
    return ConfirmationText(rf"Invoice (?P<number>\S+) posted for {reference}\b", key=f"{reference}")


def about(site: Site, reference: str, **more: Any) -> About:
    """What every gesture that posts an invoice is told; `more` = what one is told otherwise, or besides."""
    told: dict[str, Any] = {
        "intent": f"post invoice {reference}",
        "sends": "POST /invoices",
        "proof": [confirmation(reference), record(site, reference)],
        "settle": 3.0,
    }
    return cast("About", told | more)


def posting(page: Page, site: Site, reference: str, by: str = "form", **more: Any) -> Click[Posted]:
    """Fill the form of an invoice; the click that posts it."""
    fill(page, site, reference, by)
    return Click(page.get_by_role("button", name="Post"), gives=Posted, **about(site, reference, **more))


terse = Site(
    "terse",
    url="http://127.0.0.1:1",
    account="acme",
    signed_in='[data-account="acme"]',
    accepts=["POST /invoices -> 303 /invoices/*"],
)


@step(site=books, again=3)
def post(page: Page, reference: str, by: str) -> Gesture[Posted]:
    """Post an invoice by a click."""
    return posting(page, books, reference, by, timeout=4.0)


@step(site=books)
def press_post(page: Page, reference: str) -> Gesture[Posted]:
    """Post an invoice by the Enter key."""
    fill(page, books, reference, "form")
    told = about(books, reference, intent=f"post invoice {reference} by Enter")
    return Press(page.get_by_label("Reference"), "Enter", gives=Posted, **told)


@step(site=slow)
def post_slowly(page: Page, reference: str) -> Gesture[Posted]:
    """Post an invoice to a site of which nobody knows how late it may commit."""
    return posting(page, slow, reference, settle=2.0)


@step(site=mail, again=3)
def send(page: Page, subject: str, by: str = "form") -> Gesture[None]:
    """Send a mail."""
    page.goto(mail / f"compose{'?by=fetch' if by == 'fetch' else ''}")
    page.get_by_label("To").fill("accounts@contoso.example")
    page.get_by_label("Subject").fill(subject)
    page.get_by_label("Message").fill("Please find the invoice.")
    return Click(
        page.get_by_role("button", name="Send"),
        intent=f"send the mail {subject}",
        sends="POST /messages",
        proof=[SentMail(mail, to="accounts@contoso.example", subject=subject, complete=True, count=r"(\d+) messages?")],
        settle=3.0,
        timeout=4.0,
    )


@task(sites=[books])
def post_one(run: Run, reference: str, by: str = "form") -> str:
    """Read, then post one invoice."""
    run.step(read_shipments())
    return run.step(post(reference, by)).number


@task(sites=[mail])
def send_one(run: Run, reference: str, by: str = "form") -> str:
    """Send one mail."""
    run.step(send(reference, by))
    return "sent"


@task(sites=[books])
def press_one(run: Run, reference: str) -> str:
    """Post one invoice by Enter."""
    return run.step(press_post(reference)).number


@task(sites=[slow])
def post_one_slowly(run: Run, reference: str) -> str:
    """Post one invoice where a late commit is not declared."""
    return run.step(post_slowly(reference)).number


@step(site=terse)
def post_by_contract(page: Page, reference: str) -> Gesture[None]:
    """Post an invoice where nothing that can be read would prove it, only the answer by the site's written contract."""
    fill(page, terse, reference, "form")
    proof = [ConfirmationText(rf"Thank you for {reference}", key=reference)]
    return Click(page.get_by_role("button", name="Post"), **about(terse, reference, proof=proof, settle=1.0))


@step(site=books)
def sign_in(page: Page) -> str:
    """Sign in once; the session is what the later steps go on with."""
    page.goto(books / "invoices")
    page.get_by_label("Account").fill("acme")
    page.get_by_label("Password").fill("open sesame")
    page.get_by_role("button", name="Sign in").click()
    page.locator('[data-account="acme"]').first.wait_for()
    return "acme"


@task(sites=[books])
def post_signed_in(run: Run, reference: str) -> str:
    """Sign in, and post one invoice."""
    run.step(sign_in())
    return run.step(post(reference, "form")).number


@task(sites=[terse])
def post_one_by_contract(run: Run, reference: str) -> None:
    """Post one invoice; the site's contract says what its answer means."""
    run.step(post_by_contract(reference))


@task(sites=[books])
def post_many(run: Run, references: list[str]) -> list[str]:
    """Post several invoices."""
    return [run.step(post(reference, "form")).number for reference in references]


@step(site=books)
def post_unkeyed(page: Page, reference: str) -> Gesture[None]:
    """Post an invoice whose reference others may carry too: equal calls are meant twice."""
    fill(page, books, reference, "form")
    told = about(books, reference, intent=f"post another invoice {reference}", proof=[confirmation(reference)])
    return Click(page.get_by_role("button", name="Post"), **told)


@task(sites=[books])
def post_twice(run: Run, reference: str) -> str:
    """Two equal calls, meant as two invoices."""
    run.step(post_unkeyed(reference))
    run.step(post_unkeyed(reference))
    return "two"


@task(sites=[slow])
def swallow(run: Run, reference: str) -> str:
    """A script that catches everything and goes on."""
    for _ in range(3):
        try:
            run.step(post_slowly(reference))
        except:  # noqa: E722  # that is what this task is for
            continue
        finally:
            try:
                run.step(post_slowly(f"{reference}-more"))
            except BaseException:
                print("swallowed")
    return "swallowed"


@task(sites=[books])
def handle_rejection(run: Run, reference: str) -> str:
    """A script that handles the site's no."""
    try:
        return run.step(post(reference, "form")).number
    except Rejected as no:
        return f"{no.status}: {' '.join(no.texts)}"


@step(site=books)
def post_accepting(page: Page, reference: str) -> Gesture[Posted]:
    """Post an invoice where the button asks first."""
    return posting(page, books, reference, dialogs=[Accept(r"\?")])


@step(site=books)
def post_with_token(page: Page, reference: str) -> Gesture[Posted]:
    """Post an invoice to an address that holds a secret."""
    made = posting(page, books, reference)
    page.locator("form", has=page.get_by_label("Amount")).evaluate("form => { form.action += '?token=hunter2' }")
    return made


@task(sites=[books])
def post_one_with_token(run: Run, reference: str) -> str:
    """Post one invoice to an address that holds a secret."""
    return run.step(post_with_token(reference)).number


@task(sites=[books])
def post_with_dialog(run: Run, reference: str) -> str:
    """Post one invoice, saying yes to the dialog."""
    return run.step(post_accepting(reference)).number
