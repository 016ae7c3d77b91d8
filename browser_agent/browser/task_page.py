"""The page that a task acts on, on the worker's own connection to the keeper's Chromium.

It opens views for observers, takes screenshots, answers dialogs while a gesture is made, and records writes that no
gesture made. It never reloads and never goes back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from time import monotonic
from typing import Any

from playwright.sync_api import Browser, BrowserContext, Dialog, Error, Page, Playwright, Request

from browser_agent.browser.deadline import DeadlinePassed, within
from browser_agent.browser.error_texts import complaints
from browser_agent.browser.guarded_browser import ATTACH_SECONDS, HELPER_ADDRESS
from browser_agent.browser.page_state import PageState, give_session_storage, read_page_state
from browser_agent.browser.screenshot import MaskRules, NoPicture, Picture, capture
from observers.evidence import plain_address
from observers.recording import Recording
from observers.request_pattern import SAFE_METHODS
from observers.session import SESSION_STORAGE
from observers.site import Site
from observers.view import PageView, open_view

ATTACH_NEW_SECONDS = 20.0
"""For a browser that has just started: none of its pages can hang, but the machine may be busy."""
PICTURE_SECONDS = 3.0
LOOK_SECONDS = 8.0
ALERT_SECONDS = 2.0
"""Seconds for which an alert (which can't be declined) doesn't count as a refusal: a request may have been on its way
when it opened."""
GLANCE_SECONDS = 2.0
"""The time limit for reading the current page: while it waits for a response, it doesn't answer (measured)."""

_ASKS_PASSWORD = "() => [...document.querySelectorAll('input[type=password]')].some((field) => field.checkVisibility())"

SavePicture = Callable[[bytes, str], str]


class TaskPage:
    """The page on which one attempt's task acts.

    Args:
        browser: the page's browser, in which observers' fresh pages are opened.
        page: the page.
        save: stores a picture and returns its digest.
        mask_rules: what pictures must not show.

    Attributes:
        fresh: context options for fresh pages, so that they appear to sites as the task's page does.
        look_seconds: the time limit of one look at one page.
    """

    def __init__(self, browser: Browser, page: Page, save: SavePicture, mask_rules: MaskRules | None = None) -> None:
        self._save, self._mask_rules = save, mask_rules
        self.fresh: Mapping[str, Any] = {}
        self.look_seconds = LOOK_SECONDS
        self.browser = browser
        self.context: BrowserContext = page.context
        self.answer_of_post = False
        self.writes: list[str] = []
        self._undeclared: list[tuple[float, str]] = []  # the time from which it counts, and its text
        self._accepts: Sequence[Callable[[str], bool]] = ()
        self.page: Page = self._watched(page)

    @classmethod
    def attached(  # noqa: PLR0917  # all are needed to attach
        cls,
        playwright: Playwright,
        endpoint: str,
        target: str | None,
        save: SavePicture,
        slow_mo_ms: float = 0,
        attach_seconds: float = ATTACH_SECONDS,
        mask_rules: MaskRules | None = None,
    ) -> TaskPage:
        """Attach to our own Chromium, and find the task's page in it.

        Args:
            playwright: the worker's Playwright.
            endpoint: the Chromium's address.
            target: the id of the page that an earlier attempt acted on, to find it again.
            save: stores a picture and returns its digest.
            slow_mo_ms: milliseconds to wait before every call.
            attach_seconds: how long attaching may take.
            mask_rules: what pictures must not show.

        Raises:
            TimeoutError, DeadlinePassed: a page of the browser hangs, so that nothing can attach.
        """
        browser = playwright.chromium.connect_over_cdp(endpoint, timeout=attach_seconds * 1000, slow_mo=slow_mo_ms)
        return cls(browser, _find(browser.contexts[0], target), save, mask_rules)

    @property
    def target(self) -> str | None:
        """The id by which a later attempt finds this page again."""
        try:
            return _target_of(self.page)
        except (Error, DeadlinePassed):
            return None

    def renew(self) -> None:
        """Continue with a new page of the same browser: the old one has crashed or was closed."""
        self.page = self._watched(self.context.new_page())
        self.answer_of_post = False

    def asks_password(self) -> bool:
        """Whether the page shows a password field; False if it doesn't answer."""
        try:
            return not self.lost and bool(within(GLANCE_SECONDS, lambda: self.page.evaluate(_ASKS_PASSWORD)))
        except (Error, DeadlinePassed):
            return False

    def state(self) -> PageState | None:
        """The page's current state; None if it is lost or doesn't answer in time."""
        return None if self.lost else read_page_state(self.page)

    def give_session_storage(self, session: Callable[[], Mapping[str, Any]]) -> None:
        """Give a blank tab the session storage of an earlier one; a tab that has opened a page keeps its own."""
        if self.page.url == "about:blank":
            give_session_storage(self.page, session().get(SESSION_STORAGE, {}))

    def view(
        self,
        clock: Callable[[], datetime],
        state: Any | None,
        recorded: Recording | None = None,
        sites: Iterable[Site] = (),
    ) -> PageView:
        """A read-only view: the current page, fresh pages with a copy of the session, and the recording."""
        page = None if self.lost else self.page
        return open_view(
            self.browser,
            page,
            state=state or None,
            save=self._save,
            clock=clock,
            deadline=self.look_seconds,
            glance=GLANCE_SECONDS,
            answer_of_post=self.answer_of_post,
            options=self.fresh,
            shoot=self.shoot,
            recorded=recorded,
            sites=sites,
        )

    @property
    def lost(self) -> bool:
        """Whether the page is gone for good."""
        return self.crashed or self.page.is_closed() or not self.browser.is_connected()

    def picture(self) -> Picture | NoPicture:
        """A picture of the current page, or the reason why there is none. Never raises."""
        return NoPicture("the page is gone") if self.lost else self._capture(self.page)

    def texts(self) -> list[str]:
        """The page's error messages after the last gesture; empty if it doesn't answer."""
        return complaints(self.page, LOOK_SECONDS)

    @contextmanager
    def dialogs_in_order(self, accepts: Sequence[Callable[[str], bool]]) -> Iterator[None]:
        """While a gesture is made and settled, accept declared dialogs, and dismiss and remember all others.

        An alert is remembered only after `ALERT_SECONDS`: a page may send and then say so (measured: the alert came
        before the request had reached the gate). A declared prompt is accepted with the text that the page proposes.
        The question whether to leave the page (`beforeunload`) is accepted and not remembered: leaving is part of the
        gesture that somebody decided to make, the words are the browser's own, and without a listener Playwright does
        the same. The task's own listener on the context is called before ours. If it declined to leave, nothing is
        sent, and a browser of ours is ended with the tab, because later clicks in that tab may hang.
        """
        self._accepts, self._undeclared = accepts, []
        self.context.on("dialog", self._on_dialog)
        try:
            yield
        finally:
            self.context.remove_listener("dialog", self._on_dialog)

    @property
    def dialogs(self) -> list[str]:
        """The texts of undeclared dialogs since the last gesture began."""
        return [text for since, text in self._undeclared if since <= monotonic()]

    def wait(self, seconds: float) -> bool:
        """Wait while the page's events are processed; False if the page was lost meanwhile."""
        try:
            self.page.wait_for_timeout(seconds * 1000)
        except Error:
            return False
        return True

    def _on_dialog(self, dialog: Dialog) -> None:
        leaving = dialog.type == "beforeunload"
        expected = leaving or any(accept(dialog.message) for accept in self._accepts)
        grace = ALERT_SECONDS if dialog.type == "alert" else 0.0
        words = dialog.message or ("Leave this page?" if leaving else "")  # the browser doesn't reveal its own words
        if not expected:
            self._undeclared.append((monotonic() + grace, words))
        try:
            dialog.accept(dialog.default_value) if expected else dialog.dismiss()
        except Error:  # an earlier listener has already answered it, and it is unknown how
            self._undeclared.append(
                (monotonic() + ALERT_SECONDS, f"{words} (answered by a listener of the task's own)")
            )

    def _requested(self, request: Request) -> None:
        if request.is_navigation_request() and request.frame == self.page.main_frame:
            self.answer_of_post = request.method not in SAFE_METHODS
        if request.method not in SAFE_METHODS:
            self.writes.append(f"{request.method} {plain_address(request.url)}")

    def _watched(self, page: Page) -> Page:
        self.crashed = False
        page.on("request", self._requested)
        page.on("crash", self._on_crash)
        return page

    def _on_crash(self, page: Page) -> None:
        self.crashed = True

    def shoot(self, page: Page) -> str | None:
        """Take and save a picture of any page of the browser. Returns its digest, or None. Never raises."""
        taken = self._capture(page)
        return taken.digest if isinstance(taken, Picture) else None

    def _capture(self, page: Page) -> Picture | NoPicture:
        return capture(page, PICTURE_SECONDS, self._save_webp, self._mask_rules)

    def _save_webp(self, content: bytes) -> str:
        return self._save(content, "image/webp")


def _find(context: BrowserContext, target: str | None) -> Page:
    pages = [page for page in context.pages if page.url != HELPER_ADDRESS]
    again = (page for page in pages if target is not None and _target_of(page) == target)
    blank = (page for page in pages if page.url == "about:blank")
    return next(again, None) or next(blank, None) or context.new_page()


def _target_of(page: Page) -> str:
    session = within(LOOK_SECONDS, lambda: page.context.new_cdp_session(page))
    info = within(LOOK_SECONDS, lambda: session.send("Target.getTargetInfo"))
    within(LOOK_SECONDS, session.detach)
    return str(info["targetInfo"]["targetId"])
