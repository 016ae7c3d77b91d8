"""An attempt in a worker: it acts in its keeper's Chromium, and asks the keeper for all that is not its own to do."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from typing import Any, NoReturn

from playwright.sync_api import Page, Playwright, TimeoutError

from browser_agent import processes
from browser_agent.browser.chromium import Chromium
from browser_agent.browser.deadline import DeadlinePassed
from browser_agent.browser.downloads import Downloads, sweep
from browser_agent.browser.guarded_browser import ATTACH_SECONDS
from browser_agent.browser.task_page import ATTACH_NEW_SECONDS, Acting
from browser_agent.errors import MachineTrouble, Stopped
from browser_agent.keeper.channel import KEEPER_GONE_CODE, Channel
from browser_agent.options import Options
from browser_agent.ownership.takeover import near
from browser_agent.processes import ProcessId
from browser_agent.run.attempt import Attempt
from browser_agent.states import Point
from browser_agent.store import Lease, Store
from browser_agent.store.records import AttemptRow
from browser_agent.wire import WireReport
from observers import Site

BROWSER_SECONDS = 60.0
"""A browser may take so long to start and to be attached to, and that is no step's time."""


class WorkerAttempt(Attempt):
    """One worker's go at a run.

    Args:
        store, lease, sites, options: see `Attempt`.
        channel: the line to the keeper.
        playwright: the worker's Playwright.
    """

    may_end = True

    def __init__(  # noqa: PLR0917  # all six are what an attempt is made of
        self,
        store: Store,
        lease: Lease,
        channel: Channel,
        playwright: Playwright,
        sites: Mapping[str, Site],
        options: Options,
    ) -> None:
        super().__init__(store, lease, sites, options)
        self.channel = channel
        self._playwright = playwright
        self._kill_at = options.kill_at
        self._chromium: Chromium | None = None
        self.driver: ProcessId | None = None
        self._downloads: Downloads | None = None
        self._senders_seen = False
        self._browsers = 0
        self._step = ""  # whose time limit is counted

    @property
    def acting(self) -> Acting:
        if self._acting is not None and not self._acting.browser.is_connected():
            self._acting = None
        if self._acting is None:
            self.restart_step_limit(BROWSER_SECONDS)
            self._acting = self._attached() or self._attached_anew()
            self._furnish(self._acting)
            self._acting.give_session_storage(self.session)
            self.store.leases.note(self.lease, page=self._acting.target)
            self.restart_step_limit()
        return self._acting

    def _attached(self) -> Acting | None:
        """Attach to the browser; None if nothing can: a page that waits for an answer lets nobody in (measured)."""
        held = self.channel.ask("browser")
        self._chromium = Chromium.found(held["stored"])
        seconds = ATTACH_NEW_SECONDS if held["new"] else ATTACH_SECONDS
        keep, slow_mo = self.store.artifacts.keep, self.options.slow_mo_ms
        try:
            return Acting.attached(
                self._playwright, self._chromium.endpoint, self._old_target(), keep, slow_mo, seconds, self.veil
            )
        except (TimeoutError, DeadlinePassed):
            return None

    def await_downloads(self) -> None:
        if self._downloads is not None:
            self._downloads.wait()

    def _furnish(self, acting: Acting) -> None:
        if self.options.downloads is not None:
            run, number, folder = self.lease.run, self.lease.attempt, self.options.downloads
            if self._downloads is None:
                sweep(folder, run)
            else:
                self._downloads.wait(0.0)  # what was under way in the last browser is lost, and said to be
            self._browsers += 1
            self._downloads = Downloads(acting.context, folder, f"{run}-{number}-{self._browsers}", self.emit)
        acting.fresh, acting.look_seconds = self.options.appearance.context_options, self.options.look_seconds
        if self.options.page_seconds is not None:
            acting.context.set_default_timeout(self.options.page_seconds * 1000)

    def _attached_anew(self) -> Acting:
        self.channel.ask("end_browser")
        acting = self._attached()
        if acting is None:
            raise MachineTrouble("Nothing can attach to a new browser.")
        return acting

    def fresh_page(self) -> Page:
        acting = self.acting
        if acting.lost:
            acting.renew()
            acting.give_session_storage(self.session)
            self.store.leases.note(self.lease, page=acting.target)
        return acting.page

    def session(self) -> dict[str, Any]:
        state: dict[str, Any] = self.channel.ask("state")["state"]
        return state

    def checkpoint(self, of: str | None) -> None:
        if self._acting is None or self._acting.lost:
            return
        found = self._acting.state()
        page = {"state": found.model_dump(mode="json"), "shown": found.shown, "of": of} if found is not None else None
        with suppress(MachineTrouble):  # what the keeper couldn't do is no trouble of the run
            self.channel.ask("checkpoint", page=page)

    @property
    def senders_seen(self) -> bool:
        if not self._senders_seen:  # a death may be attested while we look; it is never taken back
            rows = self.store.leases.attempts(self.lease.run)
            self._senders_seen = all(row.attested is not None or near(self.store, row.host, row.keeper) for row in rows)
        return self._senders_seen

    def browser_lives(self) -> bool:
        """Whether the browser's process lives, by its pid and start time."""
        return bool(self.channel.ask("browser_lives")["alive"])

    def broken(self) -> bool:
        driver_died = self.driver is not None and not processes.alive(self.driver)
        acting_died = self._acting is not None and (self._acting.crashed or not self._acting.browser.is_connected())
        return driver_died or acting_died or not self.browser_lives()

    def end_browser(self) -> datetime:
        """Have the keeper end the browser; returns when all of it was seen dead. The next use opens a new one."""
        reply = self.channel.ask("end_browser")
        self._acting = None
        return datetime.fromisoformat(reply["dead_at"])

    def arm(self, gesture: str, sends: str | None) -> bool:
        return bool(self.channel.ask("arm", gesture=gesture, sends=sends)["guarded"])

    def disarm(self) -> None:
        """Have the keeper open the gate again; a page that hangs is lost with its browser."""
        if self.channel.ask("disarm")["ended"]:
            self._acting = None

    def wire(self, gesture: str) -> WireReport:
        return WireReport.model_validate(self.channel.ask("report", gesture=gesture)["report"])

    def emit(self, kind: str, words: str, **details: Any) -> None:
        self.channel.tell(kind=kind, words=words, details=details)

    @contextmanager
    def timed_step(self, words: str) -> Iterator[None]:
        self._count(words)
        try:
            yield
        finally:
            self._count("")

    @contextmanager
    def watch_preparation(self, step: str, harmless: Sequence[str]) -> Iterator[None]:
        self.channel.ask("notice", step=step, harmless=list(harmless))  # it is heard before anything is written
        try:
            yield
        finally:
            self.channel.ask("notice", step="", harmless=[])

    def restart_step_limit(self, seconds: float = 0.0) -> None:
        if self._step:
            self._count(self._step, seconds)

    def _count(self, step: str, seconds: float = 0.0) -> None:
        self._step = step
        if self.options.step_seconds is not None:
            self.channel.ask("at", step=step, seconds=seconds)

    def pause(self, words: str) -> None:
        step = self._step
        self._count("")  # the time that a person takes is no step's
        go = self.channel.ask("pause", words=words)["go"]
        self._count(step)
        if not go:
            raise Stopped("Stopped by a person before the next gesture, which was NOT made. Nothing is in doubt.")

    @property
    def stop_asked(self) -> bool:
        return self.channel.stop_asked.is_set()

    def reach(self, point: Point, number: int) -> None:
        if self._kill_at is not None and (self._kill_at.point, self._kill_at.gesture) == (point, number):
            self._kill_at = None
            self.channel.ask("strike")

    def keeper_gone(self) -> NoReturn:
        """The keeper has died. End the browser first: it lets a held request go by itself (measured); then leave."""
        if self._chromium is not None:
            self._chromium.end()
        os._exit(KEEPER_GONE_CODE)

    def _old_target(self) -> str | None:
        earlier: list[AttemptRow] = self.store.leases.attempts(self.lease.run)
        return next((row.page for row in reversed(earlier) if row.page and row.number <= self.lease.attempt), None)
