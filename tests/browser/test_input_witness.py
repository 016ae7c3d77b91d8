"""The witness sees trusted input wherever it lands, and says nothing where it can't vouch for that."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, Playwright

from browser_agent.browser.chromium import Chromium
from browser_agent.browser.input_witness import Witness

BUTTON = "<button>Post</button>"
FRAME = f'<iframe srcdoc="{BUTTON}"></iframe>'
SHADOW = f"<div><template shadowrootmode=open>{BUTTON}</template></div>"


def armed(page: Page, html: str = BUTTON) -> Witness:
    """A witness of a page with that content."""
    page.set_content(html)
    witness = Witness(page)
    witness.arm()
    return witness


@pytest.mark.parametrize("html", [BUTTON, FRAME, SHADOW, f'<iframe srcdoc="{SHADOW}"></iframe>'])
def test_a_click_is_seen_in_the_page_in_frames_and_in_shadow_roots(page: Page, html: str) -> None:
    witness = armed(page, html)
    assert witness.seen() is False
    place = page.frame_locator("iframe") if "iframe" in html else page
    place.get_by_role("button").click()
    assert witness.seen() is True


def test_what_a_page_does_by_itself_is_no_input(page: Page) -> None:
    witness = armed(page)
    page.evaluate("document.querySelector('button').click()")
    page.mouse.move(300, 300)
    assert witness.seen() is False


def test_a_witness_that_is_armed_again_begins_anew(page: Page) -> None:
    witness = armed(page)
    page.get_by_role("button").click()
    witness.arm()
    assert witness.seen() is False
    page.get_by_role("button").press("Enter")
    assert witness.seen() is True


MAKE_FRAME = f"document.body.insertAdjacentHTML('beforeend', `{FRAME}`)"


@pytest.mark.parametrize(
    "meanwhile",
    [
        MAKE_FRAME,
        "document.querySelector('iframe').remove()",
        "document.querySelector('iframe').srcdoc = 'other'",
        "document.querySelector('iframe').contentDocument.write('<p>other</p>')",
        "location = 'about:blank?2'",
        "document.open(); document.write('<button>Post</button>'); document.close()",
    ],
)
def test_a_page_whose_frames_are_no_longer_the_same_leaves_the_witness_without_a_word(
    page: Page, meanwhile: str
) -> None:
    witness = armed(page, BUTTON + FRAME)
    page.evaluate(f"() => {{ {meanwhile} }}")
    page.wait_for_timeout(200)
    assert witness.seen() is None


def test_a_page_that_was_opened_meanwhile_leaves_the_witness_without_a_word(page: Page) -> None:
    witness = armed(page)
    with page.expect_popup() as opened:
        page.evaluate("open('about:blank')")
    assert witness.seen() is None
    opened.value.close()


def test_a_page_that_hangs_leaves_the_witness_without_a_word(page: Page, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("browser_agent.browser.input_witness.SECONDS", 0.3)
    witness = armed(page)
    page.evaluate("setTimeout(() => { const end = Date.now() + 3000; while (Date.now() < end); }, 50)")
    page.wait_for_timeout(150)
    assert (witness.answers(), witness.seen()) == (False, None)
    unarmed = Witness(page)
    unarmed.arm()
    page.wait_for_timeout(3500)
    assert unarmed.answers() and unarmed.seen() is None


def test_whoever_attaches_anew_arms_a_witness_of_its_own(playwright: Playwright, chromium: Chromium) -> None:
    # Not the shared one: a Chromium hands each download to whoever attached last, and its folder goes when it leaves.
    page = playwright.chromium.connect_over_cdp(chromium.endpoint).contexts[0].new_page()
    armed(page)
    page.evaluate("document.title = 'the one'")
    again = playwright.chromium.connect_over_cdp(chromium.endpoint)
    same = next(other for other in again.contexts[0].pages if other.title() == "the one")
    witness = Witness(same)
    witness.arm()
    same.get_by_role("button").click()
    assert witness.seen() is True
    again.close()
