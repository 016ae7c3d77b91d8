"""Each gesture other than a click, on a board whose ledger counts the changes: one effect, wherever the worker dies."""

from itertools import product

import pytest

from browser_agent.states import Point, RunState
from tests.fix_matrix import chosen
from tests.fix_world import World

TAKEN = (
    ("double", Point.INTENT),
    ("menu", Point.DISPATCHING),
    ("hold", Point.RELEASED),
    ("drag", Point.PAUSED),
)
"""One point for each gesture, another one each time; the hold is let go by nobody then."""
WAYS = tuple(by for by, _ in TAKEN)
WHAT = {"double": "booked", "menu": "flagged", "hold": "approved", "drag": "done"}
OTHERS = [cell for cell in product(WAYS, (None, *Point)) if cell not in TAKEN]


def changes(world: World) -> list[tuple[str, str]]:
    """What was really done to which card."""
    return [(change.card, change.what) for change in world.board.changes]


@pytest.mark.parametrize(("by", "point"), chosen(*TAKEN, others=OTHERS))
def test_a_worker_killed_anywhere_leaves_one_change(world: World, by: str, point: Point | None) -> None:
    run = world.submit("change_one", "gesturing.py", card="R-1", by=by)
    ended = world.keep(run, f"{point}:1" if point else None)
    assert changes(world) == [("R-1", WHAT[by])], (ended, world.outcomes(run))
    assert (ended.state, ended.result) == (RunState.FINISHED, '"CH-1"'), (ended, world.outcomes(run))
    assert ended.attempts == (2 if point else 1), "the worker was not killed"
    assert world.outcomes(run)[-1] == "happened"
