"""What one attempt works with: its lease, the store, the acting page, the gate before it.

A bundle with a few small doors, so that making, looking and recovery need not know whose browser it is: the keeper's
Chromium (`WorkerAttempt`), or a page that somebody else owns (`OpenAttempt`). Decides nothing.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import Any, ClassVar, NoReturn

from playwright.sync_api import Page

from browser_agent.browser.recorder import Recorder
from browser_agent.browser.screenshot import Veil
from browser_agent.browser.task_page import Acting
from browser_agent.errors import Stopped, WaitingForPerson
from browser_agent.options import Options
from browser_agent.script.gestures import Gesture
from browser_agent.states import Point
from browser_agent.store import Asked, Lease, Store
from browser_agent.wire import WireReport
from observers import NOT_BEGUN, Recording, RecordingKind, Site


class Attempt(ABC):
    """One go at a run.

    Args:
        store: the run's store.
        lease: the right to change the run.
        sites: the run's sites by name, bound to its addresses.
        options: how the run is kept.

    Attributes:
        may_end: the browser is ours to end. Where it is not, no sender is ever dead, and absence never proves.
    """

    may_end: ClassVar[bool]

    def __init__(self, store: Store, lease: Lease, sites: Mapping[str, Site], options: Options) -> None:
        self.store, self.lease, self.sites, self.options = store, lease, sites, options
        self.clock = store.clock
        self._acting: Acting | None = None
        self.recorder: Recorder | None = None  # of the last gesture that this worker made; it outlives its browser

    # the page

    @property
    def veil(self) -> Veil:
        """What pictures of its pages may not show."""
        shown = tuple(field for site in self.sites.values() for field in site.shows_fields)
        return Veil(self.store.database.scrubber, shown)

    @property
    @abstractmethod
    def acting(self) -> Acting:
        """The acting page; attached to, or opened, when it is first asked for."""

    @abstractmethod
    def fresh_page(self) -> Page:
        """The acting page for the next step; a new one if the old one has crashed or was closed."""

    @abstractmethod
    def session(self) -> dict[str, Any]:
        """The session's cookies and storage, so that a fresh page looks under the same account."""

    @abstractmethod
    def checkpoint(self, of: str | None) -> None:
        """Have the session and the state of the page kept, at a step's end or before a gesture.

        Never raises for a page or a store that can't: a checkpoint changes nothing for the run.

        Args:
            of: the step or gesture, in words; None = keep the session alone, and leave how the page stood.
        """

    def recorder_for(self, gesture: str, made: Gesture[Any]) -> Recorder:
        """A recorder of what the gesture's proof asks for."""
        kinds = frozenset[RecordingKind]().union(*(observer.records for observer in made.proof))
        page, acting = made.target.page, self.acting
        self.recorder = Recorder(gesture, page, kinds, made.sends, self.clock.now, acting.shoot)
        return self.recorder

    def recorded(self, gesture: str | None) -> Recording | None:
        """What was recorded of a gesture: nothing yet of one that isn't made (None), nothing any more after the death
        of the worker that made it."""
        if gesture is None:
            return NOT_BEGUN
        return self.recorder.recorded() if self.recorder is not None and self.recorder.gesture == gesture else None

    # the browser and its gate

    @property
    @abstractmethod
    def senders_seen(self) -> bool:
        """Whether what earlier attempts have started can't be alive unseen: they were made on this host, where it is
        ended at a take-over, or their own host has attested their deaths."""

    @abstractmethod
    def browser_lives(self) -> bool:
        """Whether the browser lives."""

    @abstractmethod
    def broken(self) -> bool:
        """Whether the driver, the browser or the acting page has died: what raised is then not the task's doing."""

    @abstractmethod
    def end_browser(self) -> datetime:
        """See to it that the gesture's page can send nothing more, and say since when: its browser is ended and seen
        dead, or, if it isn't ours to end, the guard refuses everything until it is opened again."""

    @abstractmethod
    def arm(self, gesture: str, sends: str | None) -> bool:
        """Stand before a gesture's input; False if its writes can't be guarded in this browser."""

    @abstractmethod
    def disarm(self) -> None:
        """Open the gate again; nothing is in doubt."""

    @abstractmethod
    def wire(self, gesture: str) -> WireReport:
        """What the gate has seen of a gesture."""

    # the person who watches

    @abstractmethod
    def tell(self, kind: str, words: str, **details: Any) -> None:
        """Say something to the person who watches."""

    def ask(self, asked: Asked) -> NoReturn:
        """Put a question before a person, and let the run wait for the answer: it costs no browser meanwhile.

        Raises:
            WaitingForPerson: always.
        """
        question = self.store.inbox.ask(self.lease, asked)
        self.tell("question", question.words, question=question.id, reasons=list(asked.reasons))
        raise WaitingForPerson(asked.words, question.id)

    @abstractmethod
    def pause(self, words: str) -> None:
        """Wait until the person who watches says go. Raises `Stopped` if they say no: the gesture is not made."""

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
    def at_step(self, words: str) -> Iterator[None]:
        """A step is worked at, given in words; whoever keeps the run counts its time limit."""
        yield

    @contextmanager
    def noticing(self, step: str, harmless: Sequence[str]) -> Iterator[None]:
        """A step is being prepared, given by its id: whoever keeps the run marks it when it writes something that is
        not among the harmless patterns, in case this process can't."""
        yield

    def await_downloads(self) -> None:  # noqa: B027  # where nobody keeps them, there is nothing to do
        """Wait until the files are kept whose download has begun, so that a finished step has its own."""

    def goes_on(self, seconds: float = 0.0) -> None:  # noqa: B027  # where nobody counts, there is nothing to do
        """What comes now is no step's doing and may take so long: a step's time limit is counted anew after it."""

    def sleep(self, seconds: float) -> None:
        """Wait, while the page's events go on."""
        self.goes_on(seconds)
        if self._acting is None or self._acting.lost or not self._acting.wait(seconds):
            self.clock.sleep(seconds)

    @abstractmethod
    def reach(self, point: Point, number: int) -> None:
        """A durable point of the run's Nth gesture: where a test strikes this process, or another one."""
