"""The keeper's Chromium: its process, the keeper's own connection to it, and the gate.

It outlives workers. Nothing is concluded from its silence before it has been killed and confirmed dead. The session
(cookies and storage) is kept in memory, so that a new browser can look under the same account.
"""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar, cast

from playwright.async_api import (
    Browser,
    BrowserContext,
    Dialog,
    Error,
    Page,
    Playwright,
    Request,
    Route,
    StorageState,
    ViewportSize,
)

from browser_agent.browser.appearance import AS_IT_IS, Appearance
from browser_agent.browser.chromium import Chromium, ChromiumSilent, close_page_by_port
from browser_agent.browser.gate import Gate, Reach, Release
from browser_agent.browser.interception import EVERYTHING, Interceptor, browser_context_of
from browser_agent.browser.netlog import NetworkLog
from browser_agent.wire import NO_SITE, SiteWrites
from observers.session import SESSION_STORAGE, storage_state, without_undeclared

T = TypeVar("T")

ATTACH_SECONDS = 6.0
"""How long attaching to a browser in use may take; if it takes longer, one of its pages hangs."""
NEW_SECONDS = 25.0
"""The same for a new browser, in which no page hangs: if it is slow, the machine is slow."""
STATE_SECONDS = 3.0
DRIVER_SECONDS = 5.0
DISARM_SECONDS = 3.0
FRONT_SECONDS = 1.0
HELPER_ADDRESS = "about:blank#browser-agent"
"""The address of the page that closes pooled connections. No task acts on it."""


class GuardedBrowser:
    """One Chromium with the keeper's connection and gate."""

    def __init__(self, chromium: Chromium, browser: Browser, gate: Gate, log: NetworkLog | None) -> None:
        self.chromium, self._browser, self.gate, self.log = chromium, browser, gate, log
        self._context = browser.contexts[0]
        self.ended = False  # we have ended it, or are ending it
        self._dialogs: list[Dialog] = []
        self.last_state: dict[str, Any] = {}  # the session as it was last read
        self.indexed_db: Sequence[str] = ()  # origins whose IndexedDB belongs to the session
        # A second connection without a listener would dismiss the worker's dialogs (measured).
        self._context.on("dialog", self._remember_dialog)

    @classmethod
    async def start(
        cls,
        playwright: Playwright,
        profile: Path,
        *,
        headed: bool,
        extra: Sequence[str],
        state: dict[str, Any],
        release: Release,
        reach: Reach,
        netlog: bool = False,
        appearance: Appearance = AS_IT_IS,
        executable: Path | None = None,
    ) -> GuardedBrowser:
        """Start a Chromium with a new profile and the session `state`; if `netlog`, read its network log.

        Raises:
            BrowserUnavailable: see `Chromium.start`.
            OSError: see `NetworkLog.open`.
        """
        ours = not profile.exists()
        log, guarded = NetworkLog.open(profile) if netlog else None, None
        arguments = (*extra, log.argument) if log is not None else extra
        try:
            how: dict[str, Any] = {"extra": arguments, "appearance": appearance, "executable": executable}
            chromium = await asyncio.to_thread(Chromium.start, profile, headless=not headed, **how)
            keeper: dict[str, Any] = {"release": release, "reach": reach, "log": log, "appearance": appearance}
            guarded = await cls.attach(playwright, chromium, **keeper, seconds=NEW_SECONDS)
            if guarded is None:
                await asyncio.to_thread(chromium.end)
                raise ChromiumSilent("The new Chromium started, but nothing could attach to it.")
        finally:
            if guarded is None and log is not None:
                log.close()
            if guarded is None and ours:  # its process has ended
                await asyncio.to_thread(shutil.rmtree, profile, ignore_errors=True)
        await guarded._restore(state)
        return guarded

    async def _restore(self, state: dict[str, Any]) -> None:
        """Give the new browser the cookies and storage of an earlier one."""
        if state:
            await self._context.set_storage_state(cast(StorageState, storage_state(state)))
        self.last_state = state

    @classmethod
    async def attach(
        cls,
        playwright: Playwright,
        chromium: Chromium,
        *,
        release: Release,
        reach: Reach,
        log: NetworkLog | None = None,
        appearance: Appearance = AS_IT_IS,
        seconds: float = ATTACH_SECONDS,
    ) -> GuardedBrowser | None:
        """Connect to a living Chromium; None if that fails or takes longer than `seconds`.

        `log` was opened before Chromium started; a Chromium that another keeper started has none.
        """
        try:
            browser = await playwright.chromium.connect_over_cdp(chromium.endpoint, timeout=seconds * 1000)
            context = browser.contexts[0]
            helper = await _helper_page(context)
            interceptor = await asyncio.wait_for(_install_interceptor(browser, context, helper), seconds)
            await apply_appearance(context, appearance)
        except (Error, IndexError, TimeoutError):
            return None
        return cls(chromium, browser, Gate(interceptor, context, helper, release, reach, log), log)

    def listen(self, saw: Callable[[Request], None]) -> None:
        """Call `saw` with each request of the pages, except those of an observer's fresh page."""
        self._context.on("request", saw)

    async def remember_state(self) -> None:
        """Read cookies and storage at a checkpoint, while the pages answer. A tab's session storage isn't read here.

        Playwright opens its own page to read the storage of a frame's origin. After that, no screenshot of a page with
        frames behind it succeeds (measured), so the pages are brought to the front again.
        """
        state = await _within(STATE_SECONDS, self._context.storage_state(indexed_db=bool(self.indexed_db)))
        if state is not None:
            read = without_undeclared(dict(state), self.indexed_db)
            self.last_state = {**read, SESSION_STORAGE: self.last_state.get(SESSION_STORAGE, {})}
        pages = [page for page in self._context.pages if page != self.gate.helper]
        if any(len(page.frames) > 1 for page in pages):
            await _to_front(pages)

    def remember_tab(self, origin: str, stored: dict[str, str]) -> None:
        """Keep the session storage of the task's page for its origin; that of other origins can't be read from here."""
        in_tab = {**self.last_state.get(SESSION_STORAGE, {}), origin: stored}
        self.last_state = {**self.last_state, SESSION_STORAGE: in_tab}

    async def state(self) -> dict[str, Any]:
        """The current cookies, with the storage last read: a page that hangs doesn't return its own (measured)."""
        cookies = await _within(STATE_SECONDS, self._context.cookies())
        if cookies is not None:
            self.last_state = {**self.last_state, "cookies": [dict(cookie) for cookie in cookies]}
        return self.last_state

    def _remember_dialog(self, dialog: Dialog) -> None:
        self._dialogs.append(dialog)

    async def arm(self, gesture: str, sends: str | None, site: SiteWrites = NO_SITE) -> bool:
        """Arm the gate. If its helper page has crashed with the others, open a new one, once."""
        if await self.gate.arm(gesture, sends, site):
            return True
        helper = await _within(ATTACH_SECONDS, _new_helper(self._context))
        if helper is None:
            return False
        self.gate.helper = helper
        return await self.gate.arm(gesture, sends, site)

    async def disarm(self) -> bool:
        """Open the gate; False if the browser doesn't answer."""
        return await _within(DISARM_SECONDS, self._disarm()) is True

    async def _disarm(self) -> bool:
        await self.gate.disarm()
        return True

    async def dismiss_dialogs(self) -> None:
        """Dismiss the dialogs that a dead worker left open, so that the page can be read."""
        while self._dialogs:
            await _within(STATE_SECONDS, self._dialogs.pop().dismiss())

    async def end(self) -> datetime:
        """Kill all of its processes, and return when all were confirmed dead.

        Raises:
            StillAlive: one of them is still alive, so nothing may be concluded.
        """
        self.ended = True
        self.gate.refuse("the browser was ended")
        await asyncio.to_thread(self.chromium.end)
        dead_at = datetime.now(UTC)
        if self.log is not None:
            self.log.close()
        await _within(STATE_SECONDS, self._browser.close())
        await asyncio.to_thread(shutil.rmtree, self.chromium.profile, ignore_errors=True)
        return dead_at


