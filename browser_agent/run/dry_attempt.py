"""The attempt of a dry run: its pages can be read and filled, and nothing that they send may write."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import datetime
from typing import Any, cast

from playwright.sync_api import Browser, Error, Page, StorageState

from browser_agent.browser.deadline import DeadlinePassed, within
from browser_agent.browser.task_page import TaskPage
from browser_agent.errors import MachineTrouble
from browser_agent.options import Options
from browser_agent.run.attempt import Attempt
from browser_agent.run.session import merged
from browser_agent.states import Point
from browser_agent.store import Lease, Store
from browser_agent.wire import NOTHING_SEEN, SiteWrites, WireReport
from observers import Site
from observers.request_pattern import SAFE_METHODS, matches_request
from observers.session import SESSION_STORAGE, giving_script, storage_state
from observers.write_barrier import WriteBarrier

SESSION_SECONDS = 3.0

_HELD = """() => {
  const entries = (storage) => Object.entries(storage).map(([name, value]) => ({ name, value }));
  try {
    return { origin: location.origin, localStorage: entries(localStorage), tab: { ...sessionStorage } };
  } catch { return null; }  // a document without storage
}"""


class DryAttempt(Attempt):
    """An attempt that makes no gesture, on a page behind a barrier.

    Its barrier is that of an observer's fresh page, over the whole browser: it refuses every write, whoever sends it,
    every declared commit request, and the task_page page's WebSockets and further windows.

    Args:
        store, lease: a temporary store and a run in it; nothing else is written.
        sites, options: see `Attempt`.
        browser: a browser of our own.
        state: the session that it starts with.
    """

    may_end = True

    def __init__(  # noqa: PLR0917  # an attempt needs all six
        self,
        store: Store,
        lease: Lease,
        sites: Mapping[str, Site],
        options: Options,
        browser: Browser,
        state: Mapping[str, Any],
    ) -> None:
        super().__init__(store, lease, sites, options)
        self._state, self._may_write = dict(state), False
        self._commits: set[str] = set()
        self._barrier = WriteBarrier(browser, covers_all=True)
        context = browser.new_context(
            **options.appearance.context_options,
            storage_state=cast("StorageState", storage_state(self._state) or None),
            service_workers="block",
        )
        if in_tab := self._state.get(SESSION_STORAGE):
            context.add_init_script(giving_script(in_tab))
        if options.page_timeout is not None:
            context.set_default_timeout(options.page_timeout * 1000)
        page, self._refused, self._sockets = self._barrier.open_page(context, self._may_send)
        self._page = TaskPage(browser, page, store.artifacts.save, self.mask_rules)
        self.task_page.fresh, self.task_page.look_seconds = options.appearance.context_options, options.look_timeout

    @property
    def task_page(self) -> TaskPage:
        return self._page

    def fresh_page(self) -> Page:
        if self.task_page.lost:
            raise MachineTrouble("The page of the dry run was closed, or has crashed.")
        return self.task_page.page

    def take_refused(self) -> tuple[str, ...]:
        """The requests that were refused since the last call, each once, as "METHOD address"; WebSockets as "WS"."""
        self.task_page.wait(0)  # so that what the browser has paused is answered
        refused = (*self._refused, *(f"WS {address}" for address in self._sockets))
        self._refused.clear()
        self._sockets.clear()
        return tuple(dict.fromkeys(refused))

    @contextmanager
    def writes_pass(self) -> Iterator[None]:
        """Let writes leave while the body runs: it signs in, by a routine that declares that it may be repeated."""
        self._may_write = True
        try:
            yield
        finally:
            self._may_write = False

    def refuse_commit(self, sends: str) -> None:
        """Refuse this commit request from now on, also if it is a GET."""
        self._commits.add(sends)

    def _may_send(self, method: str, address: str) -> bool:
        if self._may_write:
            return True
        if any(matches_request(commit, method, address) for commit in self._commits):
            return False
        return method in SAFE_METHODS or any(site.reads_by(method, address) for site in self.sites.values())

    def session(self) -> dict[str, Any]:
        """The current cookies, with the storage of the current page and of those before it."""
        with suppress(Error, DeadlinePassed):
            cookies = within(SESSION_SECONDS, self.task_page.context.cookies)
            held = within(SESSION_SECONDS, lambda: self.task_page.page.evaluate(_HELD))
            self._state = {**merged([self._state, _stored(held)]), "cookies": [dict(cookie) for cookie in cookies]}
        return self._state

    def checkpoint(self, of: str | None) -> None:
        """Store nothing."""

    @property
    def senders_seen(self) -> bool:
        return False

    def browser_alive(self) -> bool:
        return not self.task_page.lost

    def broken(self) -> bool:
        return self.task_page.lost

    def end_browser(self) -> datetime:
        """Only the caller ends it."""
        return self.clock.now()

    def arm(self, gesture: str, sends: str | None, site: SiteWrites) -> bool:
        """Never armed: no gesture is made."""
        return False

    def disarm(self) -> None:
        """The barrier is never opened."""

    def wire(self, gesture: str) -> WireReport:
        return NOTHING_SEEN

    def emit(self, kind: str, words: str, **details: Any) -> None:
        """Tell nobody: the dry run reports at its end."""

    def pause(self, words: str) -> None:
        """Don't pause: no gesture follows."""

    @property
    def stop_asked(self) -> bool:
        return False

    def reach(self, point: Point, number: int) -> None:
        """Inject no fault."""


def _stored(held: dict[str, Any] | None) -> dict[str, Any]:
    """What a page's origin holds, as a part of a state."""
    if held is None or held["origin"] == "null":
        return {}
    origins = [{"origin": held["origin"], "localStorage": held["localStorage"]}]
    return {"origins": origins, SESSION_STORAGE: {held["origin"]: held["tab"]}}
