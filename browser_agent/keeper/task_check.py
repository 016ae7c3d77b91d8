"""Checks a task at its sites before its first real run: a dry run in a browser and a store of its own."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from playwright.sync_api import Browser

from browser_agent.browser.chromium import Chromium
from browser_agent.browser.driver import sync_driver
from browser_agent.browser.task_page import ATTACH_NEW_SECONDS
from browser_agent.keeper.launch import submit
from browser_agent.options import Options
from browser_agent.ownership.takeover import take_over
from browser_agent.run.dry_attempt import DryAttempt
from browser_agent.run.dry_run import dry_run
from browser_agent.run.session import merged, stored_logins
from browser_agent.run.step_check import DryRunResult
from browser_agent.script.tasks import Task
from browser_agent.store import Store, Times

_TIMES = Times(lease=24 * 3600.0)
"""Nobody else knows the temporary store, so its one lease needs no heartbeat."""


def check_task(
    task: Task[..., Any],
    arguments: Mapping[str, Any],
    options: Options,
    store: Store | None,
    notify: Callable[[str, str], None],
) -> DryRunResult:
    """Run a task without its gestures, at the addresses and accounts to which its sites are bound now.

    Args:
        task: the task.
        arguments: its arguments, parsed.
        options: which Chromium is started, how it appears to sites, and how long its pages may take.
        store: the user's own store, from which stored logins are read; nothing is written. None = there is none yet.
        notify: called with a kind and words for the person who watches.

    Raises:
        BrowserUnavailable: Chromium or Playwright's driver doesn't start.
        Misuse: see `submit`.
    """
    accounts = {name: site.account for name, site in task.sites.items()}
    logins = sorted(stored_logins(store, accounts, notify), key=lambda one: one[0]) if store is not None else []
    state = merged(state for _, state in logins)
    with (
        TemporaryDirectory(prefix="browser-agent-") as folder,
        Store(Path(folder) / "dry-run.db", times=_TIMES) as scratch,
        _browser(Path(folder) / "profile", options) as browser,
        redirect_stdout(sys.stderr),  # what the task prints is no part of the result
    ):
        run = submit(scratch, task, arguments).id
        attempt = DryAttempt(scratch, take_over(scratch, run, None), task.sites, options, browser, state)
        proven = store.journal.proven_kinds if store is not None else lambda site: frozenset[str]()
        return dry_run(task, dict(arguments), attempt, proven)


@contextmanager
def _browser(profile: Path, options: Options) -> Iterator[Browser]:
    chromium = Chromium.start(
        profile,
        headless=not options.headed,
        extra=options.chromium_arguments,
        appearance=options.appearance,
        executable=options.chromium,
    )
    try:
        with sync_driver() as playwright:
            yield playwright.chromium.connect_over_cdp(
                chromium.endpoint, timeout=ATTACH_NEW_SECONDS * 1000, slow_mo=options.slow_mo
            )
    finally:
        chromium.discard()
