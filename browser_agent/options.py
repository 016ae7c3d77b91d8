"""The keeper's options and its reports: plain data, shared with the command line."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from browser_agent.browser.appearance import AS_IT_IS, Appearance
from browser_agent.errors import Misuse
from browser_agent.states import Point, RunState, Victim

OPEN_TASK = "(open run)"
"""The stored task file and task name of an open run, whose task is the code around it."""


@dataclass(frozen=True)
class KillAt:
    """Kill or stop the worker or another victim, once, at a point of the run's Nth gesture: a task must survive it."""

    point: Point
    gesture: int = 1
    victim: Victim = Victim.WORKER

    @classmethod
    def parse(cls, text: str) -> KillAt:
        """Parse `POINT[:N][@VICTIM]`, such as `released:2` or `paused@browser`.

        Raises:
            Misuse: the text has another form.
        """
        where, _, victim = text.partition("@")
        point, _, number = where.partition(":")
        try:
            return cls(Point(point.replace("-", "_")), int(number or 1), Victim(victim or Victim.WORKER))
        except ValueError as error:
            points, victims = ", ".join(Point), ", ".join(Victim)
            raise Misuse(
                f"{text!r} is not a point of a gesture. Write POINT[:N][@VICTIM], with one of: {points}; "
                f"and, if it is not the worker, one of: {victims}."
            ) from error

    def __str__(self) -> str:
        return f"{self.point}:{self.gesture}@{self.victim}"


@dataclass(frozen=True)
class Options:
    """How a run is kept. What a person may set has the name of its setting, see `browser_agent.settings`.

    Args:
        headed: show the browser.
        slow_mo: milliseconds to wait before every call of the page.
        pause_before_gesture: wait for Enter at the terminal before each gesture; the question is an event ("pause").
        keep_looking: seconds that an open question looks again by itself before the run waits for a person.
        attempts: how often in a row a worker may die before a person is asked.
        kill_at: see `KillAt`.
        only_look: look once at the open question and do nothing else; no step is run.
        chromium: the Chromium to start; None = `find_chromium()`.
        chromium_arguments: extra arguments for Chromium.
        netlog: read Chromium's network log, which shows a write that it sent again by itself. On by default, since the
            guard can't prevent all of them.
        downloads: the folder in which files stay that a step's pages download; None = none stays.
        appearance: see `Appearance`.
        page_timeout: seconds that one call of the page may take while a step prepares it; None = Playwright's own.
        step_timeout: seconds that a step may take before its worker is ended and another one starts; None = no limit.
            Waiting for a proof or a person doesn't count.
        gesture_timeout: seconds that a gesture waits for its control, if it does not say so itself.
        look_timeout: seconds that one look at one page may take.
        approval_timeout: seconds that an approval may be used after it was given, if its task does not say so itself.
        on_question: the command, word by word, or the one address that is notified of each question; empty = none.
        queued: a worker process keeps the run: asked to stop, it gives the run back to the queue.
        memory: MB that a worker and its browser may use together before both are ended; None = no limit.
    """

    headed: bool = False
    slow_mo: float = 0
    pause_before_gesture: bool = False
    keep_looking: float = 60
    attempts: int = 5
    kill_at: KillAt | None = None
    only_look: bool = False
    chromium: Path | None = None
    chromium_arguments: tuple[str, ...] = ()
    netlog: bool = True
    downloads: Path | None = None
    appearance: Appearance = AS_IT_IS
    page_timeout: float | None = None
    step_timeout: float | None = None
    gesture_timeout: float = 10
    look_timeout: float = 8
    approval_timeout: float = 24 * 3600
    on_question: tuple[str, ...] = ()
    queued: bool = False
    memory: float | None = None


@dataclass(frozen=True)
class Event:
    """Something that happened in a run, for a person who is watching."""

    kind: str
    words: str
    run: str
    attempt: int
    details: Mapping[str, Any] = field(default_factory=dict)


OnEvent = Callable[[Event], None]

_NO_PROGRESS = frozenset({"declaration", "trouble", "raised", "stopped", "download", "download_lost"})


def progress_mark(kind: str, words: str, details: Mapping[str, Any]) -> str | None:
    """A worker's progress as its event shows it, such as "step 12: post_invoice(S-7)"; None if it shows none."""
    if kind in _NO_PROGRESS:
        return None
    return f"step {details['seq']}: {words}" if "seq" in details else f"{kind.replace('_', ' ')}: {words}"


@dataclass(frozen=True)
class Ended:
    """Where a run stands when its keeper stops keeping it."""

    run: str
    state: RunState
    words: str
    result: str | None = None
    questions: tuple[str, ...] = ()
    attempts: int = 0
