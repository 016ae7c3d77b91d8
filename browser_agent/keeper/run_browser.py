"""The browser that is held for one run, across its attempts: started, adopted, armed, ended; and what its gates saw.

These are the answers to what a worker may ask of its keeper. A browser is ended by SIGKILL and seen dead before
anybody concludes something from its silence; its session stays in memory for the next one. Never runs task code.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from playwright.async_api import Playwright, Request

from browser_agent.browser.chromium import Chromium, ChromiumSilent
from browser_agent.browser.gate import Reach, Release
from browser_agent.browser.guarded_browser import GuardedBrowser, free_a_hanging_page
from browser_agent.clock import new_id
from browser_agent.keeper.channel import Message
from browser_agent.options import Options
from browser_agent.wire import NOTHING_SEEN, WireReport

Remember = Callable[[dict[str, Any], dict[str, Any] | None], Awaitable[None]]


class RunBrowser:
    """The run's browser.

    Args:
        playwright: the keeper's own Playwright.
        folder: where browsers get their profiles.
        run: the run's id.
        options: see `Options`.
        release: see `Release`.
        reach: see `Reach`.
        session: cookies and storage as an earlier keeper left them.
        remember: keeps the session and the state of the page, each time that they were read.
        indexed_db: origins for which IndexedDB belongs to the session.
        saw: told of each request of its pages.
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
        remember: Remember,
        indexed_db: Sequence[str] = (),
        saw: Callable[[Request], None] = lambda request: None,
    ) -> None:
        self._playwright, self._folder, self._run, self._options = playwright, folder, run, options
        self._release, self._reach = release, reach
        self._session, self._remember, self._indexed_db, self._saw = session, remember, indexed_db, saw
        self._reports: dict[str, WireReport] = {}  # of browsers that have ended
        self._held: GuardedBrowser | None = None

    def refuse(self, because: str) -> None:
        """Let nothing go from now on, until the gate is armed anew."""
        if self._held is not None:
            self._held.gate.refuse(because)

    async def adopt(self, text: str) -> None:
        """Take over the living browser of a dead keeper, given as stored; end it if nothing can attach to it."""
        chromium = Chromium.found(text)
        self._held = await self._attach(chromium)
        if self._held is None:
            await asyncio.to_thread(chromium.discard)
        else:
            self._held.last_state = self._session  # but for its cookies, which can be read at any time

    @property
    def chromium(self) -> Chromium | None:
        """The browser that is held at the moment."""
        return self._held.chromium if self._held is not None else None

    def lost(self) -> bool:
        """Whether it has died without having been ended by us."""
        return self._held is not None and not self._held.ended and not self._held.chromium.alive()

    async def dismiss_dialogs(self) -> None:
        """Dismiss what a dead worker left open."""
        if self._held is not None and self._held.chromium.alive():
            await self._held.dismiss_dialogs()

    # what a worker may ask

    async def browser(self) -> Message:
        """The living browser, or a new one with the same session; `stored` is its identity for the journal."""
        new = self._held is None or not self._held.chromium.alive()
        if self._held is None or new:
            await self.end_browser()
            self._held = await self._start_browser(self._session)
        return {"stored": self._held.chromium.stored, "new": new}

    async def browser_lives(self) -> Message:
        """Whether the browser's process lives."""
        return {"alive": self._held is not None and self._held.chromium.alive()}

    async def end_browser(self) -> Message:
        """End the browser and see it dead; its session stays in memory for the next one."""
        if self._held is None:  # all earlier ones were seen dead when the run was taken over
            return {"dead_at": datetime.now(UTC).isoformat()}
        self._held.gate.refuse("the browser is being ended")
        self._session = await self._held.state()
        await self._held.gate.catch_up()
        dead_at = await self._held.end()
        self._reports.update(self._held.gate.reports())
        return {"dead_at": dead_at.isoformat()}

    async def state(self) -> Message:
        """The session's cookies and storage."""
        return {"state": await self._held.state() if self._held is not None else self._session}

    async def arm(self, gesture: str, sends: str | None) -> Message:
        """Stand before a gesture's input."""
        return {"guarded": self._held is not None and await self._held.arm(gesture, sends)}

    async def checkpoint(self, page: dict[str, Any] | None) -> Message:
        """Read the session, in case the browser dies, and keep it with how the page stands (None: it did not say)."""
        if self._held is not None and self._held.chromium.alive():
            if page is not None:
                self._held.remember_tab(page["state"]["origin"], page["state"]["session_storage"])
            await self._held.remember_state()
            await self._remember(self._held.last_state, page)
        return {}

    async def disarm(self) -> Message:
        """Open the gate: nothing is in doubt. A browser with a hanging page is ended instead, and `ended` says so."""
        if self._held is None or not self._held.chromium.alive() or await self._held.disarm():
            return {"ended": False}
        await self.end_browser()
        return {"ended": True}

    async def report(self, gesture: str) -> Message:
        """What the gate saw of a gesture, in this keeper's life."""
        if self._held is not None:
            await self._held.gate.catch_up()
        reports = {**self._reports, **(self._held.gate.reports() if self._held is not None else {})}
        report = reports.get(gesture, NOTHING_SEEN)
        return {"report": report.model_dump(mode="json")}

    # small acts

    async def _attach(self, chromium: Chromium) -> GuardedBrowser | None:
        for _ in range(2):
            held = await GuardedBrowser.attach(
                self._playwright,
                chromium,
                release=self._release,
                reach=self._reach,
                appearance=self._options.appearance,
            )
            if held is not None:
                return self._furnished(held)
            with suppress(ChromiumSilent):
                free_a_hanging_page(chromium)
        return None

    async def _start_browser(self, state: dict[str, Any]) -> GuardedBrowser:
        profile = self._folder / new_id(self._run, 4)
        held = await GuardedBrowser.start(
            self._playwright,
            profile,
            headed=self._options.headed,
            extra=self._options.chromium,
            state=state,
            release=self._release,
            reach=self._reach,
            netlog=self._options.netlog,
            appearance=self._options.appearance,
            executable=self._options.executable,
        )
        return self._furnished(held)

    def _furnished(self, held: GuardedBrowser) -> GuardedBrowser:
        held.indexed_db = self._indexed_db
        held.listen(self._saw)
        return held
