"""Dialogs while a gesture is made: declared ones are accepted, others dismissed and remembered, leaving is accepted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest
from playwright.sync_api import Playwright

from browser_agent.browser.chromium import Chromium
from browser_agent.browser.task_page import ALERT_SECONDS, TaskPage
from browser_agent.script.gestures import Accept

ASKS = "<button onclick=\"window.said = %s; document.body.append('over')\">Post</button>"


@pytest.fixture(scope="module")
def quiet_chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chromium]:
    """One that nobody else is attached to: a connection that does not listen dismisses our dialogs (measured)."""
    chromium = Chromium.start(tmp_path_factory.mktemp("quiet") / "profile")
    yield chromium
    chromium.end()


@pytest.fixture
def task_page(playwright: Playwright, quiet_chromium: Chromium) -> Iterator[TaskPage]:
    task_page = TaskPage.attached(playwright, quiet_chromium.endpoint, None, lambda content, kind: "")
    yield task_page
    task_page.page.goto("about:blank")
    task_page.browser.close()


def clicked(task_page: TaskPage, ask: str, accepts: Sequence[Accept] = ()) -> object:
    """What the page was answered, when its button has asked."""
    task_page.page.set_content(ASKS % ask)
    with task_page.dialogs_in_order([accept.matches for accept in accepts]):
        task_page.page.get_by_role("button").click()
    task_page.page.get_by_text("over").wait_for()
    return task_page.page.evaluate("said ?? null")


@pytest.mark.parametrize(("ask", "no"), [("confirm('Really post?')", False), ("prompt('Really post?', 'so')", None)])
def test_a_question_that_nobody_declared_is_answered_no_and_remembered(
    task_page: TaskPage, ask: str, no: object
) -> None:
    assert clicked(task_page, ask, [Accept("Delete")]) == no
    assert task_page.dialogs == ["Really post?"]


@pytest.mark.parametrize(
    ("ask", "yes"),
    [("confirm('Really post?')", True), ("prompt('Really post?', 'so')", "so"), ("prompt('Really post?')", "")],
)
def test_a_declared_question_is_answered_yes_with_what_the_page_proposes(
    task_page: TaskPage, ask: str, yes: object
) -> None:
    assert clicked(task_page, ask, [Accept(r"Really post\?")]) == yes
    assert task_page.dialogs == []


def test_an_alert_is_closed_and_remembered_a_little_later(task_page: TaskPage, monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1000.0
    monkeypatch.setattr("browser_agent.browser.task_page.monotonic", lambda: now)
    clicked(task_page, "alert('The amount is missing')")
    assert task_page.dialogs == []
    now += ALERT_SECONDS
    assert task_page.dialogs == ["The amount is missing"]


def test_a_declared_alert_is_not_remembered(task_page: TaskPage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("browser_agent.browser.task_page.ALERT_SECONDS", 0.0)
    clicked(task_page, "alert('Posted')", [Accept("Posted")])
    assert task_page.dialogs == []


def test_the_next_gesture_begins_without_what_the_last_one_asked(task_page: TaskPage) -> None:
    clicked(task_page, "confirm('Really post?')")
    clicked(task_page, "1")
    assert task_page.dialogs == []


def test_leaving_the_page_is_accepted_and_not_remembered(task_page: TaskPage) -> None:
    leave = "<script>addEventListener('beforeunload', event => event.preventDefault())</script>"
    task_page.page.set_content(f"{leave}<a href='about:blank?left'>Post</a>")
    task_page.page.mouse.click(400, 400)  # a page that nobody has touched may not ask
    with task_page.dialogs_in_order([]):
        task_page.page.get_by_role("link").click()
        task_page.page.wait_for_url("about:blank?left")
    assert task_page.dialogs == []
