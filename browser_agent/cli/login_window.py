"""A browser window in which a person signs in at a site; the session is then stored sealed, never in clear text.

Only the person types and clicks.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from time import monotonic, sleep
from typing import Any, cast

from playwright.sync_api import BrowserContext, Error, Page, StorageState

from browser_agent.browser.chromium import Chromium
from browser_agent.browser.deadline import DeadlinePassed, within
from browser_agent.browser.driver import sync_driver
from browser_agent.browser.page_state import give_session_storage, read_page_state
from browser_agent.clock import new_id
from browser_agent.errors import Misuse
from browser_agent.options import Options
from browser_agent.run.session import merged
from browser_agent.store import Store
from observers import Site
from observers.session import SESSION_STORAGE, storage_state, without_undeclared
from observers.site import origin_of
from observers.view import open_view

GLANCE_SECONDS = 0.5
READ_SECONDS = 3.0


@dataclass
class _Window:
    """The window in which the person works, and its session as last read."""

    chromium: Chromium
    context: BrowserContext
    site: Site
    state: dict[str, Any] = field(default_factory=dict)
    signed_in: bool = False

    def read(self) -> bool:
        """Read the current session; False if the window is closed."""
        pages = [page for page in self.context.pages if not page.is_closed()]
        if not pages or not self.chromium.alive():
            return False
        declared = [origin_of(self.site.url)] if self.site.indexed_db else []
        try:
            read = within(READ_SECONDS, lambda: self.context.storage_state(indexed_db=bool(declared)))
        except (Error, DeadlinePassed):  # a page is busy: keep the state that was read last
            return self.chromium.alive()
        in_tab = {**self.state.get(SESSION_STORAGE, {}), **self._in_tabs(pages)}
        self.state = {**without_undeclared(dict(read), declared), SESSION_STORAGE: in_tab}
        self.signed_in = bool(self.site.mark) and any(self._shows_mark(page) for page in pages)
        return True

    def _in_tabs(self, pages: list[Page]) -> dict[str, Mapping[str, str]]:
        found = [read_page_state(page) for page in pages if self.site.holds(page.url)]
        return {state.origin: state.session_storage for state in found if state is not None}

    def _shows_mark(self, page: Page) -> bool:
        browser = self.context.browser
        if browser is None or not self.site.holds(page.url):
            return False
        with open_view(browser, page, state=cast(StorageState, {}), glance=READ_SECONDS) as view:
            reading = view.current
        return reading is not None and reading.has(self.site.mark)


def log_in(
    store: Store,
    site: Site,
    options: Options,
    *,
    headless: bool,
    entered: Callable[[], bool],
    say: Callable[[str], None],
) -> None:
    """Let a person sign in, and store the sealed session for all later runs with this site and account.

    Returns when the site's `signed_in` mark shows, when Enter is pressed, or when the window is closed.

    Args:
        store: where the session is stored.
        site: the site, bound to its address and account.
        options: which Chromium is started, and how it appears to sites.
        headless: open no window; the person attaches to the printed address.
        entered: whether Enter was pressed since the last call.
        say: tells the person what to do.

    Raises:
        Misuse: there is no key, the site can't be reached, or the person didn't sign in. Nothing was stored.
        BrowserUnavailable: Chromium or Playwright's driver doesn't start.
    """
    store.logins.check_key()
    kept = store.logins.find(site.name, site.account)
    profile = store.profiles / new_id("login", 4)
    chromium = Chromium.start(
        profile,
        headless=headless,
        extra=options.chromium_arguments,
        appearance=options.appearance,
        executable=options.chromium,
    )
    try:
        with sync_driver() as playwright:
            context = playwright.chromium.connect_over_cdp(chromium.endpoint).contexts[0]
            window = _Window(chromium, context, site)
            _open(context, site, kept.state if kept is not None else {})
            say(_words(window, headless))
            _wait(window, entered)
    finally:
        chromium.end()
        shutil.rmtree(profile, ignore_errors=True)
    if site.mark and not window.signed_in:
        raise Misuse(f"The sign of being signed in at {site.name} ({site.mark!r}) did not show. Nothing was kept.")
    if not merged([window.state]):
        raise Misuse(f"The window of {site.name} was closed before anything could be read. Nothing was kept.")
    store.logins.save(site.name, site.account, window.state)


def _open(context: BrowserContext, site: Site, state: Mapping[str, Any]) -> None:
    """Open the site's first page with the state of an earlier login: a site may not challenge a known device again."""
    page = context.pages[0]
    if state:
        context.set_storage_state(cast(StorageState, storage_state(state)))
        give_session_storage(page, state.get(SESSION_STORAGE, {}))
    try:
        page.goto(site.url)
    except Error as error:
        said = str(error).splitlines()[0]
        raise Misuse(f"The site {site.name} can't be opened at {site.url}: {said}. Nothing was kept.") from error


def _wait(window: _Window, entered: Callable[[], bool]) -> None:
    while window.read() and not window.signed_in and not entered():
        until = monotonic() + GLANCE_SECONDS
        try:
            window.context.pages[0].wait_for_timeout(GLANCE_SECONDS * 1000)
        except (Error, IndexError):
            sleep(max(0.0, until - monotonic()))
    if window.chromium.alive():
        window.read()  # the last page may have changed the session


def _words(window: _Window, headless: bool) -> str:
    site = window.site
    where = f"in the browser at {window.chromium.endpoint}" if headless else "in the window"
    ends = "It is done by itself when you are signed in" if site.mark else "Press Enter here when you are signed in"
    return f"Sign in at {site.name} as {site.account} {where}. {ends}; to give up: Ctrl-C."
