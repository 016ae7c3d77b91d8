"""A task whose own listener answers when the browser asks whether to leave the page."""

from playwright.sync_api import Page

from browser_agent import Gesture, Refused, Run, step, task
from tests.scripts.posting import Posted, books, post


@step(site=books, refusals=0)
def post_leaving(page: Page, reference: str, on: str, answer: str) -> Gesture[Posted]:
    """Post an invoice from a page that asks whether to leave it."""
    listens = page if on == "page" else page.context
    listens.on("dialog", lambda dialog: dialog.accept() if answer == "leave" else dialog.dismiss())
    gesture = post.prepare(page, reference, "form")
    page.evaluate("addEventListener('beforeunload', event => event.preventDefault())")
    return gesture


@task(sites=[books])
def leave_then_post(run: Run, on: str, answer: str) -> list[str]:
    """Post where it is asked whether to leave, then where nothing is asked."""
    said = []
    for call in (post_leaving("R-1", on, answer), post("R-2", "form")):
        try:
            said.append(run.step(call).number)
        except Refused as refused:
            said.append(refused.because)
    return said
