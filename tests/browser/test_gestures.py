"""Gestures on a real page: waiting for a control touches nothing, and making one is one input."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, Page

from browser_agent.errors import Refused
from browser_agent.kinds import Click, Press
from observers import ConfirmationText

# Every input that a page can see, the ones that come from a mouse over it included.
WITNESS = """<script>
window.seen = [];
for (const kind of ['pointerdown', 'pointermove', 'mousemove', 'mouseover', 'mousedown', 'click', 'focusin', 'keydown'])
    addEventListener(kind, event => seen.push(kind), true);
</script>"""


def click(target: Locator) -> Click[None]:
    made = Click(target, intent="post it", proof=[ConfirmationText("posted")])
    made.take()
    return made


def seen(page: Page) -> list[str]:
    found: list[str] = page.evaluate("seen")
    return found


LATE = "<button disabled>Post</button><script>setTimeout(() => document.querySelector('button').%s, 200)</script>"


@pytest.mark.parametrize(
    "html",
    [
        "<button>Post</button>",
        LATE % "disabled = false",
        LATE % "outerHTML = '<button>Post</button>'",  # drawn anew while it is waited for
    ],
)
def test_waiting_for_a_control_until_it_is_ready_touches_nothing(page: Page, html: str) -> None:
    page.set_content(WITNESS + html)
    click(page.get_by_role("button")).wait_actionable(5000)
    assert page.get_by_role("button").is_enabled()
    assert seen(page) == []


@pytest.mark.parametrize(
    ("html", "because"),
    [
        ("<button disabled>Post</button>", "button was not ready within 0.3 s"),
        ("<button style='display: none'>Post</button>", "was not ready within 0.3 s"),
        ("<button>Post</button><button>Save</button>", "button can't be used: strict mode violation"),
    ],
)
def test_a_control_that_can_not_be_used_is_refused_and_untouched(page: Page, html: str, because: str) -> None:
    page.set_content(WITNESS + html)
    with pytest.raises(Refused, match=because):
        click(page.locator("button")).wait_actionable(300)
    assert seen(page) == []


def test_a_refusal_does_not_quote_what_the_fields_hold(page: Page) -> None:
    page.set_content("<label>Name<input value=hunter2></label><label>Name<input value=hunter2></label>")
    with pytest.raises(Refused) as refused:
        click(page.get_by_label("Name")).wait_actionable(300)
    assert "hunter2" not in str(refused.value)


def test_a_page_that_is_gone_refuses_the_gesture(page: Page) -> None:
    gone = page.context.new_page()
    gone.close()
    with pytest.raises(Refused, match="closed"):
        click(gone.locator("button")).wait_actionable(300)


def test_making_a_click_is_one_click(page: Page) -> None:
    page.set_content(WITNESS + "<button>Post</button>")
    click(page.get_by_role("button")).make(5000)
    assert (seen(page).count("mousedown"), seen(page).count("click"), seen(page).count("keydown")) == (1, 1, 0)


def test_making_a_press_is_one_key(page: Page) -> None:
    page.set_content(WITNESS + "<input aria-label=Search>")
    press = Press(page.get_by_label("Search"), "Enter", intent="search", proof=[ConfirmationText("posted")])
    press.take()
    press.make(5000)
    assert (seen(page).count("keydown"), seen(page).count("click")) == (1, 0)
