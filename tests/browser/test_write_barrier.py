"""Nothing that a fresh page writes arrives at the site: by the site's own count, whoever sends it and when."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable

import psutil
import pytest
from playwright.sync_api import Browser, Page

from browser_agent.browser.own_page_gate import OwnPageGate
from observers import open_view
from tests.fix_browser import StartChromium
from tests.fix_ledger import AT_ITS_END, AT_ONCE, Ledger

LATE_SECONDS = 0.6
"""For what leaves after the page has gone."""
MAY_BE_TOO_LATE = {"form", "form in a window", "socket", "worker", "shared worker", "fetch", "fetch later"}
"""Without a barrier these arrive now and then, or Chromium itself stops them: they race with the end of their page."""
OF_FRAMES = {"form in a frame", "frame", "socket in a worker of a frame", "policy report"}
"""Frames in the process of their page: while a view looks, nobody can tell whose page theirs is."""


def test_each_sender_would_reach_the_site_without_the_barrier(attached: Browser, ledger: Ledger) -> None:
    context = attached.new_context()
    page = context.new_page()
    page.goto(f"{ledger.url}/acts")
    _wait(page, lambda: set(AT_ONCE) <= ledger.written)
    assert ledger.written == set(AT_ONCE)
    ledger.asked.clear()
    page = context.new_page()
    page.goto(f"{ledger.url}/ends")
    page.wait_for_timeout(300)
    page.goto(f"{ledger.elsewhere}/plain")
    expected = set(AT_ITS_END) - MAY_BE_TOO_LATE
    _wait(page, lambda: expected <= ledger.written)
    assert expected <= ledger.written
    context.close()


def test_nothing_that_a_fresh_page_writes_arrives(attached: Browser, page: Page, ledger: Ledger) -> None:
    with open_view(attached, page, deadline=5) as view:
        assert "seen" in view.open(f"{ledger.url}/acts").text
    time.sleep(LATE_SECONDS)
    assert "GET /acts" in ledger.asked and "GET /worker.js" in ledger.asked, "it may read"
    assert ledger.written == set()
    refused = view.looks[0].refused
    assert f"POST {ledger.url}/written/fetch" in refused
    assert f"POST {ledger.url}/written/shared%20worker" in refused
    assert f"GET {ledger.url}/sends?to" in refused, "a look needs no second window"


@pytest.mark.parametrize("path", ["/ends", "/around"])
@pytest.mark.parametrize("how", ["closed", "followed", "left"])
def test_nothing_that_a_fresh_page_sends_at_its_end_arrives(
    attached: Browser, page: Page, ledger: Ledger, path: str, how: str
) -> None:
    with open_view(attached, page, deadline=5) as view:
        reading = view.open(f"{ledger.url}{path}")
        if how == "followed":
            assert reading.next_page() is not None
        if how == "left":
            reading._follow(f"{ledger.elsewhere}/plain")
    time.sleep(LATE_SECONDS)
    assert f"GET {path}" in ledger.asked
    assert ledger.written == set()


@pytest.mark.parametrize("path", ["/acts", "/ends"])
def test_the_acting_page_writes_on_while_a_view_looks(attached: Browser, page: Page, ledger: Ledger, path: str) -> None:
    with open_view(attached, page, deadline=5) as view:
        view.open(f"{ledger.url}/plain")
        page.goto(f"{ledger.url}{path}", wait_until="commit")
        if path == "/ends":
            page.goto(f"{ledger.elsewhere}/plain")
        expected = set(AT_ONCE) - OF_FRAMES if path == "/acts" else {"beacon", "keepalive"}
        _wait(page, lambda: expected <= ledger.written)
        assert expected <= ledger.written
    _wait(page, lambda: path == "/ends" or set(AT_ONCE) <= ledger.written)
    assert path == "/ends" or ledger.written == set(AT_ONCE), "what waited for the end of the look has gone on its way"
    assert view.looks[0].refused == ()


def test_looks_of_an_armed_gate_are_none_of_its_business(attached: Browser, page: Page, ledger: Ledger) -> None:
    released: list[str] = []
    page.goto(f"{ledger.url}/plain")
    gate = OwnPageGate(page, lambda gesture, method, address: released.append(address))
    assert gate.arm("gesture", None)
    with open_view(attached, page, deadline=5) as view:
        view.open(f"{ledger.url}/ends")
    time.sleep(LATE_SECONDS)
    page.evaluate("fetch('/written/gesture', {method: 'POST'}).then(() => 0)")
    assert ledger.written == {"gesture"}
    assert released == [f"{ledger.url}/written/gesture"]
    gate.disarm()
    gate.close()


LOOKS = """
import sys
from playwright.sync_api import sync_playwright
from observers import open_view
with sync_playwright() as playwright:
    browser = playwright.chromium.connect_over_cdp(sys.argv[1])
    view = open_view(browser, browser.contexts[0].pages[0], deadline=5)
    view.open(sys.argv[2])
    print("looked", flush=True)
    browser.contexts[0].pages[0].wait_for_timeout(60_000)
"""


@pytest.mark.parametrize("path", ["/ends", "/around"])
def test_a_killed_process_leaves_no_last_words_but_those_of_workers(
    start_chromium: StartChromium, ledger: Ledger, path: str
) -> None:
    endpoint = start_chromium().endpoint
    looking = [sys.executable, "-c", LOOKS, endpoint, f"{ledger.url}{path}"]
    with subprocess.Popen(looking, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "looked\n"
        itself = psutil.Process(process.pid)
        for each in [*itself.children(recursive=True), itself]:
            each.kill()
    time.sleep(2 * LATE_SECONDS)
    assert ledger.written <= {"worker", "shared worker"}


def _wait(page: Page, until: Callable[[], bool], seconds: float = 20.0) -> None:
    deadline = time.monotonic() + seconds
    while not until() and time.monotonic() < deadline:
        page.wait_for_timeout(50)
