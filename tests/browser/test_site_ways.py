"""How the fixture sites show that something was done, seen in a browser: what is there for a moment, and what stays."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Error, FrameLocator, Page, Playwright, expect

from browser_agent.browser.chromium import Chromium
from browser_agent.browser.guarded_browser import HELPER_ADDRESS
from browser_agent.browser.screenshot import Picture, capture
from browser_agent.testing import Bank, FaultProxy, Shop, Wizard
from tests.fix_guard import Guard, wait

SENTENCE = "Order O-1 received for R-1"


@pytest.fixture
def shop() -> Iterator[Shop]:
    with Shop() as site:
        yield site


@pytest.fixture
def bank() -> Iterator[Bank]:
    with Bank() as site:
        site.ask_in_frame = True
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


# The bank, whose payment is asked for by another origin


def begin_payment(page: Page, address: str, by: str) -> FrameLocator:
    """Fill a transfer and press "Pay"; the frame that asks."""
    page.goto(f"{address}/transfers/new?by={by}")
    page.get_by_label("IBAN").fill("DE89370400440532013000")
    page.get_by_label("Amount").fill("100.00")
    page.get_by_label("Remark").fill("R-1")
    page.get_by_role("button", name="Pay").click()
    frame = page.frame_locator("iframe")
    expect(frame.get_by_role("button", name="Confirm")).to_be_visible()
    return frame


@pytest.mark.parametrize("by", ["form", "fetch"])
def test_the_frame_of_another_origin_makes_the_post_that_pays(page: Page, bank: Bank, by: str) -> None:
    frame = begin_payment(page, bank.url, by)
    assert bank.transfers == []
    assert page.frames[1].url.startswith(f"{bank.challenge.url}/ask/")
    with pytest.raises(Error, match="Blocked a frame"):
        page.evaluate("frames[0].document.title")
    with page.expect_request("**/transfers") as posted:
        frame.get_by_role("button", name="Confirm").click()
    assert (posted.value.method, posted.value.frame) == ("POST", page.frames[1])
    assert posted.value.all_headers()["origin"] == bank.challenge.url
    expect(frame.get_by_text("accepted for processing")).to_be_visible()
    assert [transfer.remark for transfer in bank.transfers] == ["R-1"]


@pytest.mark.parametrize("by", ["form", "fetch"])
def test_the_gate_holds_what_the_frame_posts_and_lets_it_go_once(
    till_browser: Browser, guard: Guard, bank: Bank, by: str
) -> None:
    page = till_browser.contexts[0].new_page()
    with FaultProxy(bank.url) as road:
        road.fault("drop_after_commit", "POST /transfers")
        frame = begin_payment(page, road.url, by)
        assert guard.arm("POST /transfers")
        frame.get_by_role("button", name="Confirm").click(no_wait_after=True)
        wait(page, lambda: any(fact.declared and fact.error for fact in guard.report.facts))
        assert guard.released == [f"POST {road.url}/transfers"]
        assert guard.report.guarded
        guard.disarm()
        page.close()
    assert len(bank.transfers) == 1, "the browser has sent it once, though its connection died"


@pytest.mark.parametrize("by", ["form", "fetch"])
def test_what_the_gate_refuses_to_the_frame_is_not_paid(
    till_browser: Browser, guard: Guard, bank: Bank, by: str
) -> None:
    page = till_browser.contexts[0].new_page()
    frame = begin_payment(page, bank.url, by)
    assert guard.arm("POST /transfers")
    guard.refuse("nothing may leave")
    frame.get_by_role("button", name="Confirm").click(no_wait_after=True)
    wait(page, lambda: any(fact.refused for fact in guard.report.facts))
    guard.disarm()
    page.close()
    assert bank.transfers == []


def test_a_page_with_a_frame_is_photographed_after_the_session_was_read(
    chromium: Chromium, playwright: Playwright, bank: Bank
) -> None:
    keeper = Guard(chromium)
    browser = playwright.chromium.connect_over_cdp(chromium.endpoint)
    page = next(page for page in browser.contexts[0].pages if page.url != HELPER_ADDRESS)
    frame = begin_payment(page, bank.url, "form")
    capture(page, 10.0, lambda webp: "kept")
    keeper.remember_state()
    frame.get_by_role("button", name="Confirm").click()
    expect(frame.get_by_text("accepted for processing")).to_be_visible()
    taken = capture(page, 10.0, lambda webp: "kept")
    keeper.close()
    assert isinstance(taken, Picture) and taken.how == "chromium", taken


# The wizard


def test_the_wizard_saves_what_is_typed_and_a_reload_posts_again(page: Page) -> None:
    with Wizard() as wizard:
        page.goto(f"{wizard.url}/apply/1")
        page.get_by_label("Name").fill("Ann")
        expect(page.get_by_text("Draft saved")).to_be_visible()
        assert [draft["name"] for draft in wizard.drafts] == ["Ann"]
        page.get_by_role("button", name="Next").click()
        page.get_by_label("Reference").fill("R-1")
        page.get_by_role("button", name="Next").click()
        page.reload()
        assert [asked.path for asked in wizard.ledger.writes if asked.path.startswith("/apply")] == [
            "/apply/2", "/apply/3", "/apply/3",
        ]  # fmt: skip
        page.get_by_label("Amount").fill("10.00")
        page.get_by_role("button", name="Next").click()
        wizard.answer_post_in_place = True
        page.get_by_role("button", name="Submit").click()
        expect(page.get_by_text("Application W-1 submitted for R-1")).to_be_visible()
        page.reload()
        assert len(wizard.applications) == 2, "a reload of the answer submits again"
