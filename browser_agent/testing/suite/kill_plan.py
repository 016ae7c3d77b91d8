"""What one test kills, once: planned by the test, carried out by its task or its open run."""

from __future__ import annotations

from browser_agent.errors import Misuse
from browser_agent.options import KillAt
from browser_agent.states import Point, Victim
from browser_agent.testing.suite.kill_points import in_words, point_of

PLANNED = {Victim.WORKER: "the worker was to be killed", Victim.BROWSER: "the browser was to be killed"}


class KillPlan:
    """The plan of one test.

    Attributes:
        planned: what to kill, and where; None = nothing.
        done: it was killed.
    """

    def __init__(self) -> None:
        self.planned: KillAt | None = None
        self.done = False

    def plan(self, victim: Victim, after: str, gesture: int) -> None:
        """Plan to kill the victim at that point of the Nth gesture.

        Raises:
            Misuse: there is no such point or gesture, or a kill is planned already.
        """
        if gesture < 1:
            raise Misuse(f"Gestures are counted from 1: nothing can be killed at gesture {gesture}.")
        self.set(KillAt(point_of(after), gesture, victim))

    def set(self, kill: KillAt | None) -> None:
        """Plan a kill.

        Raises:
            Misuse: a kill is planned already. With one kill per test, the result says what was survived.
        """
        if self.planned is not None and kill is not None:
            raise Misuse(f"This test already has a kill: {self}. Write another test for the second one.")
        self.planned = kill or self.planned

    @property
    def pending(self) -> KillAt | None:
        """What is still to be killed."""
        return None if self.done else self.planned

    def due(self, point: Point, gesture: int) -> KillAt | None:
        """The kill that is due at this point, which counts as done from now on."""
        kill = self.pending
        if kill is None or (kill.point, kill.gesture) != (point, gesture):
            return None
        self.done = True
        return kill

    def __str__(self) -> str:
        if self.planned is None:
            return "nothing is killed"
        return f"{PLANNED[self.planned.victim]} {in_words(self.planned.point, self.planned.gesture)}"
