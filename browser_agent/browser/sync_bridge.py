"""Playwright's async API for its sync objects, so that one gate serves the keeper and a task's own process.

Playwright's two APIs wrap the same objects on one event loop, which runs while a sync call waits. Playwright has no
public way to get from one wrapper to the other. This is the only module that uses its private names, and
`tests/browser/test_sync_bridge.py` pins them. (An object passed from one API to the other must be used by us alone:
the wrapper created first is kept for both.)
"""

from __future__ import annotations

from collections.abc import Coroutine
from typing import Any, TypeVar

from playwright.async_api import CDPSession as AsyncSession
from playwright.async_api import Page as AsyncPage
from playwright.sync_api import CDPSession, Page

T = TypeVar("T")


def async_session(session: CDPSession) -> AsyncSession:
    """The session, wrapped for async code."""
    return AsyncSession(session._impl_obj)


def async_page(page: Page) -> AsyncPage:
    """The page, wrapped for async code; only for methods that return plain values, such as `evaluate`."""
    return AsyncPage(page._impl_obj)


def run(page: Page, work: Coroutine[Any, Any, T]) -> T:
    """Run async work on the loop of the page's Playwright, and return its result. Never call it from a page's event."""
    result: T = page._sync(work)
    return result
