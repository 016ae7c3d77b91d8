"""Open runs: gestures on a page that the caller owns (a test, an agent, a notebook), recorded and proven.

There is no keeper, and the browser isn't ours to end. No sender is confirmed dead, so absence never proves anything.
A gesture is never repeated automatically, because only the page's owner can prepare the page for it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

from playwright.sync_api import Browser, Error, Page

from browser_agent.browser.deadline import DeadlinePassed, within
from browser_agent.browser.own_page_gate import OwnPageGate
from browser_agent.browser.task_page import TaskPage
from browser_agent.errors import Fact, Misuse, Stop
from browser_agent.options import OPEN_TASK, Event, OnEvent, Options
from browser_agent.ownership.held_lease import RenewedLease
from browser_agent.ownership.takeover import last_attempt, take_over
from browser_agent.processes import own_user
from browser_agent.reporting.announcer import Announcer
from browser_agent.run.attempt import Attempt
from browser_agent.run.executor import Run, state_after
from browser_agent.script.gestures import Gesture
from browser_agent.script.steps import Step, StepCall, step
from browser_agent.settings_sources import load, store_meant
from browser_agent.states import Point, RunState
from browser_agent.store import AttemptEnd, Lease, Store
from browser_agent.wire import SiteWrites, WireReport
from observers import Site

T = TypeVar("T")

SESSION_SECONDS = 3.0

Reach = Callable[[Point, int], None]
"""Called at each durable point of the run's Nth gesture. At the wire (`AT_THE_WIRE`) it must not call Playwright or
raise anything; elsewhere, what it raises leaves `make`."""

AT_THE_WIRE = frozenset({Point.PAUSED, Point.RELEASED, Point.ANSWERED})


def _no_fault(_: Point, __: int) -> None:
    """Inject no fault: the process belongs to the caller."""


class OpenAttempt(Attempt):
    """An attempt on a page that the caller owns.

    Args:
        store, sites, options: see `Attempt`.
        held: the lease, which is renewed while the run is open.
        page: the page.
        on_event: called with each event.
        reach: see `Reach`.
    """

    may_end = False

    def __init__(  # noqa: PLR0917  # an attempt needs all of them
        self,
        store: Store,
        held: RenewedLease,
        page: Page,
        browser: Browser,
        sites: Mapping[str, Site],
        options: Options,
        on_event: OnEvent,
        reach: Reach = _no_fault,
    ) -> None:
        super().__init__(store, held.lease, sites, replace(options, keep_looking=0.0, pause_before_gesture=False))
        self._renewed_lease, self._on_event = held, on_event
        self._own_task_page = self._task_page = TaskPage(browser, page, store.artifacts.save, self.mask_rules)
        self.task_page.fresh, self.task_page.look_seconds = options.appearance.context_options, options.look_timeout
        self._reach, self._number = reach, 0
        self._guard = OwnPageGate(page, self._release, lambda point, gesture: reach(point, self._number))
        self._session: dict[str, Any] = {}

    @property
    def task_page(self) -> TaskPage:
        return self._own_task_page

    def fresh_page(self) -> Page:
        return self.task_page.page

    def session(self) -> dict[str, Any]:
        """The current cookies, and the storage from before the gesture, because a page that hangs doesn't return it."""
        with suppress(Error, DeadlinePassed):
            cookies = within(SESSION_SECONDS, self.task_page.context.cookies)
            self._session = {**self._session, "cookies": [dict(cookie) for cookie in cookies]}
        return self._session

    def checkpoint(self, of: str | None) -> None:
        """Store nothing: only its owner can restore the page."""

    @property
    def senders_seen(self) -> bool:
        """Always false: the caller's browser isn't ended here."""
        return False

    def browser_alive(self) -> bool:
        return not self.task_page.lost

    def broken(self) -> bool:
        return self.task_page.lost

    def end_browser(self) -> datetime:
        self._guard.refuse("the gesture is being settled")
        return self.clock.now()

    def arm(self, gesture: str, sends: str | None, site: SiteWrites) -> bool:
        with suppress(Error, DeadlinePassed):
            self._session = dict(within(SESSION_SECONDS, self.task_page.context.storage_state))
        return self._guard.arm(gesture, sends, site)

    def disarm(self) -> None:
        self._guard.disarm()

    def wire(self, gesture: str) -> WireReport:
        return self._guard.report(gesture)

    def emit(self, kind: str, words: str, **details: Any) -> None:
        self._on_event(
            self.store.database.scrubber.facts(Event(kind, words, self.lease.run, self.lease.attempt, details))
        )

    def pause(self, words: str) -> None:
        """Don't pause: the page's owner can stop before any line of the calling code."""

    @property
    def stop_asked(self) -> bool:
        return False

    def reach(self, point: Point, number: int) -> None:
        self._number = number  # whatever reaches the wire from now on belongs to this gesture
        self._reach(point, number)

    def close(self) -> None:
        """Remove the guard from the page."""
        with suppress(Error):  # the page may be gone
            self._guard.close()

    def _release(self, gesture: str, method: str, address: str) -> None:
        self._renewed_lease.check()
        self.store.journal.release(self.lease, gesture, method, address)


