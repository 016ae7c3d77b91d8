"""A person signs in in a browser of ours: when it is over, what is kept, and when nothing is."""

from __future__ import annotations

import queue
import re
import threading
from base64 import urlsafe_b64encode
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest
from playwright.sync_api import Error, Page, Playwright

from browser_agent.browser.chromium import processes_of
from browser_agent.cli.login_window import log_in
from browser_agent.errors import Misuse
from browser_agent.options import Options
from browser_agent.secrets.seal import KEY_VARIABLE
from browser_agent.store import Store
from browser_agent.testing.sites.books import Books
from browser_agent.testing.sites.sessions import PASSWORD
from observers import Site


@pytest.fixture
def books() -> Iterator[Books]:
    with Books() as books:
        books.require_login()
        yield books


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    monkeypatch.setenv(KEY_VARIABLE, urlsafe_b64encode(b"k" * 32).decode())
    with Store(tmp_path / "runs.db") as store:
        yield store


class Window:
    """The command at work in a thread of its own, and the person's view of its browser."""

    def __init__(self, store: Store, site: Site, thread: ThreadPoolExecutor) -> None:
        self.enter, self._said = threading.Event(), queue.Queue[str]()
        entered: Callable[[], bool] = self.enter.is_set
        self._work: Future[None] = thread.submit(
            lambda: log_in(store, site, Options(), headless=True, entered=entered, say=self._said.put)
        )

    def page(self, playwright: Playwright) -> Page:
        told = re.search(r"browser at (\S+)\.", self._said.get(timeout=60))
        assert told is not None
        return playwright.chromium.connect_over_cdp(told[1]).contexts[0].pages[0]

    def end(self) -> None:
        self._work.result(timeout=60)


@pytest.fixture
def thread() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(1) as thread:
        yield thread


def sign_in(page: Page) -> None:
    page.get_by_label("Account").fill("acme")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    with suppress(Error):  # it may be over by now
        page.locator("[data-account=acme]").first.wait_for(timeout=3000)


def cookies(store: Store) -> list[str]:
    kept = store.logins.find("books", "acme")
    return [one["value"] for one in kept.state["cookies"]] if kept is not None else []


def site_at(books: Books, mark: str = "") -> Site:
    return Site("books", url=books.url, account="acme", signed_in=mark)


@pytest.mark.parametrize("ends", ["by itself", "by Enter", "by closing"])
def test_what_the_login_has_left_is_kept(
    books: Books, store: Store, playwright: Playwright, thread: ThreadPoolExecutor, ends: str
) -> None:
    window = Window(store, site_at(books, '[data-account="{account}"]' if ends == "by itself" else ""), thread)
    page = window.page(playwright)
    sign_in(page)
    if ends == "by Enter":
        window.enter.set()
    elif ends == "by closing":
        page.wait_for_timeout(1500)  # as a person: the page has been there for a moment
        page.close()
    window.end()
    assert [session.id for session in books.sessions.all if session.account == "acme"] == cookies(store)
    folder = store.profiles
    assert list(folder.iterdir()) == [] and not processes_of(folder)


def test_who_has_not_signed_in_is_told_so_and_the_last_login_stays(
    books: Books, store: Store, playwright: Playwright, thread: ThreadPoolExecutor
) -> None:
    store.logins.save("books", "acme", {"cookies": [], "origins": []})
    window = Window(store, site_at(books, '[data-account="acme"]'), thread)
    window.page(playwright)
    window.enter.set()
    with pytest.raises(Misuse, match="did not show. Nothing was kept"):
        window.end()
    assert [line["kind"] for line in store.audit_lines()] == ["login_kept"]


def test_a_site_that_is_down_is_told_and_leaves_no_browser(store: Store, thread: ThreadPoolExecutor) -> None:
    window = Window(store, Site("books", url="http://127.0.0.1:1", account="acme"), thread)
    with pytest.raises(Misuse, match="can't be opened at http://127.0.0.1:1: .*ERR_"):
        window.end()
    assert list(store.profiles.iterdir()) == [] and cookies(store) == []
