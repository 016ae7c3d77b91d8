"""Real Chromiums of our own, each ended and confirmed dead when its test is over.

`playwright` is pytest-playwright's: a thread can have only one, so nobody starts another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, Playwright

from browser_agent.browser.chromium import Chromium

StartChromium = Callable[..., Chromium]


@pytest.fixture
def start_chromium(tmp_path: Path) -> Iterator[StartChromium]:
    """Starts as many as a test wants: `start_chromium("name", extra=[...])`."""
    started: list[Chromium] = []

    def start(name: str = "profile", *, extra: tuple[str, ...] = ()) -> Chromium:
        started.append(Chromium.start(tmp_path / name, extra=extra))
        return started[-1]

    yield start
    for each in started:
        each.end()


@pytest.fixture
def chromium(start_chromium: StartChromium) -> Chromium:
    """A fresh one, for a test that ends it or needs its cookies clean."""
    return start_chromium()


@pytest.fixture(scope="session")
def shared_chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chromium]:
    """One for all tests that leave it as they found it.

    None attaches to it a second time: from then on every download would go to that connection.
    """
    chromium = Chromium.start(tmp_path_factory.mktemp("shared") / "profile")
    yield chromium
    chromium.end()


@pytest.fixture(scope="session")
def attached(playwright: Playwright, shared_chromium: Chromium) -> Browser:
    return playwright.chromium.connect_over_cdp(shared_chromium.endpoint)


@pytest.fixture
def page(attached: Browser) -> Iterator[Page]:
    """A new page in the DEFAULT context of the shared Chromium, as a run has it; no cookies."""
    context = attached.contexts[0]
    context.clear_cookies()
    page = context.new_page()
    yield page
    page.close()
