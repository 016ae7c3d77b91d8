"""Tasks for the acceptance tests whose steps hang, in each way that a step can."""

import time
from pathlib import Path

from playwright.sync_api import Page

from browser_agent import Gesture, Run, step, task
from tests.scripts.posting import Posted, books, post, posting

FOR_EVER = 3600


def hang(page: Page, way: str) -> None:
    """Never come back."""
    if way == "sleep":
        time.sleep(FOR_EVER)
    elif way == "wait":
        page.wait_for_timeout(FOR_EVER * 1000)
    elif way == "script":
        page.evaluate("() => { while (true) {} }")
    elif way == "draft":
        page.evaluate("address => { fetch(address, {method: 'POST'}) }", books / "draft")
        time.sleep(FOR_EVER)


@step(site=books)
def post_hanging(page: Page, reference: str, way: str, mended: str) -> Gesture[Posted]:
    """Post an invoice; hang before it, once the page is filled, the first time."""
    gesture = posting(page, books, reference)
    if not Path(mended).exists():
        Path(mended).touch()
        gesture.take()
        hang(page, way)
    return gesture


@step(site=books)
def post_deaf(page: Page, reference: str) -> Gesture[Posted]:
    """Post an invoice; hang when its answer has come."""
    gesture = posting(page, books, reference)
    page.on("framenavigated", lambda _: time.sleep(FOR_EVER))
    return gesture


@step(site=books)
def post_patiently(page: Page, reference: str) -> Gesture[Posted]:
    """Post an invoice, and wait long for its proof."""
    return posting(page, books, reference, settle=60.0)


@step(site=books)
def read_for_ever(page: Page, reference: str) -> str:
    """Read a page that is never ready."""
    page.goto(books / "invoices")
    hang(page, "wait")
    return reference


@task(sites=[books])
def hang_before(run: Run, reference: str, way: str, mended: str) -> str:
    """Hang before the gesture, once."""
    return run.step(post_hanging(reference, way, mended)).number


@task(sites=[books])
def hang_after(run: Run, reference: str) -> str:
    """Hang after the gesture."""
    return run.step(post_deaf(reference)).number


@task(sites=[books])
def wait_long(run: Run, reference: str) -> str:
    """A step that waits, and does not hang."""
    return run.step(post_patiently(reference)).number


@task(sites=[books])
def hang_always(run: Run, reference: str) -> str:
    """Post, and hang in the next step each time."""
    run.step(post(reference, "form"))
    return run.step(read_for_ever(reference))
