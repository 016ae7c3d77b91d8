"""A Chromium outlives its worker, is found again, and dies for sure."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys

import pytest
from playwright.sync_api import Page, Playwright

from browser_agent import processes
from browser_agent.browser import chromium as rooms
from browser_agent.browser.chromium import Chromium, ChromiumSilent
from browser_agent.errors import BrowserUnavailable

FORM = "data:text/html,<title>Form</title><input id=customer><select id=size><option>S<option>L</select>"

WORKER = """
import sys, time
from playwright.sync_api import sync_playwright
with sync_playwright() as playwright:
    page = playwright.chromium.connect_over_cdp(sys.argv[1]).contexts[0].pages[0]
    page.goto(sys.argv[2])
    page.fill("#customer", "Miller")
    page.select_option("#size", "L")
    page.evaluate("window.kept = 41")
    print("filled", flush=True)
    time.sleep(600)
"""

STARTER = """
import sys
from pathlib import Path
from browser_agent.browser.chromium import Chromium
print(Chromium.start(Path(sys.argv[1])).stored, flush=True)
"""


def attach(playwright: Playwright, chromium: Chromium) -> Page:
    return playwright.chromium.connect_over_cdp(chromium.endpoint).contexts[0].pages[0]


def test_the_page_of_a_killed_worker_keeps_its_form_and_scripts(chromium, playwright):
    worker = subprocess.Popen(
        [sys.executable, "-c", WORKER, chromium.endpoint, FORM],
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert worker.stdout is not None
    with worker.stdout as said:
        assert said.readline() == "filled\n"
        name = processes.identify(worker.pid)
        assert name is not None
        processes.end([name])
    worker.wait()

    page = attach(playwright, chromium)
    assert (page.input_value("#customer"), page.input_value("#size")) == ("Miller", "L")
    assert page.evaluate("window.kept") == 41


def test_it_outlives_its_starter_and_is_adopted_from_its_stored_name(tmp_path, playwright):
    said = subprocess.run(
        [sys.executable, "-c", STARTER, str(tmp_path / "p")], stdout=subprocess.PIPE, text=True, check=True
    ).stdout
    adopted = Chromium.found(said)
    try:
        assert adopted.alive()
        assert adopted.version[0].isdigit()
        assert attach(playwright, adopted).url == "about:blank"
    finally:
        adopted.end()
    assert not adopted.alive()


def test_nothing_of_it_is_left_after_its_end(chromium, playwright):
    attach(playwright, chromium).goto(FORM)
    everything = processes.tree(chromium.process) | rooms.processes_of(chromium.profile)
    socket_folder = (chromium.profile / "SingletonSocket").readlink().parent
    assert len(everything) > 3 and socket_folder.is_dir()
    assert chromium.end() >= everything
    assert not [each for each in everything if processes.alive(each)]
    assert not socket_folder.exists()
    with pytest.raises(ChromiumSilent):
        chromium.targets()


def test_children_that_lost_their_parent_are_found_and_ended(chromium):
    children = processes.tree(chromium.process) - {chromium.process}
    for child in children:
        os.kill(child.pid, signal.SIGSTOP)  # else they leave by themselves when the parent is gone
    os.kill(chromium.process.pid, signal.SIGKILL)
    processes.reap(chromium.process.pid)
    chromium.end()
    assert not [each for each in children if processes.alive(each)]


def test_what_works_in_its_profile_is_ended_and_nothing_else(chromium):
    def start(argument: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [sys.executable, "-c", "import time; time.sleep(600)", argument], start_new_session=True
        )

    stray = start(f"--user-data-dir={chromium.profile}")
    neighbour = start(f"--user-data-dir={chromium.profile}-2")
    try:
        chromium.end()
        assert processes.identify(stray.pid) is None
        assert processes.identify(neighbour.pid) is not None
    finally:
        for each in (stray, neighbour):
            each.kill()
            each.wait()


def test_no_signal_for_our_group_reaches_it(chromium):
    assert os.getsid(chromium.process.pid) == os.getpgid(chromium.process.pid) == chromium.process.pid


def test_ending_twice_is_no_mistake(chromium):
    chromium.end()
    assert chromium.end() == frozenset()


def test_its_profile_is_for_us_alone(chromium):
    assert stat.S_IMODE(chromium.profile.stat().st_mode) == 0o700


def test_its_port_answers_on_loopback_only(chromium):
    assert chromium.endpoint.startswith("http://127.0.0.1:")


def test_the_switch_for_the_guard_is_on(page):
    assert page.evaluate("typeof chrome.benchmarking.closeConnections") == "function"


def test_a_profile_in_use_is_refused(chromium):
    with pytest.raises(BrowserUnavailable, match=f"in use by pid {chromium.process.pid}"):
        Chromium.start(chromium.profile)
    assert chromium.alive()


def test_a_profile_is_used_again_after_a_kill(chromium, start_chromium):
    chromium.end()
    again = start_chromium(chromium.profile.name)
    assert [target.url for target in again.targets() if target.kind == "page"] == ["about:blank"]


def test_one_that_dies_at_its_start_says_its_last_words(tmp_path):
    program = tmp_path / "chromium"
    program.write_text("#!/bin/sh\necho no display here >&2\nexit 1\n")
    program.chmod(0o755)
    with pytest.raises(
        BrowserUnavailable, match="^Chromium doesn't start: .*: no display here. Run: browser-agent doctor --install$"
    ):
        Chromium.start(tmp_path / "profile", executable=program)


def test_one_that_keeps_silent_is_ended(tmp_path):
    program = tmp_path / "chromium"
    program.write_text("#!/bin/sh\necho thinking >&2\nexec sleep 600\n")
    program.chmod(0o755)
    with pytest.raises(BrowserUnavailable, match="thinking"):
        Chromium.start(tmp_path / "profile", executable=program, deadline_seconds=0.3)
    assert not rooms.processes_of(tmp_path / "profile")


def test_a_page_whose_dialog_hangs_attaching_is_closed_by_the_port(chromium, playwright):
    page = attach(playwright, chromium)
    page.on("dialog", lambda dialog: None)
    page.goto(FORM)
    page.evaluate("setTimeout(() => confirm('Really?'), 0)")
    (target,) = [each for each in chromium.targets() if each.title == "Form"]
    rooms.close_page_by_port(chromium.endpoint, target.id)
    page.wait_for_event("close") if not page.is_closed() else None
    assert target.id not in [each.id for each in chromium.targets()]
    with pytest.raises(ChromiumSilent):
        rooms.close_page_by_port(chromium.endpoint, target.id)


def test_a_named_chromium_that_cannot_be_run_is_not_replaced_by_another(tmp_path, monkeypatch):
    monkeypatch.setenv("BROWSER_AGENT_CHROMIUM", str(tmp_path / "none"))
    with pytest.raises(BrowserUnavailable, match="BROWSER_AGENT_CHROMIUM"):
        rooms.find_chromium()


def test_playwrights_newest_download_comes_before_the_systems(tmp_path, monkeypatch):
    inside = "chrome-mac/Chromium.app/Contents/MacOS/Chromium" if sys.platform == "darwin" else "chrome-linux/chrome"
    for revision in ("chromium-999", "chromium-1200", "chromium_headless_shell-1300"):
        program = tmp_path / revision / inside
        program.parent.mkdir(parents=True)
        program.touch(0o755)
    monkeypatch.delenv("BROWSER_AGENT_CHROMIUM", raising=False)
    monkeypatch.setenv("PLAYWRIGHT_BROWSERS_PATH", str(tmp_path))
    assert rooms.find_chromium() == tmp_path / "chromium-1200" / inside


def test_a_machine_without_any_says_what_to_do(tmp_path, monkeypatch):
    monkeypatch.delenv("BROWSER_AGENT_CHROMIUM", raising=False)
    monkeypatch.setenv("PLAYWRIGHT_BROWSERS_PATH", str(tmp_path))
    monkeypatch.setattr(rooms, "_from_system", list)
    with pytest.raises(BrowserUnavailable, match="Run: browser-agent doctor --install"):
        rooms.find_chromium()
