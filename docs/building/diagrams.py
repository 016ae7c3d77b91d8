"""The state diagrams of the documentation, as SVG, drawn from the tables of `browser_agent.states`.

What stands here is only where each state's box lies; what leads where comes from the tables. Rows lie below each
other; an arrow between two rows is a vertical line where both boxes lie above each other and no third one between
them, so that no line ever crosses a box.

Must not know Markdown or the site's builder. What may never happen: an arrow of a table isn't drawn, or a state has no
place: both are errors, never a thinner picture.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from html import escape
from itertools import pairwise
from typing import Any, NamedTuple

from browser_agent.states import (
    GESTURE_ARROWS,
    OPEN_GESTURE_STATES,
    QUESTION_ARROWS,
    RUN_ARROWS,
    STEP_ARROWS,
    GestureState,
    QuestionState,
    RunState,
    StepState,
)

COLUMN, ROW, BOX, MARGIN = 150.0, 112.0, 46.0, 34.0
"""Width of a column, distance of two rows, height of a box, and what is left free around, in pixels."""
LANE = 9.0
"""How far a line lies from its twin of the other direction."""


class Place(NamedTuple):
    """Where a state's box lies: its row from the top, and the columns at which it begins and ends."""

    row: int
    left: float
    right: float


class Diagram(NamedTuple):
    """A table of arrows, the places of its states, and the states that are open: something is still to come."""

    title: str
    arrows: Mapping[Any, frozenset[Any]]
    places: Mapping[Any, Place]
    open: frozenset[Any]


_G, _R, _S, _Q = GestureState, RunState, StepState, QuestionState

DIAGRAMS: Mapping[str, Diagram] = {
    "gesture": Diagram(
        "The states of a gesture",
        GESTURE_ARROWS,
        {
            _G.HAPPENED: Place(0, 0, 4.8),
            _G.INTENT: Place(1, 0, 0.8),
            _G.DISPATCHING: Place(1, 1, 1.8),
            _G.IN_DOUBT: Place(1, 2, 2.8),
            _G.UNKNOWN: Place(1, 3, 3.8),
            _G.ASKED: Place(1, 4, 4.8),
            _G.REFUSED: Place(2, 0, 1.35),
            _G.REJECTED: Place(2, 1.5, 2.35),
            _G.NOT_HAPPENED: Place(2, 2.5, 4.3),
            _G.ABANDONED: Place(2, 4.45, 5.2),
        },
        OPEN_GESTURE_STATES,
    ),
    "run": Diagram(
        "The states of a run",
        RUN_ARROWS,
        {
            _R.NEW: Place(0, -0.9, 0.6),
            _R.FINISHED: Place(0, 3.2, 4.6),
            _R.RUNNING: Place(1, -0.3, 4.6),
            _R.WAITING: Place(2, -0.3, 0.5),
            _R.READY: Place(2, 0.65, 1.3),
            _R.STOPPED: Place(2, 1.45, 2.2),
            _R.RAISED: Place(2, 2.35, 3.05),
            _R.NEEDS_ATTENTION: Place(2, 3.2, 4.35),
            _R.ABANDONED: Place(3, -0.9, 4.6),
        },
        frozenset(RunState) - {_R.FINISHED, _R.ABANDONED},
    ),
    "step": Diagram(
        "The states of a step",
        STEP_ARROWS,
        {_S.BEGUN: Place(0, 1, 2), _S.FINISHED: Place(0, 2.8, 3.8), _S.RAISED: Place(1, 1, 2)},
        frozenset({_S.BEGUN}),
    ),
    "question": Diagram(
        "The states of a question",
        QUESTION_ARROWS,
        {_Q.OPEN: Place(0, 1, 2.6), _Q.ANSWERED: Place(1, 0.8, 1.7), _Q.CLOSED: Place(1, 1.9, 2.8)},
        frozenset({_Q.OPEN}),
    ),
}


class NoRoom(ValueError):
    """A state has no place, or an arrow no way: the places must be changed with the table."""


def drawn(name: str) -> str:
    """The diagram of that name; see `svg`."""
    return svg(name, DIAGRAMS[name])


