"""A task that orders at the shop and looks for a sentence; its list is neither complete nor known by one key."""

from playwright.sync_api import Page

from browser_agent import Click, ConfirmationText, Gesture, Record, Run, Site, step, task

shop = Site("shop", url="http://127.0.0.1:1", account="acme", signed_in='[data-account="acme"]')


@step(site=shop)
def order(page: Page, reference: str, by: str, *, says: str, key: str | None, answer: bool) -> Gesture[None]:
    """Order tea."""
    page.goto(shop / f"orders/new?by={by}")
    page.get_by_label("Reference").fill(reference)
    return Click(
        page.get_by_role("button", name="Order"),
        intent=f"order tea for {reference}",
        sends="POST /orders",
        proof=[
            ConfirmationText(says, key=key, answer=answer),
            Record(shop, "orders", key={"Reference": reference, "Article": "A-10"}),
        ],
        settle=2.0,
    )


@task(sites=[shop])
def confirming(run: Run, reference: str, by: str, *, says: str, key: str | None = None, answer: bool = False) -> None:
    """Place one order."""
    run.step(order(reference, by, says=says, key=key, answer=answer))
