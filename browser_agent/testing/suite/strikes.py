"""What one test strikes, once: planned by the test, met by its task or by its open run.

Must not know: pytest, pages, processes. May never happen: a second strike for one plan.
"""

from __future__ import annotations

from browser_agent.errors import Misuse
from browser_agent.options import KillAt
from browser_agent.states import Point, Victim
from browser_agent.testing.suite.kill_points import in_words, point_of

STRUCK = {Victim.WORKER: "the worker was to be killed", Victim.BROWSER: "the browser was to be killed"}


class Kills:
    """The plan of one test.

    Attributes:
        planned: what is to be struck; None where nothing is.
        struck: it was.
    """

    def __init__(self) -> None:
        self.planned: KillAt | None = None
        self.struck = False

    def plan(self, victim: Victim, after: str, gesture: int) -> None:
        """Strike the victim at that point of the Nth gesture. Raises `Misuse` for an unknown word or a second plan."""
        if gesture < 1:
            raise Misuse(f"Gestures are counted from 1, so there is no gesture {gesture} to strike at.")
        self.set(KillAt(point_of(after), gesture, victim))

    def set(self, kill: KillAt | None) -> None:
        """Strike so. Raises `Misuse` for a second plan: one test, one strike, so that it says what it has shown."""
        if self.planned is not None and kill is not None:
            raise Misuse(f"This test has a strike already: {self}. Write another test for another one.")
        self.planned = kill or self.planned

    @property
    def open(self) -> KillAt | None:
        """What is still to be struck."""
        return None if self.struck else self.planned

    def meet(self, point: Point, gesture: int) -> KillAt | None:
        """The strike that is due at this point, which counts as struck from now on."""
        at = self.open
        if at is None or (at.point, at.gesture) != (point, gesture):
            return None
        self.struck = True
        return at

    @property
    def unmet(self) -> str:
        """What was planned and never reached, in words; empty if nothing was."""
        return str(self) if self.open is not None else ""

    def __str__(self) -> str:
        if self.planned is None:
            return "nothing is struck"
        return f"{STRUCK[self.planned.victim]} {in_words(self.planned.point, self.planned.gesture)}"
