"""Every durable point and every lost answer, on every site by every way, and every kind of control: the whole crossing.

Too long for each change: `make test` takes a part of it (the other files of this folder), `make matrix` all of it, and
goes on where it was stopped. The sites' own ledgers are the judge: one effect, or at a bank that shows nothing one at
most and a question.
"""

from __future__ import annotations

import pytest

from browser_agent.states import Point, RunState
from tests.acceptance.test_faults import LOST_AFTER, LOST_BEFORE
from tests.acceptance.test_sites import TRADES, Trade
from tests.fix_world import World

pytestmark = pytest.mark.matrix

KILLS = [f"{point}:1" for point in Point]
FAULTS = (*LOST_AFTER, *LOST_BEFORE)


def interrupted(world: World, site: str, sends: str, how: str) -> str | None:
    """Lay a fault in the way, or say where the worker is to be killed."""
    if how in FAULTS:
        world.road(site).fault(how, sends)
    return how if how in KILLS else None


@pytest.mark.parametrize("how", [*KILLS, *FAULTS])
@pytest.mark.parametrize("by", ["form", "fetch"])
@pytest.mark.parametrize("trade", TRADES, ids=lambda trade: trade.site)
def test_a_site_that_shows_what_was_done_has_one_effect(world: World, trade: Trade, by: str, how: str) -> None:
    kill = interrupted(world, trade.site, trade.sends, how)
    run = world.submit(trade.task, "trading.py", reference="R-1", by=by)
    ended = world.keep(run, kill)
    assert trade.effects(world) == ["R-1"], (ended, world.outcomes(run))
    assert (ended.state, ended.result) == (RunState.FINISHED, f'"{trade.gives}"')


@pytest.mark.parametrize("how", [*KILLS, *FAULTS])
@pytest.mark.parametrize(("by", "frame"), [("form", True), ("fetch", True), ("form", False), ("fetch", False)])
def test_a_bank_that_shows_nothing_has_one_effect_at_most_and_a_question(
    world: World, by: str, frame: bool, how: str
) -> None:
    world.bank.ask_in_frame = frame
    kill = interrupted(world, "bank", "POST /transfers", how)
    run = world.submit("transfer_one", "trading.py", reference="R-1", by=by, frame=frame)
    ended = world.keep(run, kill)
    assert len(world.bank.transfers) == (0 if how in LOST_BEFORE else 1), (ended, world.outcomes(run))
    assert (ended.state, world.outcomes(run)[-1], len(ended.questions)) == (RunState.WAITING, "asked", 1)


@pytest.mark.parametrize("how", [*KILLS, *FAULTS])
@pytest.mark.parametrize("by", ["check", "select", "upload", "popup"])
def test_a_control_that_writes_at_once_has_one_effect(world: World, by: str, how: str) -> None:
    contract = world.folder / "contract.pdf"
    contract.write_text("signed")
    kill = interrupted(world, "books", "POST /invoices", how)
    run = world.submit("post_one", "controls.py", reference="R-1", by=by, contract=f"{contract}")
    ended = world.keep(run, kill)
    assert len(world.invoices("R-1")) == 1, (ended, world.outcomes(run))
    assert (ended.state, ended.result) == (RunState.FINISHED, '"INV-1"')
