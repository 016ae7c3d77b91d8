"""The async face of Playwright's sync objects, so that one gate serves the keeper and a task's own process.

Playwright's two interfaces are two faces of the same objects on one event loop, which runs while a call of the sync
one waits. It offers no public way from one face to the other: this is the only place that uses its private names, and
`tests/browser/test_sync_bridge.py` pins them. (An object that is handed from one to the other must be ours alone: the
face that sees it first is kept for both.)
"""

from __future__ import annotations

from collections.abc import Coroutine
from typing import Any, TypeVar

from playwright.async_api import CDPSession as AsyncSession
from playwright.async_api import Page as AsyncPage
from playwright.sync_api import CDPSession, Page

T = TypeVar("T")


def async_session(session: CDPSession) -> AsyncSession:
    """The session for code that awaits."""
    return AsyncSession(session._impl_obj)


def async_page(page: Page) -> AsyncPage:
    """The page for code that awaits: for what gives plain values, such as `evaluate`."""
    return AsyncPage(page._impl_obj)


def run(page: Page, work: Coroutine[Any, Any, T]) -> T:
    """Run async work on the loop of the page's Playwright, and return what it gives; never from a page's event."""
    result: T = page._sync(work)
    return result
