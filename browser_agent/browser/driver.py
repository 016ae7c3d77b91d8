"""Playwright's driver: the Node process that must start before a browser can be used."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

from playwright import async_api, sync_api

from browser_agent.errors import BrowserUnavailable, last_line

START_SECONDS = 30


@contextmanager
def sync_driver() -> Iterator[sync_api.Playwright]:
    """Start a driver with Playwright's sync API, and stop it on exit.

    Raises:
        BrowserUnavailable: the driver doesn't start.
    """
    try:
        playwright = sync_api.sync_playwright().start()
    except Exception as error:
        raise _start_error(error) from error
    try:
        yield playwright
    finally:
        playwright.stop()


@asynccontextmanager
async def async_driver() -> AsyncIterator[async_api.Playwright]:
    """Start a driver with Playwright's async API, and stop it on exit.

    Raises:
        BrowserUnavailable: the driver doesn't start.
    """
    try:
        playwright = await async_api.async_playwright().start()
    except Exception as error:
        raise _start_error(error) from error
    try:
        yield playwright
    finally:
        await playwright.stop()


def driver_failure() -> BrowserUnavailable | None:
    """Start the driver once, and return why that fails, or None."""
    command = [sys.executable, "-m", "playwright", "--version"]
    try:
        ended = subprocess.run(command, check=False, capture_output=True, text=True, timeout=START_SECONDS)
    except (OSError, subprocess.TimeoutExpired) as error:
        output = str(error)
    else:
        if ended.returncode == 0:
            return None
        output = ended.stderr or f"it ended with code {ended.returncode}"
    return BrowserUnavailable(f"Playwright's driver doesn't start: {last_line(output)}", output=output)


def _start_error(error: Exception) -> Exception:
    """Start the driver again to find out why: Playwright has no error type for a driver that doesn't start."""
    return driver_failure() or error