def close_hanging_pages(chromium: Chromium) -> None:
    """Close all pages but the helper, without attaching: attaching hangs on an open dialog or a busy script."""
    for target in chromium.targets():
        if target.kind == "page" and target.url != HELPER_ADDRESS:
            close_page_by_port(chromium.endpoint, target.id)


async def driver_answers(playwright: Playwright) -> bool:
    """Whether the driver still answers; the gate doesn't work through a dead one."""
    try:
        probe = await asyncio.wait_for(playwright.request.new_context(), DRIVER_SECONDS)
        await asyncio.wait_for(probe.dispose(), DRIVER_SECONDS)
    except (Error, TimeoutError):
        return False
    return True


def ignore_lost_answers(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """An event loop's exception handler that ignores a dead driver's errors; its death is reported elsewhere."""
    if "reading from the driver" not in str(context.get("exception")):
        loop.default_exception_handler(context)


async def _install_interceptor(browser: Browser, context: BrowserContext, helper: Page) -> Interceptor:
    """Install it in the whole browser, and in the context's existing pages."""
    of_helper = await context.new_cdp_session(helper)
    target = await of_helper.send("Target.getTargetInfo")
    await of_helper.detach()
    interceptor = await Interceptor.install(await browser.new_browser_cdp_session(), browser_context_of(target))
    await context.route(EVERYTHING, _continue)
    await context.unroute(EVERYTHING, _continue)
    return interceptor


async def _continue(route: Route) -> None:
    await route.continue_()


async def _helper_page(context: BrowserContext) -> Page:
    for page in context.pages:
        if page.url == HELPER_ADDRESS:
            return page
    return await _new_helper(context)


async def _new_helper(context: BrowserContext) -> Page:
    others = list(context.pages)
    page = await context.new_page()
    await page.goto(HELPER_ADDRESS)
    await _to_front(others)
    return page


async def _to_front(pages: Sequence[Page]) -> None:
    """Bring each page to the front: a screenshot of a page in the background takes twenty times longer (measured)."""
    for page in pages:
        await _within(FRONT_SECONDS, page.bring_to_front())  # a crashed page never answers


async def _within(seconds: float, answer: Awaitable[T]) -> T | None:
    """The answer; None if the browser doesn't give one in that time."""
    try:
        return await asyncio.wait_for(answer, seconds)
    except (Error, TimeoutError):
        return None


PAGE_SECONDS = 3.0


async def apply_appearance(context: BrowserContext, appearance: Appearance) -> None:
    """Apply it to the pages of a context, and to each new page when it opens."""
    if not (appearance.viewport or appearance.locale):
        return

    async def apply(page: Page) -> None:
        with suppress(Error, TimeoutError):  # the page is gone or doesn't answer
            await asyncio.wait_for(_apply(page, appearance), PAGE_SECONDS)

    context.on("page", apply)
    for page in context.pages:
        await apply(page)


async def _apply(page: Page, appearance: Appearance) -> None:
    if appearance.viewport:
        width, height = appearance.viewport
        await page.set_viewport_size(ViewportSize(width=width, height=height))
    if appearance.locale:
        session = await page.context.new_cdp_session(page)  # not detached: the override ends with its session
        await session.send("Emulation.setLocaleOverride", {"locale": appearance.locale})
