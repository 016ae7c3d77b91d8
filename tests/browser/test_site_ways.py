"""How the fixture sites show that something was done, seen in a browser: what is there for a moment, and what stays."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from fixtures import Shop

SENTENCE = "Order O-1 received for R-1"


@pytest.fixture
def shop() -> Iterator[Shop]:
    with Shop() as site:
        yield site


def fill(page: Page, shop: Shop, by: str) -> None:
    page.goto(f"{shop.url}/orders/new?by={by}")
    page.get_by_label("Article").select_option("A-20")
    page.get_by_label("Reference").fill("R-1")


def order(page: Page) -> None:
    page.get_by_role("button", name="Order").click()


@pytest.mark.parametrize("by", ["form", "fetch"])
def test_a_toast_is_gone_by_itself_and_leaves_no_word_of_the_order(page: Page, shop: Shop, by: str) -> None:
    shop.confirm_by("toast")
    fill(page, shop, by)
    order(page)
    expect(page.get_by_text(SENTENCE)).to_be_visible()
    expect(page.get_by_text(SENTENCE)).to_have_count(0, timeout=5000)
    assert "O-1" not in page.inner_text("body")
    assert len(shop.orders) == 1


@pytest.mark.parametrize("by", ["form", "fetch"])
def test_a_receipt_comes_in_a_tab_that_closes_itself_while_the_old_one_stays(page: Page, shop: Shop, by: str) -> None:
    shop.confirm_by("tab")
    fill(page, shop, by)
    before = (page.url, page.inner_text("main"))
    with page.expect_popup() as opened:
        order(page)
    receipt = opened.value
    receipt.wait_for_load_state()
    assert SENTENCE in receipt.inner_text("main")
    if not receipt.is_closed():
        receipt.wait_for_event("close")
    assert (page.url, page.inner_text("main")) == before
    assert len(shop.orders) == 1


@pytest.mark.parametrize(("by", "way"), [("form", "csv"), ("fetch", "text")])
def test_a_receipt_is_downloaded_and_the_page_says_nothing(page: Page, shop: Shop, by: str, way: str) -> None:
    shop.confirm_by("csv" if way == "csv" else "text")
    fill(page, shop, by)
    before = page.inner_text("main")
    with page.expect_download() as begun:
        order(page)
    content = begun.value.path().read_text()
    assert begun.value.suggested_filename == f"receipt-O-1.{'csv' if way == 'csv' else 'txt'}"
    assert "O-1" in content and "R-1" in content
    assert page.inner_text("main") == before
    assert len(shop.orders) == 1


@pytest.mark.parametrize("by", ["form", "fetch"])
def test_a_view_takes_the_place_of_the_old_one_without_a_navigation(page: Page, shop: Shop, by: str) -> None:
    shop.confirm_by("view")
    fill(page, shop, by)
    page.evaluate("window.mark = 'the same document'")
    order(page)
    expect(page.get_by_text(SENTENCE)).to_be_visible()
    assert page.url.endswith("/orders/O-1")
    assert page.get_by_label("Reference").count() == 0
    assert page.evaluate("window.mark") == "the same document"
