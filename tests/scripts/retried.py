"""A task that somebody has wrapped in "try it three times", as they do around clicks elsewhere."""

from playwright.sync_api import Page

from browser_agent import Gesture, Run, step, task
from tests.scripts.posting import Posted, confirmation, posting, slow


@step(site=slow)
def post_blind(page: Page, reference: str) -> Gesture[Posted]:
    """Post an invoice that only its answer can prove."""
    return posting(page, slow, reference, proof=[confirmation(reference)], settle=1.0)


@task(sites=[slow])
def post_three_times(run: Run, reference: str, catches: str) -> str:
    """Post one invoice, and try again whatever happens."""
    caught = {"Exception": Exception, "BaseException": BaseException}[catches]
    for _ in range(3):
        try:
            return run.step(post_blind(reference)).number
        except caught:
            continue
    return "gave up"
