"""A site's refusal by its form: the answer is the page with the same control again, and an error.

It lets a proven absence be believed although the site answered below 400. It proves nothing alone: a page may show an
error beside what it has saved.
"""

from __future__ import annotations

from typing import Any

from playwright.sync_api import Error

from browser_agent.browser.deadline import DeadlinePassed, within
from browser_agent.browser.error_texts import errors
from browser_agent.run.attempt import Attempt
from browser_agent.script.gestures import Gesture
from browser_agent.wire import WireReport

READ_SECONDS = 2.0


def errors_of_returned_form(attempt: Attempt, gesture: Gesture[Any], wire: WireReport) -> tuple[str, ...]:
    """The errors on the acting page, if it is the answer to the commit request and holds the same control again.

    Args:
        attempt: the attempt that made the gesture.
        gesture: the gesture.
        wire: what the gate saw of it.

    Returns:
        The errors; none if it is another page, or if that can't be told.
    """
    if wire.commit is None or not (attempt.browser_alive() and attempt.task_page.answer_of_post):
        return ()
    with attempt.task_page.view(attempt.clock.now, None) as view:
        page = view.current
    if page is None or page.born is None or page.born < wire.commit.at or not _is_there(gesture):
        return ()
    return tuple(errors(attempt.task_page.page, READ_SECONDS))


def _is_there(gesture: Gesture[Any]) -> bool:
    try:
        return within(READ_SECONDS, gesture.target.count) == 1
    except (Error, DeadlinePassed):
        return False
