"""Starts and ends Playwright's driver. A driver that doesn't start raises an error of its own type.

Playwright is imported by the functions, since that is slow and the command line imports this module to name the error.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager, contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.async_api import Playwright as AsyncPlaywright
    from playwright.sync_api import Playwright


class DriverDidNotStart(Exception):
    """Playwright's driver did not start, for want of a shared library, say."""


@asynccontextmanager
async def async_driver() -> AsyncIterator[AsyncPlaywright]:
    """The driver, for async code. Raises DriverDidNotStart."""
    from playwright.async_api import async_playwright

    async with AsyncExitStack() as stack:
        with _start():
            playwright = await stack.enter_async_context(async_playwright())
        yield playwright


@contextmanager
def driver() -> Iterator[Playwright]:
    """The driver, for sync code. Raises DriverDidNotStart."""
    from playwright.sync_api import sync_playwright

    with ExitStack() as stack:
        with _start():
            playwright = stack.enter_context(sync_playwright())
        yield playwright


@contextmanager
def _start() -> Iterator[None]:
    try:
        yield
    except Exception as error:  # Playwright raises a bare Exception where the driver ends at once
        raise DriverDidNotStart(str(error)) from error
