"""A task that orders at the shop, and hears of it in ways that are gone a moment later."""

from playwright.sync_api import Page

from browser_agent import Click, Download, Gesture, NewPage, OrderStatus, Run, Site, ToastLog, step, task

shop = Site("shop", url="http://127.0.0.1:1", account="acme", signed_in='[data-account="acme"]')


@step(site=shop)
def order_tea(page: Page, way: str, reference: str, listed: bool) -> Gesture[str]:
    page.context.request.post(shop / "_control", data={"confirm_by": {"way": way}})
    page.goto(shop / "orders/new")
    page.get_by_label("Reference").fill(reference)
    heard = [
        ToastLog(r"Order (?P<value>\S+) received", key=reference),
        NewPage(r"Receipt for order (?P<value>\S+)", key=reference),
        Download(r"receipt-(?P<value>\S+)\.csv", key=reference),
    ]
    status = OrderStatus(
        shop,
        "orders",
        key={"Reference": reference},
        means={"Received": "happened", "Processing": "pending"},
        reads={"value": "Number"},
    )
    return Click(
        page.get_by_role("button", name="Order"),
        intent=f"order tea for {reference}",
        sends="POST /orders",
        proof=[*heard, status] if listed else heard,
        gives=str,
    )


@task(sites=[shop])
def hearing(run: Run, ways: list[str], listed: bool) -> list[str]:
    return [run.step(order_tea(way, f"R-{way}", listed)) for way in ways]
