"""Starts, adopts, guards and ends the browser of one run across its attempts, and keeps what its gates saw.

The browser is ended by SIGKILL and confirmed dead, because nothing may be concluded from the silence of a browser that
could still send. Its session stays in memory for the next one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from playwright.async_api import Playwright, Request

from browser_agent.browser.chromium import Chromium, ChromiumSilent
from browser_agent.browser.gate import Reach, Release
from browser_agent.browser.guarded_browser import GuardedBrowser, close_hanging_pages
from browser_agent.clock import new_id
from browser_agent.keeper.channel import Message
from browser_agent.options import Options
from browser_agent.wire import NOTHING_SEEN, SiteWrites, WireReport

StoreSession = Callable[[dict[str, Any], dict[str, Any] | None], Awaitable[None]]


class RunBrowser:
    """The run's browser.

    Args:
        playwright: the keeper's own Playwright.
        folder: where browsers get their profiles.
        run: the run's id.
        options: see `Options`.
        release: see `Release`.
        reach: see `Reach`.
        session: the cookies and storage that an earlier keeper left.
        store_session: stores the session and the state of the page each time they are read.
        indexed_db: origins whose IndexedDB belongs to the session.
        saw: called with each request of its pages.
    """

    def __init__(  # noqa: PLR0917  # each is needed to start a browser
        self,
        playwright: Playwright,
        folder: Path,
        run: str,
        options: Options,
        release: Release,
        reach: Reach,
        session: dict[str, Any],
        store_session: StoreSession,
        indexed_db: Sequence[str] = (),
        saw: Callable[[Request], None] = lambda request: None,
    ) -> None:
        self._playwright, self._folder, self._run, self._options = playwright, folder, run, options
        self._release, self._reach = release, reach
        self._session, self._store_session, self._indexed_db, self._saw = session, store_session, indexed_db, saw
        self._reports: dict[str, WireReport] = {}  # of browsers that have ended
        self._guarded: GuardedBrowser | None = None

    def refuse(self, because: str) -> None:
        """Refuse all requests until the gate is armed again."""
        if self._guarded is not None:
            self._guarded.gate.refuse(because)

    async def adopt(self, text: str) -> None:
        """Take over a dead keeper's living browser, given in its stored form; end it if nothing can attach to it."""
        chromium = Chromium.found(text)
        self._guarded = await self._attach(chromium)
        if self._guarded is None:
            await asyncio.to_thread(chromium.discard)
        else:
            self._guarded.last_state = self._session  # without its cookies, which can be read at any time

    @property
    def chromium(self) -> Chromium | None:
        """The current browser."""
        return self._guarded.chromium if self._guarded is not None else None

    def lost(self) -> bool:
        """Whether the browser has died although the keeper didn't end it."""
        return self._guarded is not None and not self._guarded.ended and not self._guarded.chromium.alive()

    async def dismiss_dialogs(self) -> None:
        """Dismiss the dialogs that a dead worker left open."""
        if self._guarded is not None and self._guarded.chromium.alive():
            await self._guarded.dismiss_dialogs()

    # answers to the worker

    async def browser(self) -> Message:
        """Return the living browser, or start one with the same session; `stored` is its identity for the journal."""
        new = self._guarded is None or not self._guarded.chromium.alive()
        if self._guarded is None or new:
            await self.end_browser()
            self._guarded = await self._start_browser(self._session)
        return {"stored": self._guarded.chromium.stored, "new": new}

    async def browser_alive(self) -> Message:
        """Whether the browser's process lives."""
        return {"alive": self._guarded is not None and self._guarded.chromium.alive()}

    async def end_browser(self) -> None:
        """End the browser and see it dead; its session stays in memory for the next one."""
        if self._guarded is None:  # all earlier ones were confirmed dead when the run was taken over
            return
        self._guarded.gate.refuse("the browser is being ended")
        self._session = await self._guarded.state()
        await self._guarded.gate.catch_up()
        await self._guarded.end()
        self._reports.update(self._guarded.gate.reports())

    async def state(self) -> Message:
        """The cookies and storage of the session."""
        return {"state": await self._guarded.state() if self._guarded is not None else self._session}

    async def arm(self, gesture: str, sends: str | None, site: SiteWrites) -> Message:
        """Arm the gate before a gesture's input."""
        return {"guarded": self._guarded is not None and await self._guarded.arm(gesture, sends, site)}

    async def checkpoint(self, page: dict[str, Any] | None) -> Message:
        """Read the session and store it with the state of the page (None = unknown), in case the browser dies."""
        if self._guarded is not None and self._guarded.chromium.alive():
            if page is not None:
                self._guarded.remember_tab(page["state"]["origin"], page["state"]["session_storage"])
            await self._guarded.remember_state()
            await self._store_session(self._guarded.last_state, page)
        return {}

    async def disarm(self) -> Message:
        """Open the gate: nothing is in doubt. A browser with a hanging page is ended instead, and `ended` says so."""
        if self._guarded is None or not self._guarded.chromium.alive() or await self._guarded.disarm():
            return {"ended": False}
        await self.end_browser()
        return {"ended": True}

    async def report(self, gesture: str) -> Message:
        """What the gate saw of a gesture during this keeper's life."""
        if self._guarded is not None:
            await self._guarded.gate.catch_up()
        return {"report": self.seen(gesture).model_dump(mode="json")}

    def seen(self, gesture: str) -> WireReport:
        """The same, without what the network log has not been read for yet."""
        reports = {**self._reports, **(self._guarded.gate.reports() if self._guarded is not None else {})}
        return reports.get(gesture, NOTHING_SEEN)

    # how it is started

    async def _attach(self, chromium: Chromium) -> GuardedBrowser | None:
        for _ in range(2):
            guarded = await GuardedBrowser.attach(
                self._playwright,
                chromium,
                release=self._release,
                reach=self._reach,
                appearance=self._options.appearance,
            )
            if guarded is not None:
                return self._prepared(guarded)
            with suppress(ChromiumSilent):
                close_hanging_pages(chromium)
        return None

    async def _start_browser(self, state: dict[str, Any]) -> GuardedBrowser:
        profile = self._folder / new_id(self._run, 4)
        guarded = await GuardedBrowser.start(
            self._playwright,
            profile,
            headed=self._options.headed,
            extra=self._options.chromium_arguments,
            state=state,
            release=self._release,
            reach=self._reach,
            netlog=self._options.netlog,
            appearance=self._options.appearance,
            executable=self._options.chromium,
        )
        return self._prepared(guarded)

    def _prepared(self, guarded: GuardedBrowser) -> GuardedBrowser:
        guarded.indexed_db = self._indexed_db
        guarded.listen(self._saw)
        return guarded
