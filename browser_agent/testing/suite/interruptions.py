"""`every_interruption`: the kill points at which a test is run, from the marker's arguments."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from browser_agent.errors import Misuse
from browser_agent.options import KillAt
from browser_agent.testing.suite.kill_points import WORDS, in_words, point_of

UNDISTURBED = "undisturbed"


def crossings(
    points: Iterable[str] | str | None = None, gestures: int = 1, may_ask: bool = False
) -> list[KillAt | None]:
    """The point at which the worker is killed in each crossing; None = nothing is killed, in the first one.

    Args:
        points: the names of the points; by default all of them.
        gestures: for how many gestures of the run, from the first, crossings are made.
        may_ask: see `Trial`.

    Raises:
        Misuse: a point is unknown, or no point is given.
    """
    words = [points] if isinstance(points, str) else WORDS if points is None else points
    at = [point_of(word) for word in words]
    if not at or gestures < 1:
        raise Misuse("every_interruption needs a point and a gesture to kill at: leave points= and gestures= out.")
    return [None, *(KillAt(point, number) for number in range(1, gestures + 1) for point in dict.fromkeys(at))]


def names(found: Sequence[KillAt | None]) -> list[str]:
    """The crossings' names in the tests' ids."""
    return [UNDISTURBED if kill is None else f"killed {in_words(kill.point, kill.gesture)}" for kill in found]
