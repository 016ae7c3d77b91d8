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
    """Where the worker is killed, once for each crossing; the first is None: nothing is killed.

    Args:
        points: the names of the points; all of them by default.
        gestures: the number of the run's gestures at which this is done.
        may_ask: see `Trial`.

    Raises:
        Misuse: a point is unknown, or there is none.
    """
    words = [points] if isinstance(points, str) else WORDS if points is None else points
    at = [point_of(word) for word in words]
    if not at or gestures < 1:
        raise Misuse("every_interruption needs a point and a gesture to kill at: leave points= and gestures= out.")
    return [None, *(KillAt(point, number) for number in range(1, gestures + 1) for point in dict.fromkeys(at))]


def names(found: Sequence[KillAt | None]) -> list[str]:
    """The crossings' names in the tests' ids."""
    return [UNDISTURBED if kill is None else f"killed {in_words(kill.point, kill.gesture)}" for kill in found]
