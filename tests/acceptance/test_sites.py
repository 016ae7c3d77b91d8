"""Shop, seller, wizard and bank: an interruption before the request leaves, after it was carried out, or of its answer.

The sites' own ledgers are the judge. Three of them show what was done, so each run ends with exactly one effect; at the
bank nothing can be proved on the same day, so each run ends with a question, and never with a second transfer.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from itertools import product

import pytest

from browser_agent.states import RunState
from tests.fix_matrix import chosen
from tests.fix_world import World

ENDINGS = ("dispatching:1", "answered:1", "cut_after_head")
"""Killed before the request is let go; killed when it has been answered; the answer lost on its way."""
A_DAY = 86400


@dataclass(frozen=True)
class Trade:
    """A task of one site, its commit request, and how often its effect is really there."""

    task: str
    site: str
    sends: str
    gives: str
    effects: Callable[[World], list[str]]


TRADES = (
    Trade("order_one", "shop", "POST /orders", "O-1", lambda world: [o.reference for o in world.shop.orders]),
    Trade("raise_one", "seller", "POST /changes", "121.00", lambda world: [c.remark for c in world.seller.changes]),
    Trade(
        "apply_once",
        "wizard",
        "POST /applications",
        "W-1",
        lambda world: [application.reference for application in world.wizard.applications],
    ),
)


TAKEN = ((TRADES[2], "fetch", ENDINGS[1]),)
"""The short soak runs the other sites each time, in its storm; it has no wizard."""
CELLS = chosen(*TAKEN, others=[cell for cell in product(TRADES, ["form", "fetch"], ENDINGS) if cell not in TAKEN])


def interrupt(world: World, site: str, sends: str, ending: str) -> str | None:
    """Lay the interruption in the way; where a worker is to be killed, if one is."""
    if ":" in ending:
        return ending
    world.road(site).fault(ending, sends)
    return None


@pytest.mark.parametrize(("trade", "by", "ending"), CELLS)
def test_an_interruption_leaves_one_effect(world: World, trade: Trade, by: str, ending: str) -> None:
    kill = interrupt(world, trade.site, trade.sends, ending)
    run = world.submit(trade.task, "trading.py", reference="R-1", by=by)
    ended = world.keep(run, kill)
    assert trade.effects(world) == ["R-1"], (ended, world.outcomes(run))
    assert (ended.state, ended.result) == (RunState.FINISHED, f'"{trade.gives}"')
    assert ended.attempts == (2 if kill else 1)
    assert world.outcomes(run) == (["not_happened", "happened"] if ending == "dispatching:1" else ["happened"])
    assert world.store.inbox.questions(run) == []


def check_question(world: World, run: str, questions: tuple[str, ...]) -> None:
    """There is one, and it shows the page before the gesture and the page after it."""
    assert len(questions) == 1
    gesture = world.store.journal.gestures(run)[-1]
    assert gesture.before is not None
    assert gesture.after is not None, gesture.change
    said = json.loads(world.store.inbox.question(questions[0]).reasons)
    assert any("POST /transfers" in reason for reason in said), said


FRAMES = [("form", True), ("fetch", True), ("form", False)]
BANK_ENDINGS = ("dispatching:1", "answered:1", "gateway_502_after_commit")
"""With an answer that is lost in such a way that there is a page to be photographed."""
IN_A_FRAME = (FRAMES[0], BANK_ENDINGS[2])
BANK_CELLS = chosen(IN_A_FRAME, others=[cell for cell in product(FRAMES, BANK_ENDINGS) if cell != IN_A_FRAME])


@pytest.mark.parametrize(("way", "ending"), BANK_CELLS)
def test_a_bank_that_shows_nothing_is_a_question_and_never_a_second_transfer(
    world: World, way: tuple[str, bool], ending: str
) -> None:
    by, frame = way
    world.bank.ask_in_frame = frame
    kill = interrupt(world, "bank", "POST /transfers", ending)
    run = world.submit("transfer_one", "trading.py", reference="R-1", by=by, frame=frame)
    ended = world.keep(run, kill)
    assert [transfer.remark for transfer in world.bank.transfers] == ["R-1"], (ended, world.outcomes(run))
    assert ended.state is RunState.WAITING
    assert world.outcomes(run) == (["not_happened", "asked"] if ending == "dispatching:1" else ["asked"])
    check_question(world, run, ended.questions)


def test_the_bookings_of_the_next_day_answer_the_question(world: World) -> None:
    run = world.submit("transfer_one", "trading.py", reference="R-1", by="form")
    assert world.keep(run).state is RunState.WAITING
    assert world.keep(run).state is RunState.WAITING, "a resume looks, and pays nothing"
    assert (len(world.bank.transfers), world.outcomes(run)) == (1, ["asked"])
    world.bank.clock.advance(A_DAY)
    assert world.keep(run).state is RunState.FINISHED
    (question,) = world.store.inbox.questions(run)
    assert (str(question.state), question.by) == ("closed", None)
    assert (len(world.bank.transfers), world.outcomes(run)) == (1, ["happened"])
