"""Tasks that ask a person before they post."""

from datetime import timedelta

from playwright.sync_api import Page

from browser_agent import Gesture, NotApproved, Run, step, task
from tests.scripts.posting import Posted, books, mail, posting, send


@step(site=books)
def post(page: Page, reference: str) -> Gesture[Posted]:
    """Post an invoice."""
    return posting(page, books, reference)


@step(site=books, approval=True)
def careful(page: Page, reference: str) -> Gesture[Posted]:
    """Post an invoice, which needs a yes."""
    return post.prepare(page, reference)


@task(sites=[books])
def post_approved(run: Run, references: list[str], hours: float = 1) -> list[str]:
    """Post what a person has approved; then try the others all the same."""
    calls = [post(reference) for reference in references]
    approved = run.approve("Post these?", calls, valid=timedelta(hours=hours))
    posted = [run.step(call).number for call in approved]
    for call in calls:
        if call not in approved:
            try:
                run.step(call)
            except NotApproved as no:
                posted.append(f"no, says {no.by}")
    return posted


@task(sites=[books])
def post_carefully(run: Run, reference: str) -> str:
    """Post by a step that needs a yes."""
    try:
        return run.step(careful(reference)).number
    except NotApproved as no:
        return f"no, says {no.by}"


@task(sites=[books, mail])
def mail_then_ask(run: Run, reference: str) -> list[str]:
    """Send a mail, ask a person, then post."""
    run.step(send(f"About {reference}"))
    calls = run.approve("The mail is sent. Post the invoice?", [post(reference)])
    return [run.step(call).number for call in calls]