def svg(name: str, diagram: Diagram) -> str:
    """A diagram as one SVG element, without an empty line in it. Raises NoRoom."""
    if missing := {*diagram.arrows, *(to for each in diagram.arrows.values() for to in each)} - {*diagram.places}:
        raise NoRoom(f"{diagram.title}: no place for {', '.join(sorted(missing))}")
    left = min(place.left for place in diagram.places.values())
    width = (max(place.right for place in diagram.places.values()) - left) * COLUMN + 2 * MARGIN
    height = max(place.row for place in diagram.places.values()) * ROW + BOX + 2 * MARGIN
    pen = Pen(diagram, MARGIN - left * COLUMN)
    lines = [pen.arrow(old, new) for old, ways in diagram.arrows.items() for new in sorted(ways)]
    boxes = [pen.box(state) for state in diagram.places]
    return "\n".join(
        [
            f'<svg class="states" viewBox="0 0 {width:g} {height:g}" style="min-width: {width * 0.75:g}px; '
            f'max-width: {width:g}px" role="img" aria-label="{diagram.title}" xmlns="http://www.w3.org/2000/svg">',
            f"<title>{diagram.title}</title>",
            f'<defs><marker id="head-{name}" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="8" markerHeight="8" '
            'orient="auto-start-reverse"><path class="head" d="M0 0 10 5 0 10z"/></marker></defs>',
            *(line.replace("HEAD", f"head-{name}") for line in lines),
            *boxes,
            "</svg>",
        ]
    )


class Pen:
    """Draws one diagram; `shift` is where its column 0 begins."""

    def __init__(self, diagram: Diagram, shift: float) -> None:
        self._diagram, self._shift = diagram, shift

    def box(self, state: StrEnum) -> str:
        """A state's box with its name; of a final state with a double rim."""
        place = self._diagram.places[state]
        x, y, width = self._x(place.left), self._top(place), (place.right - place.left) * COLUMN
        kind = "open" if state in self._diagram.open else "final"
        if state not in self._diagram.open and self._diagram.arrows[state]:
            kind = "resting"
        name = escape(state.replace("_", " "))
        return (
            f'<g class="{kind}" data-state="{state}"><rect x="{x:g}" y="{y:g}" width="{width:g}" height="{BOX:g}" '
            f'rx="7"/><text x="{x + width / 2:g}" y="{y + BOX / 2 + 5:g}">{name}</text></g>'
        )

    def arrow(self, old: StrEnum, new: StrEnum) -> str:
        """The line from one state to another, or to itself. Raises NoRoom."""
        way = self._loop(old) if old is new else self._way(old, new)
        return (
            f'<path class="arrow" data-from="{old}" data-to="{new}" marker-end="url(#HEAD)" d="{way}">'
            f"<title>{old} to {new}</title></path>"
        )

    def _way(self, old: StrEnum, new: StrEnum) -> str:
        start, end = self._diagram.places[old], self._diagram.places[new]
        if start.row == end.row:
            return self._along(start, end)
        x = self._clear(old, new)
        if old in self._diagram.arrows[new]:
            x += LANE if start.row < end.row else -LANE
        down = start.row < end.row
        return f"M{x:g} {self._top(start) + (BOX if down else 0):g}V{self._top(end) + (0 if down else BOX):g}"

    def _along(self, start: Place, end: Place) -> str:
        """Within a row: straight to the neighbour, in a bow over what stands between."""
        y = self._top(start) + BOX / 2
        between = [p for p in self._diagram.places.values() if p.row == start.row and start.right < p.left < end.left]
        if start.left > end.left:
            raise NoRoom(f"{self._diagram.title}: within a row, arrows go to the right only")
        if not between:
            return f"M{self._x(start.right):g} {y:g}H{self._x(end.left):g}"
        first, last, top = self._x(start.right) - 14, self._x(end.left) + 14, self._top(start)
        return f"M{first:g} {top:g}C{first + 22:g} {top - 32:g} {last - 22:g} {top - 32:g} {last:g} {top:g}"

    def _loop(self, state: StrEnum) -> str:
        place = self._diagram.places[state]
        return f"M{self._x(place.left) + 12:g} {self._top(place) + BOX:g}c-2 26 24 26 20 1"

    def _clear(self, old: StrEnum, new: StrEnum) -> float:
        """Where both boxes lie above each other and none between them: the middle of the widest such part."""
        start, end = self._diagram.places[old], self._diagram.places[new]
        low, high = max(start.left, end.left), min(start.right, end.right)
        rows = range(min(start.row, end.row) + 1, max(start.row, end.row))
        walls = sorted((p.left, p.right) for p in self._diagram.places.values() if p.row in rows)
        edges = [low, *(edge for wall in walls for edge in wall if low < edge < high), high]
        free = [
            (right - left, (left + right) / 2)
            for left, right in pairwise(edges)
            if right > left and not any(wall[0] <= (left + right) / 2 <= wall[1] for wall in walls)
        ]
        if not free:
            raise NoRoom(f"{self._diagram.title}: no way from {old} to {new}")
        return self._x(max(free)[1])

    def _x(self, column: float) -> float:
        return self._shift + column * COLUMN

    @staticmethod
    def _top(place: Place) -> float:
        return MARGIN + place.row * ROW
