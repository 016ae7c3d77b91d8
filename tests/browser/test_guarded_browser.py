"""Attaching to a Chromium that takes its time: as one does on a machine under load."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.async_api import async_playwright

from browser_agent.browser.chromium import Chromium
from browser_agent.browser.guarded_browser import ATTACH_SECONDS, NEW_SECONDS, GuardedBrowser
from browser_agent.states import Point


async def nothing(gesture: str, method: str, address: str) -> None:
    """There is no run."""


async def nowhere(point: Point, gesture: str) -> None:
    """Nothing is struck."""


def attached(chromium: Chromium, seconds: float) -> bool:
    """Whether a keeper could attach, in a thread of its own."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(lambda: asyncio.run(_attached(chromium, seconds))).result()


async def _attached(chromium: Chromium, seconds: float) -> bool:
    async with async_playwright() as playwright:
        held = await GuardedBrowser.attach(playwright, chromium, release=nothing, reach=nowhere, seconds=seconds)
        return held is not None


@pytest.fixture
def chromium(tmp_path: Path) -> Iterator[Chromium]:
    started = Chromium.start(tmp_path / "profile")
    yield started
    started.discard()


@contextmanager
def stopped(chromium: Chromium, seconds: float) -> Iterator[None]:
    """Its main process does nothing for so long."""
    pid = chromium.identity.process.pid
    os.kill(pid, signal.SIGSTOP)
    timer = threading.Timer(seconds, lambda: os.kill(pid, signal.SIGCONT))
    timer.start()
    try:
        yield
    finally:
        timer.join()


def test_a_new_browser_is_waited_for_longer_than_one_that_may_have_a_hanging_page(chromium: Chromium) -> None:
    with stopped(chromium, 2 * ATTACH_SECONDS):
        assert attached(chromium, NEW_SECONDS)
