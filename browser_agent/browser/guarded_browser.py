"""The Chromium that the keeper holds: its process, the keeper's own connection to it, and the gate.

It outlives workers. It is ended by SIGKILL and seen dead before anything is concluded from its silence. The session
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
from browser_agent.browser.interception import EVERYTHING, Pause, home_of
from browser_agent.browser.netlog import NetworkLog
from browser_agent.wire import NO_SITE, SiteWrites
from observers.session import SESSION_STORAGE, storage_state, without_undeclared

T = TypeVar("T")

ATTACH_SECONDS = 6.0
"""How long it may take to attach to a browser that was in use: one that takes longer has a page that hangs."""
NEW_SECONDS = 25.0
"""The same for a new browser, in which nothing hangs: if it takes long, so does everything on this machine."""
STATE_SECONDS = 3.0
DRIVER_SECONDS = 5.0
DISARM_SECONDS = 3.0
FRONT_SECONDS = 1.0
HELPER_ADDRESS = "about:blank#browser-agent"
"""The address of the page from which pooled connections are closed; no task acts on it."""


class GuardedBrowser:
    """One Chromium with the keeper's connection and gate."""

    def __init__(self, chromium: Chromium, browser: Browser, gate: Gate, log: NetworkLog | None) -> None:
        self.chromium, self._browser, self.gate, self.log = chromium, browser, gate, log
        self._context = browser.contexts[0]
        self.ended = False  # by us, or about to be
        self._dialogs: list[Dialog] = []
        self.last_state: dict[str, Any] = {}  # the session as it was last read
        self.indexed_db: Sequence[str] = ()  # origins for which it belongs to the session
        # A second connection that does not listen would dismiss the worker's dialogs (measured).
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
        """A new Chromium with a new profile, given the session `state`; with `netlog`, its network log is read.

        Raises:
            ChromiumNotFound, ChromiumDidNotStart: see `Chromium.start`.
            OSError: see `NetworkLog.open`.
        """
        ours = not profile.exists()
        log, held = NetworkLog.open(profile) if netlog else None, None
        arguments = (*extra, log.argument) if log is not None else extra
        try:
            how: dict[str, Any] = {"extra": arguments, "appearance": appearance, "executable": executable}
            chromium = await asyncio.to_thread(Chromium.start, profile, headless=not headed, **how)
            keeper: dict[str, Any] = {"release": release, "reach": reach, "log": log, "appearance": appearance}
            held = await cls.attach(playwright, chromium, **keeper, seconds=NEW_SECONDS)
            if held is None:
                await asyncio.to_thread(chromium.end)
                raise ChromiumSilent("The new Chromium started, but nothing could attach to it.")
        finally:
            if held is None and log is not None:
                log.close()
            if held is None and ours:  # none of it is left running
                await asyncio.to_thread(shutil.rmtree, profile, ignore_errors=True)
        await held._restore(state)
        return held

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
        """The keeper's own connection to a living Chromium; None if it cannot be attached to in that time.

        `log` has been read from Chromium's start on; of a Chromium that another keeper has started there is none.
        """
        try:
            browser = await playwright.chromium.connect_over_cdp(chromium.endpoint, timeout=seconds * 1000)
            context = browser.contexts[0]
            helper = await _helper_page(context)
            pause = await asyncio.wait_for(_laid(browser, context, helper), seconds)
            await appear(context, appearance)
        except (Error, IndexError, TimeoutError):
            return None
        return cls(chromium, browser, Gate(pause, context, helper, release, reach, log), log)

    def listen(self, saw: Callable[[Request], None]) -> None:
        """Tell somebody of each request that the pages make; those of an observer's fresh page are not among them."""
        self._context.on("request", saw)

    async def remember_state(self) -> None:
        """Read cookies and storage, while the pages answer: at a checkpoint. A tab's own storage stays as it was.

        For the storage of a frame's origin Playwright opens a page of its own; a page with frames that was behind it is
        not photographed any more (measured).
        """
        state = await _within(STATE_SECONDS, self._context.storage_state(indexed_db=bool(self.indexed_db)))
        if state is not None:
            read = without_undeclared(dict(state), self.indexed_db)
            self.last_state = {**read, SESSION_STORAGE: self.last_state.get(SESSION_STORAGE, {})}
        pages = [page for page in self._context.pages if page != self.gate.helper]
        if any(len(page.frames) > 1 for page in pages):
            await _to_front(pages)

    def remember_tab(self, origin: str, held: dict[str, str]) -> None:
        """What the acting page's tab holds for its origin; what it holds for others can't be read meanwhile."""
        in_tab = {**self.last_state.get(SESSION_STORAGE, {}), origin: held}
        self.last_state = {**self.last_state, SESSION_STORAGE: in_tab}

    async def state(self) -> dict[str, Any]:
        """The cookies of now, with the storage that was last read: a page that hangs gives out none (measured)."""
        cookies = await _within(STATE_SECONDS, self._context.cookies())
        if cookies is not None:
            self.last_state = {**self.last_state, "cookies": [dict(cookie) for cookie in cookies]}
        return self.last_state

    def _remember_dialog(self, dialog: Dialog) -> None:
        self._dialogs.append(dialog)

    async def arm(self, gesture: str, sends: str | None, site: SiteWrites = NO_SITE) -> bool:
        """Arm the gate; its helper page may have crashed with the others, and is then opened anew, once."""
        if await self.gate.arm(gesture, sends, site):
            return True
        helper = await _within(ATTACH_SECONDS, _new_helper(self._context))
        if helper is None:
            return False
        self.gate.helper = helper
        return await self.gate.arm(gesture, sends, site)

    async def disarm(self) -> bool:
        """Open the gate; False if the browser does not answer."""
        return await _within(DISARM_SECONDS, _true_after(self.gate.disarm())) is True

    async def dismiss_dialogs(self) -> None:
        """Dismiss what a dead worker left open, so that the page can be read."""
        while self._dialogs:
            await _within(STATE_SECONDS, _dismissed(self._dialogs.pop()))

    async def end(self) -> datetime:
        """End every process of it by SIGKILL and say when all were seen dead.

        Raises:
            StillAlive: one of them lives: nothing may be concluded.
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


def free_a_hanging_page(chromium: Chromium) -> None:
    """Close pages whose open dialog or busy script makes attaching hang; they are lost."""
    for target in chromium.targets():
        if target.kind == "page" and target.url != HELPER_ADDRESS:
            close_page_by_port(chromium.endpoint, target.id)


async def driver_answers(playwright: Playwright) -> bool:
    """Whether the driver still answers; a browser that is held through a dead one is guarded no more."""
    try:
        probe = await asyncio.wait_for(playwright.request.new_context(), DRIVER_SECONDS)
        await asyncio.wait_for(probe.dispose(), DRIVER_SECONDS)
    except (Error, TimeoutError):
        return False
    return True


def without_lost_answers(loop: asyncio.AbstractEventLoop, told: dict[str, Any]) -> None:
    """A loop's exception handler: a dead driver leaves answers that nobody awaits; its death is told elsewhere."""
    if "reading from the driver" not in str(told.get("exception")):
        loop.default_exception_handler(told)


