"""The picture of the page after a settled gesture, and what changed since the one before it."""

from __future__ import annotations

import json
from typing import Any

from browser_agent.browser.image import NotAPicture, what_changed
from browser_agent.browser.screenshot import NoPicture, Picture
from browser_agent.errors import StoreUnusable, UnknownName
from browser_agent.run.attempt import Attempt

MIN_CHANGE = 0.005
"""Share of pixels, 0 to 1. A smaller change is a hover effect."""
SETTLE_SECONDS = 0.4


def after_picture(attempt: Attempt, before: str | None) -> dict[str, Any]:
    """Take the picture, once more if the page has hardly changed: a script may draw its new view a moment later.

    Args:
        attempt: the attempt whose task's page is shown.
        before: digest of the picture before the gesture.

    Returns:
        The columns of the gesture's row: `after`, the picture's digest; `change`, JSON of what changed, or of why
        there is no picture.
    """
    taken = attempt.task_page.picture()
    change = _change(attempt, before, taken)
    if _is_unsettled(change):
        attempt.sleep(SETTLE_SECONDS)
        taken = attempt.task_page.picture()
        change = _change(attempt, before, taken)
        change |= {"unsettled": True} if _is_unsettled(change) else {}
    if isinstance(taken, NoPicture):
        return {"change": json.dumps({"no_picture": taken.reason})}
    return {"after": taken.digest, "change": json.dumps(change) if change else None}


def _is_unsettled(change: dict[str, Any]) -> bool:
    return bool(change.get("ratio", 1.0) < MIN_CHANGE)


def _change(attempt: Attempt, before: str | None, after: Picture | NoPicture) -> dict[str, Any]:
    """What changed between the pictures; empty if they can't be compared."""
    if not isinstance(after, Picture):
        return {}
    empty = {"one_colour": True} if after.one_colour else {}
    try:
        change = what_changed(attempt.store.artifacts.read(before)[0], after.webp) if before else None
    except (NotAPicture, UnknownName, StoreUnusable):
        change = None
    if change is None:
        return empty
    box = [change.box.left, change.box.top, change.box.right, change.box.bottom] if change.box else None
    return {"ratio": change.ratio, "box": box, **empty}
