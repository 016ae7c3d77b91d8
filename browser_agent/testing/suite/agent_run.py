"""`agent_run`: an open run on the test's page, opened at its first use, and reopened after a cut.

A cut simulates the death of the test process: from that instant the run writes nothing, a held request never leaves,
and the page is closed. A test that is run again never makes a gesture in doubt a second time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import replace
from datetime import timedelta
from typing import Any, TypeVar

from playwright.sync_api import BrowserContext, Error, Page

from browser_agent.browser.deadline import DeadlinePassed, within
from browser_agent.errors import Stop
from browser_agent.keeper.own_page import AT_THE_WIRE, OpenRun, open_run
from browser_agent.options import Event
from browser_agent.script.gestures import Gesture
from browser_agent.script.steps import StepCall
from browser_agent.settings_sources import load
from browser_agent.states import OPEN_GESTURE_STATES, Point, RunState, Victim
from browser_agent.store import AttemptEnd, Lease, Store
from browser_agent.testing.suite.kill_points import in_words
from browser_agent.testing.suite.trial import Trial
from observers import Site

T = TypeVar("T")

CRASH_SECONDS = 2.0
"""A page that crashes never answers the command that crashes it."""
OVER = frozenset({RunState.FINISHED, RunState.ABANDONED, RunState.RAISED})


class Cut(BaseException):
    """The open run is cut off here, as its test asked. Not an `Exception`, so that no handler continues past it."""


class AgentRun:
    """The open run of one test.

    Args:
        trial: the test.
        page: its page.
        new_context: makes another context like the page's.
        site, sites: see `open_run`.

    Attributes:
        page: the current page; another one after each cut.
        is_cut: the run was cut off and is not reopened yet.
        raised: what the test function raised, if anything.
    """

    def __init__(
        self,
        trial: Trial,
        page: Page,
        new_context: Callable[..., BrowserContext],
        site: Site | None,
        sites: Sequence[Site],
    ) -> None:
        self.page, self.is_cut = page, False
        self.raised: BaseException | None = None
        self._trial, self._new_context, self._site, self._sites = trial, new_context, site, sites
        self._opening: AbstractContextManager[OpenRun] | None = None
        self._run: OpenRun | None = None
        self._stop: Stop | None = None
        self._key = ""
        self._crashing = False  # requested, and refused by Chromium so far

    # for tests

    def make(self, gesture: Gesture[T], *, key: str | None = None) -> T:
        """Make a gesture on the page, or return what an earlier call has proven for it; see `OpenRun.make`."""
        return self._opened().make(gesture, key=key)

    def step(self, call: StepCall[T], *, key: str | None = None) -> T:
        """Run a step of a task on the page; see `Run.step`."""
        return self._opened().step(call, key=key)

    def approve(self, words: str, calls: Sequence[StepCall[T]], *, valid: timedelta | None = None) -> list[StepCall[T]]:
        """See `Run.approve`."""
        return self._opened().approve(words, calls, valid=valid)

    @property
    def id(self) -> str:
        """The run's id."""
        return self._opened().id

    @property
    def attempt(self) -> int:
        """The number of this attempt at the run, from 1."""
        return self._opened().attempt

    # cut and reopened

    def reopen(self) -> None:
        """Prepare the next call: a new page with the cookies and storage of the old one, and the same run."""
        self.close()
        self._end_attempt()
        self.page = self._another_page()
        self._run, self.is_cut, self.raised = None, False, None

    def close(self) -> None:
        """Close the run as finished, cut off, or raised, depending on how the test ended."""
        opening, self._opening = self._opening, None
        if opening is not None:
            raised = Cut() if self.is_cut else self.raised
            opening.__exit__(type(raised) if raised else None, raised, raised.__traceback__ if raised else None)

    def _opened(self) -> OpenRun:
        if self._stop is not None:
            raise self._stop
        if self._run is None:
            self._key = self._key or _free_key(self._trial)
            opening = open_run(
                self.page,
                site=self._site,
                sites=self._sites,
                store=self._trial.store,
                key=self._key,
                on_event=_print,
                options=replace(load().options(), on_question=()),  # nobody is notified of a test's questions
                addresses=self._trial.addresses,
                reach=self._reach,
            )
            try:
                self._run = opening.__enter__()
            except Stop as stop:
                self._stop = stop
                raise
            finally:
                self._add_run()
            self._opening = opening
        return self._run

    def _add_run(self) -> None:
        """Add the run to the test's runs, even if opening it failed."""
        with Store(self._trial.store) as store:
            if (row := store.leases.keyed(self._key)) is not None:
                self._trial.audit.add(row.id)

    def _reach(self, point: Point, number: int) -> None:
        kill = None if self.is_cut else self._trial.kills.due(point, number)
        if kill is not None and kill.victim is Victim.BROWSER:
            self._crashing = True
        elif kill is not None and self._run is not None:
            print(f"agent_run: cut {in_words(point, number)}, as asked")
            self.is_cut = True
            self._run.cut()  # a held request never leaves: its release can no longer be stored
        if point not in AT_THE_WIRE:  # at the wire, Playwright must not be called
            self._crash_or_cut(point, number)

    def _crash_or_cut(self, point: Point, number: int) -> None:
        if self._crashing:
            self._crashing = not crash(self.page)
            self._trial.kills.done = not self._crashing
            print(f"agent_run: the page {'could not be' if self._crashing else 'is'} crashed {in_words(point, number)}")
        if self.is_cut:
            self._close_page()
            raise Cut(f"cut {in_words(point, number)}")

    def _close_page(self) -> None:
        with suppress(Error):
            self.page.close()

    def _end_attempt(self) -> None:
        """Record the end of the attempt, as a keeper does when it finds a dead process."""
        with Store(self._trial.store) as store:
            row = store.leases.keyed(self._key)
            if row is not None and row.attempt:
                end = AttemptEnd("cut by its test, as if its process had died")
                store.leases.end_attempt(Lease(row.id, row.attempt, ""), end)

    def _another_page(self) -> Page:
        old = self.page.context
        state = old.storage_state()
        old.close()
        try:
            return self._new_context(storage_state=state).new_page()
        except TypeError:  # the suite passes its own storage_state, which is older
            context = self._new_context()
            context.set_storage_state(state)
            return context.new_page()


def _print(event: Event) -> None:
    if event.kind != "step":  # its gesture has been printed
        print(f"agent_run: {event.words}")


def crash(page: Page) -> bool:
    """Crash the page's renderer. The browser itself belongs to the whole session.

    Returns:
        Whether it crashed: Chromium refuses it during a navigation (measured).
    """
    try:
        session = page.context.new_cdp_session(page)
        within(CRASH_SECONDS, lambda: session.send("Page.crash"))
    except DeadlinePassed:
        return True
    except Error:
        return False
    return True


def _free_key(trial: Trial) -> str:
    """The key of the run that an earlier execution of this test left in doubt, or else a key that no run has."""
    with Store(trial.store) as store:
        number = 1
        while (row := store.leases.keyed(key := f"{trial.key} ({number})")) is not None:
            doubt: list[Any] = [g for g in store.journal.gestures(row.id) if g.state in OPEN_GESTURE_STATES]
            if row.state not in OVER or (doubt and row.state is RunState.RAISED):
                return key
            number += 1
        return key
