"""kill -9 of the worker at every durable point, on sites that commit before the kill, after it, or never.

The site's own ledger is the judge: one effect, and the run ends with its number.
"""

from itertools import product

import pytest

from browser_agent.states import Point, RunState
from tests.fix_matrix import chosen
from tests.fix_world import World

COMMITS = ("before", "late", "never")
WAYS = ("form", "fetch", "mail")
AT_THE_WIRE = (Point.PAUSED, Point.RELEASED)
"""Points of the keeper, at which form, fetch and mail can't differ: crossed with the form alone."""
TAKEN = ((Point.INPUT, "fetch", "never"), (Point.PAUSED, "form", "never"), (Point.RELEASED, "mail", "late"))
"""One for each way, and at points at which something else is known: a lost write, a held one, one that comes late."""
OTHERS = [
    cell
    for cell in product(Point, WAYS, COMMITS)
    if cell not in TAKEN and (cell[1] == "form" or cell[0] not in AT_THE_WIRE)
]
BEFORE_RELEASE = (Point.DISPATCHING, Point.PAUSED)


def break_the_road(world: World, ways: str, commits: str) -> None:
    """Let the first write commit at once, a second later behind a 504, or never."""
    site, road = (world.mail, world.to_mail) if ways == "mail" else (world.books, world.to_books)
    if commits == "late":
        site.commit_late(1.0, status=504, count=1)
    elif commits == "never":
        road.fault("drop_before_commit", "POST /messages" if ways == "mail" else "POST /invoices")


@pytest.mark.parametrize(("point", "ways", "commits"), chosen(*TAKEN, others=OTHERS))
def test_a_worker_killed_anywhere_leaves_one_effect(world: World, point: Point, ways: str, commits: str) -> None:
    if point is Point.ANSWERED and commits == "never":
        point = Point.RELEASED
    break_the_road(world, ways, commits)
    run = world.submit("send_one" if ways == "mail" else "post_one", reference="R-1", by=ways)
    ended = world.keep(run, f"{point}:1")
    assert ended.state is RunState.FINISHED, (ended, world.outcomes(run))
    if ways == "mail":
        assert world.mails("R-1") == 1
    else:
        assert world.invoices("R-1") == [ended.result.strip('"') if ended.result else None]
        reads = [asked for asked in world.books.ledger.requests if asked.path == "/shipments"]
        assert len(reads) == 1, "a finished step was read again"
    assert ended.attempts == 2, "the worker was not killed"
    check_outcomes(world.outcomes(run), point, commits)


def check_outcomes(outcomes: list[str], point: Point, commits: str) -> None:
    """Each gesture that was cut off ended as the rules say, and the last one happened."""
    assert outcomes[-1] == "happened"
    if point is Point.INTENT:
        assert outcomes[0] == "refused"
    elif point in BEFORE_RELEASE:
        assert outcomes[0] == "not_happened"
    if commits != "never" and point not in (Point.INTENT, *BEFORE_RELEASE, Point.INPUT):
        assert outcomes == ["happened"]
    assert set(outcomes) <= {"refused", "not_happened", "happened"}
