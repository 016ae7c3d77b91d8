"""What may never be, as checks of one step against the truth of the world."""

from __future__ import annotations

from browser_agent.rules import Move
from browser_agent.states import GestureState
from observers import Outcome
from tests.model.decisions import Row
from tests.model.pages import Scenario
from tests.model.world import World

SECOND_GESTURE = "1: no second gesture unless the first is absent in the world for good"
CONTRADICTED = "2: no verdict that the world contradicts"
RENAMED = "3: no outcome renamed"
STUCK = "4: always a way forward"
INVARIANTS = (SECOND_GESTURE, CONTRADICTED, RENAMED, STUCK)

_OUTCOMES = {GestureState.HAPPENED: Outcome.happened, GestureState.NOT_HAPPENED: Outcome.not_happened}
_GROUNDS = {
    GestureState.NOT_HAPPENED: {"gate", "wire", "person"},
    GestureState.HAPPENED: {"person"},
    GestureState.REJECTED: {"wire"},
    GestureState.REFUSED: {"write order"},
    GestureState.ABANDONED: {"person"},
}


class Broken(Exception):
    """An invariant doesn't hold; the message is the invariant."""


def check_second(scenario: Scenario, world: World, rows: tuple[Row, ...], excused: frozenset[int]) -> None:
    """Before a gesture is dispatched: every earlier one that no person took on themselves is absent for good.

    And somebody has looked: what this one would make was not there, unless a person knew.
    """
    gesture = len(rows) - 1
    if any(not world.absent_for_good(each, late=scenario.late) for each in range(gesture) if each not in excused):
        raise Broken(SECOND_GESTURE)
    before = rows[-1].baseline
    if before is None or scenario.proof not in {"list", "both"} or excused:
        return
    if before.ids or (before.kind == "blind" and rows[-1].ground != "answered"):
        raise Broken(SECOND_GESTURE)


def check_verdict(
    scenario: Scenario, world: World, rows: tuple[Row, ...], state: GestureState, excused: frozenset[int]
) -> None:
    """When the last gesture is settled: the world agrees. A person who overrides takes the verdict on themselves."""
    gesture = len(rows) - 1
    if gesture in excused:
        return
    if state is GestureState.HAPPENED:
        holds = _has_happened(scenario, world, rows)
    else:
        holds = world.absent_for_good(gesture, late=scenario.late)
    if not holds:
        raise Broken(CONTRADICTED)


def _has_happened(scenario: Scenario, world: World, rows: tuple[Row, ...]) -> bool:
    """Exactly one effect that a look can see: the gesture's own, or an earlier one's if its own can't come any more.

    A record that a person made by hand with a key that is declared unique is the effect that was wanted.
    """
    gesture = len(rows) - 1
    mine = world.made_by(gesture)
    if sum(record.age >= scenario.stale for record in mine) > 1:
        return False
    if mine:
        return True
    if scenario.proof == "text":
        return False
    new = world.records[rows[0].base :]
    if scenario.proof != "shared" and any(record.maker < 0 for record in new):
        return True
    return any(record.maker >= 0 for record in new) and not world.may_still_commit(gesture, late=scenario.late)


def check_name(state: GestureState, ground: str | Outcome) -> None:
    """When a gesture is settled: its state is what was found, by a look or on another ground that may settle it so."""
    by_look = isinstance(ground, Outcome) and _OUTCOMES.get(state) is ground
    if not by_look and ground not in _GROUNDS[state]:
        raise Broken(RENAMED)


STATES = {Move.CARRY_ON: GestureState.HAPPENED, Move.MAY_BE_MADE_AGAIN: GestureState.NOT_HAPPENED}
"""The state in which each move settles a gesture; the third one asks."""
