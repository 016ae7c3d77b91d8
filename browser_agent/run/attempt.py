"""What one attempt works with: its lease, the store, the task's page and the gate before it.

Abstract over who owns the browser: the keeper's Chromium (`WorkerAttempt`), or the caller's own page (`OpenAttempt`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from typing import Any, ClassVar, NoReturn

from playwright.sync_api import Page

from browser_agent.browser.recorder import Recorder
from browser_agent.browser.screenshot import MaskRules
from browser_agent.browser.task_page import TaskPage
from browser_agent.errors import Stopped, WaitingForPerson
from browser_agent.options import Options
from browser_agent.reporting.words import last_confirmed
from browser_agent.script.gestures import Gesture
from browser_agent.states import Point, QuestionKind
from browser_agent.store import Lease, NewQuestion, Store
from browser_agent.store.records import QuestionRow
from browser_agent.wire import SiteWrites, WireReport
from observers import NOT_BEGUN, Recording, RecordingKind, Site


class Attempt(ABC):
    """One attempt at a run.

    Args:
        store: the run's store.
        lease: the right to change the run.
        sites: the run's sites by name, bound to its addresses.
        options: the run's options.

    Attributes:
        may_end: the browser is ours to end. If it isn't, no sender is ever confirmed dead, and absence never proves.
    """

    may_end: ClassVar[bool]

    def __init__(self, store: Store, lease: Lease, sites: Mapping[str, Site], options: Options) -> None:
        self.store, self.lease, self.sites, self.options = store, lease, sites, options
        self.clock = store.clock
        self._task_page: TaskPage | None = None
        self.recorder: Recorder | None = None  # of the last gesture that this worker made; it outlives its browser

    # the page

    @property
    def mask_rules(self) -> MaskRules:
        """What pictures of its pages must not show."""
        shown = tuple(field for site in self.sites.values() for field in site.shows_fields)
        return MaskRules(self.store.database.scrubber, shown)

    @property
    @abstractmethod
    def task_page(self) -> TaskPage:
        """The task's page, attached to or opened on first use."""

    @abstractmethod
    def fresh_page(self) -> Page:
        """The task's page for the next step; a new one if the old one has crashed or was closed."""

    @abstractmethod
    def session(self) -> dict[str, Any]:
        """The session's cookies and storage, so that a fresh page looks under the same account."""

    @abstractmethod
    def checkpoint(self, of: str | None) -> None:
        """Store the session and the page's state, at the end of a step or before a gesture.

        Never raises when the page or the store can't: a failed checkpoint doesn't stop the run.

        Args:
            of: the step or gesture, in words. None = store the session alone, and keep the last state of the page.
        """

    def recorder_for(self, gesture: str, made: Gesture[Any]) -> Recorder:
        """A recorder of what the gesture's proof needs."""
        kinds = frozenset[RecordingKind]().union(*(observer.records for observer in made.proof))
        page, task_page = made.target.page, self.task_page
        self.recorder = Recorder(gesture, page, kinds, made.sends, self.clock.now, task_page.shoot)
        return self.recorder

    def recorded(self, gesture: str | None) -> Recording | None:
        """What was recorded of a gesture: empty before it is made (None), nothing once its worker has died."""
        if gesture is None:
            return NOT_BEGUN
        return self.recorder.recorded() if self.recorder is not None and self.recorder.gesture == gesture else None

    # the browser and its gate

    @property
    @abstractmethod
    def senders_seen(self) -> bool:
        """Whether every process that earlier attempts started is known to be dead: a takeover ends those of this host,
        and another host attests the deaths of its own."""

    @abstractmethod
    def browser_alive(self) -> bool:
        """Whether the browser is alive."""

    @abstractmethod
    def broken(self) -> bool:
        """Whether the driver, the browser or the task's page has died, so that an error isn't the task's own."""

    def what_broke(self, error: BaseException) -> str:  # an attempt may need it to know how long to look
        """What has died so that this was raised, in words; "" if nothing has."""
        return "the page was lost" if self.broken() else ""

    @abstractmethod
    def end_browser(self) -> datetime:
        """Make sure that the gesture's page sends nothing more; returns the time from which that holds.

        The browser is ended and confirmed dead. If it isn't ours to end, the guard refuses every request until it is
        opened again.
        """

    @abstractmethod
    def arm(self, gesture: str, sends: str | None, site: SiteWrites) -> bool:
        """Close the gate before a gesture's input; False if this browser's writes can't be guarded."""

    @abstractmethod
    def disarm(self) -> None:
        """Open the gate again; nothing is in doubt."""

    @abstractmethod
    def wire(self, gesture: str) -> WireReport:
        """What the gate has seen of a gesture."""

    # the person who watches or is asked

    @abstractmethod
    def emit(self, kind: str, words: str, **details: Any) -> None:
        """Emit an event for the person who watches the run."""

    def put(self, asked: NewQuestion) -> QuestionRow:
        """Store a question, with the run's last confirmed change."""
        if asked.kind is not QuestionKind.APPROVAL:  # it is about what comes next, not about what was done
            gestures = self.store.journal.gestures(self.lease.run)
            asked = replace(asked, last_confirmed=last_confirmed(gestures))
        return self.store.inbox.ask(self.lease, asked)

    def ask(self, asked: NewQuestion) -> NoReturn:
        """Ask a person and stop: a run that waits for an answer needs no browser.

        Raises:
            WaitingForPerson: always.
        """
        question = self.put(asked)
        self.emit("question", question.words, question=question.id, reasons=list(asked.reasons))
        raise WaitingForPerson(asked.words, question.id)

    @abstractmethod
    def pause(self, words: str) -> None:
        """Wait until the person who watches confirms. Raises `Stopped` if they decline: the gesture isn't made."""

    @property
    @abstractmethod
    def stop_asked(self) -> bool:
        """Whether a person asked the run to stop."""

    def check_stop(self) -> None:
        """Raise `Stopped` if a person asked the run to stop."""
        if self.stop_asked:
            raise Stopped("Stopped by a person between two steps. Nothing is in doubt.")

    # a step's time limit

    @contextmanager
    def timed_step(self, name: str, words: str) -> Iterator[None]:
        """Count a step's time limit, where the keeper enforces one, while the body runs."""
        yield

    @contextmanager
    def watch_preparation(self, step: str, harmless: Sequence[str]) -> Iterator[None]:
        """Have the keeper mark this step (by its id) if it writes while the body prepares its page, in case this
        process dies before it can. Writes that match a harmless pattern don't count."""
        yield

    def await_downloads(self) -> None:  # noqa: B027  # without a downloads folder there is nothing to wait for
        """Wait for the downloads in progress, so that a finished step has its files."""

    def restart_step_limit(self, seconds: float = 0.0) -> None:  # noqa: B027  # only a keeper enforces a limit
        """Restart the step's time limit; the next `seconds` don't count (a browser start, the proof, a person)."""

    def sleep(self, seconds: float) -> None:
        """Wait while the page's events are still handled."""
        self.restart_step_limit(seconds)
        if self._task_page is None or self._task_page.lost or not self._task_page.wait(seconds):
            self.clock.sleep(seconds)

    @abstractmethod
    def reach(self, point: Point, number: int) -> None:
        """Mark a durable point of the run's Nth gesture, at which a test may kill this process or another one."""
