"""The page itself sees what was wished for: language, time zone, viewport, proxy; and an observer's fresh page too."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import psutil
import pytest
from playwright.async_api import Page, async_playwright
from playwright.sync_api import Browser
from playwright.sync_api import Page as SyncPage

from browser_agent.browser.appearance import LOOK_HEIGHT, Appearance
from browser_agent.browser.guarded_browser import GuardedBrowser
from browser_agent.browser.task_page import TaskPage
from browser_agent.clock import SystemClock
from observers.reading import LookFailed

WISHED = Appearance(locale="de-DE", time_zone="Asia/Tokyo", viewport=(900, 700))
SEEN = """() => ({
    language: navigator.language, number: (1234.5).toLocaleString(),
    zone: Intl.DateTimeFormat().resolvedOptions().timeZone, size: [innerWidth, innerHeight],
    accepts: document.body.textContent.trim(),
})"""


class Echo(BaseHTTPRequestHandler):
    """Says which languages a request accepts; as a proxy it is asked for whole addresses, and notes them."""

    asked: list[str]

    def do_GET(self) -> None:
        self.asked.append(self.path)
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(self.headers.get("Accept-Language", "").encode())

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def echo() -> Iterator[tuple[str, list[str]]]:
    """Its address, and what it was asked for."""
    asked: list[str] = []
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("OneEcho", (Echo,), {"asked": asked}))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}", asked
    server.shutdown()
    server.server_close()


async def seen(page: Page, address: str) -> dict[str, Any]:
    await page.goto(address)
    found: dict[str, Any] = json.loads(json.dumps(await page.evaluate(SEEN)))
    return found


async def look_around(profile: Path, appearance: Appearance, address: str) -> list[dict[str, Any]]:
    """What the task's page, a popup of it, and an observer's fresh page see."""

    async def nothing(*_: object) -> None:
        """No gesture is made."""

    async with async_playwright() as playwright:
        held = await GuardedBrowser.start(
            playwright,
            profile,
            headed=False,
            extra=(),
            state={},
            release=nothing,
            reach=nothing,
            appearance=appearance,
        )
        try:
            worker = await playwright.chromium.connect_over_cdp(held.chromium.endpoint)  # as a run's worker attaches
            acting = next(page for page in worker.contexts[0].pages if page.url == "about:blank")
            first = await seen(acting, address)
            async with acting.expect_popup() as opened:
                await acting.evaluate("address => window.open(address)", address)
            popup = await seen(await opened.value, f"{address}/popup")
            context = await worker.new_context(**appearance.context_options)
            fresh = await seen(await context.new_page(), address)
        finally:
            await held.end()
    return [first, popup, fresh]


def run(work: Any) -> Any:
    """In a thread of its own: this one may have Playwright's loop in it."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, work).result(timeout=120)


def test_every_page_sees_the_language_the_time_zone_and_the_viewport(tmp_path: Path, echo: Any) -> None:
    acting, popup, fresh = run(look_around(tmp_path / "profile", WISHED, echo[0]))
    for page in (acting, popup, fresh):
        assert (page["language"], page["number"], page["zone"]) == ("de-DE", "1.234,5", "Asia/Tokyo")
        assert page["accepts"].startswith("de-DE")
    assert acting["size"] == popup["size"] == [900, 700]
    assert fresh["size"] == [900, LOOK_HEIGHT]


def test_every_page_goes_by_the_proxy(tmp_path: Path, echo: Any) -> None:
    proxy, asked = echo
    wished = Appearance(proxy=proxy, proxy_bypass=("<-loopback>", "direct.invalid"))
    run(look_around(tmp_path / "profile", wished, "http://books.invalid/orders"))
    pages = [path for path in asked if path.startswith("http://books.invalid/orders")]
    assert len(pages) >= 3, "the task's page, its popup, the fresh page: a name that nobody but the proxy could resolve"


def test_without_a_wish_nothing_is_said_to_chromium() -> None:
    plain = Appearance()
    assert (plain.arguments, plain.environment, plain.preferences, plain.context_options) == ((), {}, {}, {})


def test_an_observer_looks_as_the_page_appears_and_no_longer_than_is_set(
    attached: Browser, page: SyncPage, echo: Any
) -> None:
    task_page = TaskPage(attached, page, lambda content, media: "")
    task_page.fresh = WISHED.context_options
    with task_page.view(SystemClock().now, None) as view:
        assert view.open(echo[0]).text == "de-DE"
    task_page.look_seconds = 0.7
    with (
        socket.create_server(("127.0.0.1", 0)) as silent,
        task_page.view(SystemClock().now, None) as view,
        pytest.raises(LookFailed, match="Timeout 700ms"),
    ):
        view.open(f"http://127.0.0.1:{silent.getsockname()[1]}/")


def test_features_that_are_disabled_are_added_to_ours(start_chromium: Any) -> None:
    chromium = start_chromium(extra=("--disable-features=Foo,Bar", "--mute-audio"))
    line = psutil.Process(chromium.process.pid).cmdline()
    (disabled,) = [argument for argument in line if argument.startswith("--disable-features=")]
    assert disabled.endswith(",Foo,Bar") and "Translate" in disabled
    assert "--mute-audio" in line
