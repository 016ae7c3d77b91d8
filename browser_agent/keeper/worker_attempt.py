"""An attempt in a worker process: it acts in its keeper's Chromium and asks the keeper for everything else."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from typing import Any, NoReturn

from playwright.sync_api import Error, Page, Playwright, TimeoutError

from browser_agent import processes
from browser_agent.browser.chromium import Chromium
from browser_agent.browser.deadline import DeadlinePassed
from browser_agent.browser.downloads import Downloads, sweep
from browser_agent.browser.guarded_browser import ATTACH_SECONDS
from browser_agent.browser.task_page import ATTACH_NEW_SECONDS, TaskPage
from browser_agent.errors import MachineTrouble, Stopped
from browser_agent.keeper.channel import KEEPER_GONE_CODE, Channel
from browser_agent.options import Options
from browser_agent.ownership.takeover import visible_here
from browser_agent.processes import ProcessId
from browser_agent.run.attempt import Attempt
from browser_agent.states import Point
from browser_agent.store import Lease, Store
from browser_agent.store.records import AttemptRow
from browser_agent.wire import SiteWrites, WireReport
from observers import Site

BROWSER_SECONDS = 60.0
"""How long it may take to start a browser and attach to it; this doesn't count towards a step's time limit."""
_NO_STEP = ("", "")


class WorkerAttempt(Attempt):
    """One worker's attempt at a run.

    Args:
        store, lease, sites, options: see `Attempt`.
        channel: the channel to the keeper.
        playwright: the worker's Playwright.
    """

    may_end = True

    def __init__(  # noqa: PLR0917  # an attempt needs all six
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
        self._step = _NO_STEP  # the step whose time limit runs: its name, and its call in words

    @property
    def task_page(self) -> TaskPage:
        if self._task_page is not None and not self._task_page.browser.is_connected():
            self._task_page = None
        if self._task_page is None:
            self.restart_step_limit(BROWSER_SECONDS)
            self._task_page = self._attached() or self._attached_to_new()
            self._prepare(self._task_page)
            self._task_page.give_session_storage(self.session)
            self.store.leases.record(self.lease, page=self._task_page.target)
            self.restart_step_limit()
        return self._task_page

    def _attached(self) -> TaskPage | None:
        """Attach to the browser; None if that fails: a page that waits for an answer blocks every client (measured)."""
        held = self.channel.ask("browser")
        self._chromium = Chromium.found(held["stored"])
        seconds = ATTACH_NEW_SECONDS if held["new"] else ATTACH_SECONDS
        save, slow_mo = self.store.artifacts.save, self.options.slow_mo
        try:
            return TaskPage.attached(
                self._playwright, self._chromium.endpoint, self._old_target(), save, slow_mo, seconds, self.mask_rules
            )
        except (TimeoutError, DeadlinePassed):
            return None

    def await_downloads(self) -> None:
        if self._downloads is not None:
            self._downloads.wait()

    def _prepare(self, task_page: TaskPage) -> None:
        if self.options.downloads is not None:
            run, number, folder = self.lease.run, self.lease.attempt, self.options.downloads
            if self._downloads is None:
                sweep(folder, run)
            else:
                self._downloads.wait(0.0)  # what the last browser was downloading is lost, and reported
            self._browsers += 1
            self._downloads = Downloads(task_page.context, folder, f"{run}-{number}-{self._browsers}", self.emit)
        task_page.fresh, task_page.look_seconds = self.options.appearance.context_options, self.options.look_timeout
        if self.options.page_timeout is not None:
            task_page.context.set_default_timeout(self.options.page_timeout * 1000)

    def _attached_to_new(self) -> TaskPage:
        self.channel.ask("end_browser")
        task_page = self._attached()
        if task_page is None:
            raise MachineTrouble("Nothing can attach to a new browser.")
        return task_page

    def fresh_page(self) -> Page:
        task_page = self.task_page
        if task_page.lost:
            task_page.renew()
            task_page.give_session_storage(self.session)
            self.store.leases.record(self.lease, page=task_page.target)
        return task_page.page

    def session(self) -> dict[str, Any]:
        state: dict[str, Any] = self.channel.ask("state")["state"]
        return state

    def checkpoint(self, of: str | None) -> None:
        if self._task_page is None or self._task_page.lost:
            return
        found = self._task_page.state()
        page = {"state": found.model_dump(mode="json"), "shown": found.shown, "of": of} if found is not None else None
        with suppress(MachineTrouble):  # a run that can't be checkpointed can still be finished
            self.channel.ask("checkpoint", page=page)

    @property
    def senders_seen(self) -> bool:
        if not self._senders_seen:  # a death may be attested meanwhile, and an attestation is never withdrawn
            rows = self.store.leases.attempts(self.lease.run)
            self._senders_seen = all(
                row.attested is not None or visible_here(self.store, row.host, row.keeper) for row in rows
            )
        return self._senders_seen

    def browser_alive(self) -> bool:
        """Whether the browser's process lives, by its pid and start time."""
        return bool(self.channel.ask("browser_alive")["alive"])

    def broken(self) -> bool:
        return bool(self._broken_part())

    def what_broke(self, error: BaseException) -> str:
        looks = 20 if isinstance(error, Error | RuntimeError) else 1  # a death is seen a moment after it raised these
        for _ in range(looks):
            if broken := self._broken_part():
                return broken
            self.sleep(0.05)
        return ""

    def _broken_part(self) -> str:
        if self.driver is not None and not processes.alive(self.driver):
            return "the worker's Playwright driver died"
        if not self.browser_alive():
            return "the browser died"
        if self._task_page is not None and self._task_page.crashed:
            return "the page crashed"
        if self._task_page is not None and not self._task_page.browser.is_connected():
            return "the connection to the browser was lost"
        return ""

    def end_browser(self) -> datetime:
        """Have the keeper end the browser; returns when all of it was confirmed dead. The next use starts a new one."""
        reply = self.channel.ask("end_browser")
        self._task_page = None
        return datetime.fromisoformat(reply["dead_at"])

    def arm(self, gesture: str, sends: str | None, site: SiteWrites) -> bool:
        return bool(self.channel.ask("arm", gesture=gesture, sends=sends, site=site._asdict())["guarded"])

    def disarm(self) -> None:
        """Have the keeper open the gate; a page that hangs is lost with its browser."""
        if self.channel.ask("disarm")["ended"]:
            self._task_page = None

    def wire(self, gesture: str) -> WireReport:
        return WireReport.model_validate(self.channel.ask("report", gesture=gesture)["report"])

    def emit(self, kind: str, words: str, **details: Any) -> None:
        self.channel.report(kind=kind, words=words, details=details)

    @contextmanager
    def timed_step(self, name: str, words: str) -> Iterator[None]:
        self._report_step((name, words))
        try:
            yield
        finally:
            self._report_step(_NO_STEP)

    @contextmanager
    def watch_preparation(self, step: str, harmless: Sequence[str]) -> Iterator[None]:
        self.channel.ask("watch_step", step=step, harmless=list(harmless))  # answered before the page can write
        try:
            yield
        finally:
            self.channel.ask("watch_step", step="", harmless=[])

    def restart_step_limit(self, seconds: float = 0.0) -> None:
        if self._step != _NO_STEP:
            self._report_step(self._step, seconds)

    def _report_step(self, step: tuple[str, str], seconds: float = 0.0) -> None:
        self._step = step
        if self.options.step_timeout is not None:
            self.channel.ask("at_step", name=step[0], call=step[1], seconds=seconds)

    def pause(self, words: str) -> None:
        step = self._step
        self._report_step(_NO_STEP)  # a person's time doesn't count towards the step's limit
        go = self.channel.ask("pause", words=words)["go"]
        self._report_step(step)
        if not go:
            raise Stopped("Stopped by a person before the next gesture, which was NOT made. Nothing is in doubt.")

    @property
    def stop_asked(self) -> bool:
        return self.channel.stop_asked.is_set()

    def reach(self, point: Point, number: int) -> None:
        if self._kill_at is not None and (self._kill_at.point, self._kill_at.gesture) == (point, number):
            self._kill_at = None
            self.channel.ask("inject")

    def keeper_gone(self) -> NoReturn:
        """End the browser, then this process: without its keeper the browser would release held requests (measured)."""
        if self._chromium is not None:
            self._chromium.end()
        os._exit(KEEPER_GONE_CODE)

    def _old_target(self) -> str | None:
        earlier: list[AttemptRow] = self.store.leases.attempts(self.lease.run)
        return next((row.page for row in reversed(earlier) if row.page and row.number <= self.lease.attempt), None)
