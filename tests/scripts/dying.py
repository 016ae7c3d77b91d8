"""Tasks for the acceptance tests whose worker dies each time, until a person has mended the cause, or whose browser
dies once."""

import os
import signal
from contextlib import suppress
from pathlib import Path

from playwright.sync_api import Error, Page

from browser_agent import Click, ConfirmationText, Gesture, Record, Run, Site, processes, step, task

books = Site("books", url="http://127.0.0.1:1", account="acme", signed_in='[data-account="acme"]')


plain = Site("books", url="http://127.0.0.1:1", account="acme")  # nobody asks its pages whose session they show


@step(site=books)
def post(page: Page, reference: str) -> Gesture[str]:
    """Post an invoice."""
    return posting(page, books, reference)


def posting(page: Page, site: Site, reference: str) -> Gesture[str]:
    """The gesture that posts an invoice."""
    page.goto(site / "invoices/new")
    page.get_by_label("Customer").fill("Contoso Ltd")
    page.get_by_label("Amount").fill("380.00")
    page.get_by_label("Reference").fill(reference)
    proof = [
        ConfirmationText(rf"Invoice (?P<value>\S+) posted for {reference}\b", key=reference),
        Record(
            site,
            "invoices",
            key={"Reference": reference},
            complete=True,
            count=r"(\d+) invoices?",
            reads={"value": "Number"},
        ),
    ]
    button = page.get_by_role("button", name="Post")
    return Click(button, intent=f"post invoice {reference}", sends="POST /invoices", proof=proof, gives=str)


@task(sites=[books])
def die_until_mended(run: Run, reference: str, mended: Path) -> str:
    """Post one invoice; die before it for as long as that file isn't there."""
    if not mended.exists():
        os.kill(os.getpid(), signal.SIGKILL)
    return run.step(post(reference))


@step(site=plain)
def post_after_a_death(page: Page, reference: str, died: str) -> Gesture[str]:
    """Post an invoice; the first time the browser dies when all is prepared."""
    gesture = posting(page, plain, reference)
    if not Path(died).exists():
        Path(died).touch()
        end_browser(page)
    return gesture


def end_browser(page: Page) -> None:
    """SIGKILL the page's browser; return when it is dead and Playwright knows."""
    browser = page.context.browser
    assert browser is not None
    found = browser.new_browser_cdp_session().send("SystemInfo.getProcessInfo")["processInfo"]
    pid = next(int(each["id"]) for each in found if each["type"] == "browser")
    os.kill(pid, signal.SIGKILL)
    while browser.is_connected() or processes.identify(pid) is not None:
        with suppress(Error):
            page.wait_for_timeout(50)


@task(sites=[plain])
def lose_the_browser(run: Run, reference: str, died: Path) -> str:
    """Post one invoice, in the second browser."""
    return run.step(post_after_a_death(reference, f"{died}"))
