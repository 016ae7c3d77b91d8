"""A task that reads how its browser appears, and asks for leave to change something that it never changes."""

from typing import Any

from playwright.sync_api import Page, TimeoutError

from browser_agent import Click, ConfirmationText, Gesture, Run, Site, step, task

books = Site("books", url="http://127.0.0.1:1", account="acme")

SEEN = """() => ({
    language: navigator.language, number: (1234.5).toLocaleString(),
    zone: Intl.DateTimeFormat().resolvedOptions().timeZone, width: innerWidth, height: innerHeight,
})"""


@step(site=books)
def look_at_itself(page: Page) -> dict[str, Any]:
    """How a page of the run sees its own browser."""
    page.goto(books / "shipments")
    found: dict[str, Any] = page.evaluate(SEEN)
    try:
        page.get_by_text("nowhere").wait_for()
    except TimeoutError as error:
        found["gave_up"] = error.message.splitlines()[0]
    return found


@step(site=books)
def post(page: Page, reference: str) -> Gesture[None]:
    """Never made: a person says no first."""
    return Click(
        page.get_by_role("button"), intent=f"post {reference}", proof=[ConfirmationText(reference, key=reference)]
    )


@task(sites=[books])
def appear_and_ask(run: Run, reference: str) -> dict[str, Any]:
    """How the run's page appears; one call is put before a person."""
    seen = run.step(look_at_itself())
    for call in run.approve("Post this?", [post(reference)]):
        run.step(call)
    return seen
