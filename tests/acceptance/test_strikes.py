"""Other parts than the worker die, or the worker is stopped or superseded, at every durable point: one effect each.

The site's own ledger is the judge. Where the gate proves that nothing left, no time is waited for and nobody is asked:
those runs work on a site that declares no `late_commit`, so that only the proof can settle them.
"""

from itertools import product

import pytest

from browser_agent.options import Event
from browser_agent.states import Point, RunState
from tests.fix_matrix import chosen
from tests.fix_world import World

BEFORE_THE_INPUT = (Point.BEFORE_INTENT, Point.INTENT)
BEFORE_RELEASE = (Point.DISPATCHING, Point.PAUSED)
TAKEN = ((Point.INPUT, "tabs"), (Point.PAUSED, "driver"), (Point.RELEASED, "browser"))
STRIKES = chosen(*TAKEN, others=[cell for cell in product(Point, ["browser", "driver", "tabs"]) if cell not in TAKEN])


@pytest.mark.parametrize(("point", "victim"), STRIKES)
def test_whatever_dies_at_any_point_leaves_one_invoice(world: World, point: Point, victim: str) -> None:
    run = world.submit("post_one", reference="R-1")
    ended = world.keep(run, f"{point}@{victim}")
    assert any(event.kind == "fault_injected" for event in world.events), "no fault was injected"
    assert world.invoices("R-1") == ["INV-1"], (ended, world.outcomes(run))
    assert (ended.state, ended.result) == (RunState.FINISHED, '"INV-1"')
    assert world.store.inbox.questions(run) == []
    troubles = [event.words for event in world.events if event.kind == "trouble"]
    assert victim != "driver" or all("the worker's Playwright driver died" in words for words in troubles), troubles
    if point in (Point.ANSWERED, Point.SETTLED):
        assert world.outcomes(run) == ["happened"]


@pytest.mark.parametrize("point", chosen(Point.DISPATCHING, Point.RELEASED, others=[*BEFORE_THE_INPUT, Point.PAUSED]))
def test_a_stopped_worker_sends_nothing_and_is_followed_by_another(world: World, point: Point) -> None:
    sent_by_the_stopped_one: list[int] = []

    def told(event: Event) -> None:
        if event.kind == "worker_died":
            sent_by_the_stopped_one.append(len(world.books.ledger.writes))

    run = world.submit("post_one_slowly", reference="R-1")
    ended = world.keep(run, f"{point}@stopped-worker", on_event=told)
    assert (ended.state, ended.attempts) == (RunState.FINISHED, 2)
    assert world.invoices("R-1") == ["INV-1"]
    assert world.store.inbox.questions(run) == []
    assert sent_by_the_stopped_one == [1 if point is Point.RELEASED else 0]
    if point in BEFORE_RELEASE:
        assert world.outcomes(run) == ["not_happened", "happened"]


@pytest.mark.matrix  # so is one that is stopped there
@pytest.mark.parametrize("point", BEFORE_RELEASE)
def test_a_worker_killed_before_the_release_is_proven_to_have_sent_nothing(world: World, point: Point) -> None:
    run = world.submit("post_one_slowly", reference="R-1")
    assert world.keep(run, f"{point}").state is RunState.FINISHED
    assert world.outcomes(run) == ["not_happened", "happened"]
    assert (world.invoices("R-1"), world.store.inbox.questions(run)) == (["INV-1"], [])


def test_a_superseded_worker_sends_nothing(world: World) -> None:
    run = world.submit("post_one", reference="R-1")
    dead = '{"pid": 1, "started": -1.0}'

    def told(event: Event) -> None:
        if event.kind == "dispatching":
            world.store.leases.claim(run, keeper=dead, keeper_dead=True)

    world.keep(run, on_event=told)
    assert (world.invoices("R-1"), world.outcomes(run)) == ([], ["dispatching"])
    ended = world.keep(run)
    assert (ended.state, world.invoices("R-1")) == (RunState.FINISHED, ["INV-1"])
