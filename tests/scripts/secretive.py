"""A task that lets a secret loose in every way that a task can: typed, in addresses, echoed by the site, in errors."""

from datetime import timedelta

from playwright.sync_api import Error, Page

from browser_agent import Click, ConfirmationText, Gesture, Record, Run, Secret, Site, step, task

CARD = "4012 8888 8888 1881"
TOKEN = "sk_live_51Planted0Token9"
books = Site(
    "books",
    url="http://127.0.0.1:1",
    account="acme",
    signed_in='[data-account="acme"]',
    late_commit=timedelta(seconds=2),
)


@step(site=books)
def post(page: Page, reference: str, password: Secret) -> Gesture[str]:
    """Post an invoice whose contract is the secret: the site shows it in its list and on the invoice's page."""
    page.goto(books / "invoices/new" + f"?token={password.reveal()}")
    page.get_by_label("Customer").fill(f"Paid by {CARD} with {TOKEN}")
    page.get_by_label("Contract").fill(password.reveal())
    page.get_by_label("Amount").fill("380.00")
    page.get_by_label("Reference").fill(reference)
    form = page.locator("form", has=page.get_by_label("Amount"))
    form.evaluate("(form, word) => { form.action += '?key=' + encodeURIComponent(word) }", password.reveal())
    return Click(
        page.get_by_role("button", name="Post"),
        intent=f"post {reference} with {password.reveal()}",
        sends="POST /invoices",
        proof=[
            ConfirmationText(rf"Invoice (?P<value>\S+) posted for {reference}\b"),
            Record(
                books,
                "invoices",
                key={"Reference": reference},
                complete=True,
                count=r"(\d+) invoices?",
                reads={"value": "Number"},
            ),
        ],
        gives=str,
        settle=3.0,
    )


@step
def stumble(page: Page, password: Secret) -> str:
    """Have Playwright quote the secret in its errors."""
    said = []
    for wrong in (
        lambda: page.goto(f"http://ann:{password.reveal()}@127.0.0.1:1/x?token={password.reveal()}"),
        lambda: page.get_by_label("Nowhere").fill(password.reveal(), timeout=50),
        lambda: page.locator("form button").first.fill(password.reveal(), timeout=50),
    ):
        try:
            wrong()
        except Error as error:
            said.append(error.message)
    raise RuntimeError(f"could not use {password.reveal()}: {' '.join(said).replace(chr(10), ' ')}")


@task(sites=[books])
def let_loose(run: Run, reference: str, password: Secret) -> str:
    """Post one invoice, then stumble."""
    number = run.step(post(reference, password))
    run.step(stumble(password))
    return number


@task(sites=[books])
def number_is_a_card(run: Run, reference: str) -> str:
    """What would be proven is a card number."""
    return run.step(post_to_a_card(reference))


@step(site=books)
def post_to_a_card(page: Page, reference: str) -> Gesture[str]:
    """Post an invoice of which the customer is read, who is called like a card."""
    page.goto(books / "invoices/new")
    page.get_by_label("Customer").fill(CARD)
    page.get_by_label("Amount").fill("380.00")
    page.get_by_label("Reference").fill(reference)
    return Click(
        page.get_by_role("button", name="Post"),
        intent=f"post {reference}",
        sends="POST /invoices",
        proof=[
            Record(
                books,
                "invoices",
                key={"Reference": reference},
                complete=True,
                count=r"(\d+) invoices?",
                reads={"value": "Customer"},
            )
        ],
        gives=str,
        settle=3.0,
    )