async def _laid(browser: Browser, context: BrowserContext, helper: Page) -> Pause:
    """A pause over all of the browser, and over the pages of the context that are there already."""
    of_helper = await context.new_cdp_session(helper)
    target = await of_helper.send("Target.getTargetInfo")
    await of_helper.detach()
    pause = await Pause.lay(await browser.new_browser_cdp_session(), home_of(target))
    await context.route(EVERYTHING, _passes)
    await context.unroute(EVERYTHING, _passes)
    return pause


async def _passes(route: Route) -> None:
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
    """A page in the background is photographed twenty times slower (measured)."""
    for page in pages:
        await _within(FRONT_SECONDS, page.bring_to_front())  # one that has crashed never comes


async def _true_after(act: Awaitable[None]) -> bool:
    await act
    return True


async def _dismissed(dialog: Dialog) -> None:
    await dialog.dismiss()


async def _within(seconds: float, answer: Awaitable[T]) -> T | None:
    """The answer, or None if the browser gives none in that time."""
    try:
        return await asyncio.wait_for(answer, seconds)
    except (Error, TimeoutError):
        return None


PAGE_SECONDS = 3.0


async def appear(context: BrowserContext, appearance: Appearance) -> None:
    """Set the pages of a context, those that are there before it returns, and each that comes when it comes."""
    if not (appearance.viewport or appearance.locale):
        return

    async def come(page: Page) -> None:
        with suppress(Error, TimeoutError):  # it is gone, or doesn't answer
            await asyncio.wait_for(_set(page, appearance), PAGE_SECONDS)

    context.on("page", come)
    for page in context.pages:
        await come(page)


async def _set(page: Page, appearance: Appearance) -> None:
    if appearance.viewport:
        width, height = appearance.viewport
        await page.set_viewport_size(ViewportSize(width=width, height=height))
    if appearance.locale:
        session = await page.context.new_cdp_session(page)  # it stays: the language lasts as long as it does
        await session.send("Emulation.setLocaleOverride", {"locale": appearance.locale})