class OpenRun(Run):
    """A run whose task is the code around it."""

    def __init__(self, attempt: Attempt, site: Site | None) -> None:
        super().__init__(attempt)
        self._site = site

    def make(self, gesture: Gesture[T], *, key: str | None = None) -> T:
        """Make a gesture on the page as it is now; or return what an earlier attempt at this run has proven for it.

        Args:
            gesture: what to make, with its proof.
            key: the gesture's own name, if two gestures with one intent are meant as two.

        Returns:
            What was proven.

        Raises:
            Refused, Rejected, NotHappened: facts; nothing is made again by itself.
            OutcomeUnknown: a question waits for a person; the run can be opened again afterwards, with its key.
            Stop: the run has stopped; every later call raises the same.
        """
        return self.step(_call(gesture, self._site), key=key)

    def cut(self) -> None:
        """Let nothing more of this attempt be stored, as if its process had died here. For tests."""
        self._attempt.store.database.shut()


@contextmanager
def open_run(
    page: Page,
    *,
    site: Site | None = None,
    sites: Sequence[Site] = (),
    store: Path | str | None = None,
    key: str | None = None,
    on_event: OnEvent = lambda event: None,
    options: Options | None = None,
    addresses: Mapping[str, str] | None = None,
    reach: Reach = _no_fault,
) -> Iterator[OpenRun]:
    """Open a run on a page that you own; use it with `with`.

    Args:
        page: the page of a browser that was launched or connected to with Playwright's sync interface.
        site: the site that gestures change.
        sites: further sites that observers look at.
        store: where the run is stored; the folder's or the user's own store by default.
        key: your own name for the work, such as "order-17". A run that has it already is resumed; without a key a run
            can be explained, but not resumed.
        on_event: called with each event, in words for a person.
        options: see `Options`; by default, as the settings of the folder and the environment say.
        addresses: the real addresses of sites, by name, if they are reached through a proxy whose address changes: the
            same key then still means the same work.
        reach: see `Reach`; for tests.

    Raises:
        Misuse: the page belongs to a persistent context, in which no fresh page can be opened to look from, or to
            Firefox or WebKit, where nothing can guard it.
        InOtherHands: the key belongs to other work, or a living process has the run.
        NotAllowed: the run of that key has ended for good.
    """
    browser = _browser_of(page)
    known = {each.name: each for each in (*sites, *([site] if site is not None else []))}
    using = load()
    where = store_meant(store, using)
    kept = options or using.options()
    frozen = _frozen(known, addresses or {})
    with Store(where, host=using.host, evidence=using.evidence) as opened:
        row = opened.leases.submit(
            task_file=OPEN_TASK, task_name=OPEN_TASK, arguments="{}", sites=frozen, key=key, by=own_user()
        )
        held = RenewedLease(opened, take_over(opened, row.id, last_attempt(opened, row.id)))
        announcer = Announcer(opened, row.id, kept, on_event)
        attempt = OpenAttempt(opened, held, page, browser, known, kept, announcer.announce, reach)
        run = OpenRun(attempt, site)
        try:
            with announcer, held.renewed_by_thread(), _ended(opened, held.lease, run):
                run.recover()
                yield run
                run.end()
        finally:
            attempt.close()


def _browser_of(page: Page) -> Browser:
    browser = page.context.browser
    if browser is None:
        raise Misuse("An open run needs a page of `browser.new_context()`: a persistent context can't open fresh ones.")
    if (kind := browser.browser_type.name) != "chromium":
        raise Misuse(
            f"An open run needs a page of Chromium, not of {kind}: there a page can neither be guarded nor carried on "
            "after an interruption. Nothing was made."
        )
    return browser


@contextmanager
def _ended(store: Store, lease: Lease, run: OpenRun) -> Iterator[None]:
    """Store how the run stands when its code returns or raises."""
    try:
        yield
    except BaseException as error:
        if store.database.is_shut:  # after `cut`: a dead process would store nothing
            raise
        stop = run.stop or (error if isinstance(error, Stop) else None)
        if stop is None:
            run.reopen(error)
        state = RunState.RAISED if stop is None else state_after(stop)
        said = str(error) if isinstance(error, Fact | Stop | Misuse) else (str(error).splitlines() or [""])[0]
        kind = type(error).__name__
        _end(store, lease, state, f"{kind}: {said}", kind if state is RunState.RAISED else None)
        raise
    if store.database.is_shut:
        return
    if run.stop is not None:  # the caller's code caught the stop
        _end(store, lease, state_after(run.stop), str(run.stop))
        raise run.stop
    _end(store, lease, RunState.FINISHED, "the code completed")


def _end(store: Store, lease: Lease, state: RunState | None, words: str, error_kind: str | None = None) -> None:
    if state is not None:
        store.leases.end(lease, state, ended_by=words, error_kind=error_kind)
    store.leases.end_attempt(lease, AttemptEnd(words))


def _frozen(sites: Mapping[str, Site], addresses: Mapping[str, str]) -> str:
    where = {name: {"url": addresses.get(name, site.url), "account": site.account} for name, site in sites.items()}
    return json.dumps(where)


def _call(gesture: Gesture[T], site: Site | None) -> StepCall[T]:
    """The gesture as a call of a step that makes it only once, because nothing here could prepare the page again."""

    def make(page: Page, words: str) -> Any:
        return gesture

    gesture.take()
    gives = type(None) if gesture.gives is None else gesture.gives
    make.__annotations__["return"] = Gesture[gives]  # type: ignore[valid-type]  # known at run time only
    made: Step[..., T] = step(site=site, again=0, refusals=0)(make)
    return made(gesture.intent)
