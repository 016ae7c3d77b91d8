"""Tasks for the tests of sessions that end: at a site with a routine that signs in, and at one where a person does."""

import os
from datetime import timedelta

from playwright.sync_api import Page

from browser_agent import Gesture, Run, Secret, Site, login, step, task
from tests.scripts.posting import Posted, posting

late, mark = timedelta(seconds=2), '[data-account="acme"]'
books = Site("books", url="http://127.0.0.1:1", account="acme", signed_in=mark, late_commit=late)
manual = Site("manual", url="http://127.0.0.1:1", account="acme", signed_in=mark, late_commit=late)


@step(site=books)
def post(page: Page, reference: str) -> Gesture[Posted]:
    """Post an invoice where a routine signs in; a page that is not the form is not waited for."""
    page.set_default_timeout(2000)
    return posting(page, books, reference, settle=1.0)


@step(site=manual)
def post_manually(page: Page, reference: str) -> Gesture[Posted]:
    """Post an invoice where a person signs in."""
    page.set_default_timeout(2000)
    return posting(page, manual, reference, settle=1.0)


@step(site=books)
def count_invoices(page: Page) -> int:
    """How many invoices there are; a login page would have none."""
    page.goto(books / "invoices")
    return page.locator("tbody tr").count()


@login(site=books)
def sign_in(page: Page) -> None:
    """Sign in with what the environment holds."""
    page.goto(books / "invoices")
    page.get_by_label("Account").fill(books.account)
    page.get_by_label("Password").fill(Secret(os.environ["BOOKS_PASSWORD"], "BOOKS_PASSWORD").reveal())
    page.get_by_role("button", name="Sign in").click()
    page.locator(books.mark).first.wait_for()


@step(site=books)
def sign_in_once(page: Page) -> str:
    """Sign in as a step of the task."""
    sign_in(page)
    return "acme"


@task(sites=[books])
def post_and_count(run: Run, references: list[str]) -> list[int]:
    """Post invoices, and count them after each."""
    counts = []
    for reference in references:
        run.step(post(reference))
        counts.append(run.step(count_invoices(), key=reference))
    return counts


@task(sites=[books])
def sign_in_and_post(run: Run, references: list[str]) -> list[str]:
    """Sign in as a step, then post."""
    run.step(sign_in_once())
    return [run.step(post(reference)).number for reference in references]


@task(sites=[manual])
def post_by_hand(run: Run, reference: str) -> str:
    """Post one invoice where a person signs in."""
    return run.step(post_manually(reference)).number
