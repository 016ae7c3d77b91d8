"""A task that orders at the shop, and hears of it by a toast."""

from playwright.sync_api import Page

from browser_agent import Click, Gesture, OrderStatus, Run, Site, ToastLog, step, task

shop = Site("shop", url="http://127.0.0.1:1", account="acme", signed_in='[data-account="acme"]')


@step(site=shop)
def order_tea(page: Page, reference: str) -> Gesture[str]:
    page.goto(shop / "orders/new")
    page.get_by_label("Reference").fill(reference)
    return Click(
        page.get_by_role("button", name="Order"),
        intent=f"order tea for {reference}",
        sends="POST /orders",
        proof=[
            ToastLog(r"Order (?P<value>\S+) received", key=reference),
            OrderStatus(
                shop,
                "orders",
                key={"Reference": reference},
                means={"Received": "happened", "Processing": "pending"},
                reads={"value": "Number"},
            ),
        ],
        gives=str,
    )


@task(sites=[shop])
def ordering(run: Run, reference: str) -> str:
    return run.step(order_tea(reference))
