"""What a step does next, decided by the gestures that it has made so far."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from browser_agent.run.step_history import NextAct, StepHistory
from browser_agent.states import OPEN_GESTURE_STATES, GestureState
from browser_agent.store.records import GestureRow

NOON = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
G = GestureState


def made(*states: GestureState, answered: int | None = None, reopened: int | None = None) -> StepHistory:
    """A step with gestures in these states, each settled a minute after the one before it.

    answered: number of the gesture that a person's answer settled. reopened: minutes after noon.
    """
    rows = [row(number, state) for number, state in enumerate(states, start=1)]
    by_person = frozenset({f"g-{answered}"} if answered else ())
    return StepHistory(rows, by_person, NOON + timedelta(minutes=reopened) if reopened else None)


def row(number: int, state: GestureState) -> GestureRow:
    names: dict[str, Any] = {"run_id": "r", "step_id": "s", "attempt": 1, "kind": "click", "intent": "{}"}
    settled = None if state in OPEN_GESTURE_STATES else NOON + timedelta(minutes=number)
    return GestureRow(
        id=f"g-{number}", number=number, words="post", state=state, intent_at=NOON, settled_at=settled, **names
    )


@pytest.mark.parametrize(
    ("history", "act"),
    [
        (made(), NextAct.MAKE),
        (made(G.HAPPENED), NextAct.USE_VALUE),
        (made(G.NOT_HAPPENED, G.HAPPENED), NextAct.USE_VALUE),
        (made(G.REJECTED), NextAct.RAISE_REJECTED),
        (made(G.REJECTED, reopened=2), NextAct.MAKE),
        (made(G.NOT_HAPPENED), NextAct.MAKE),
        (made(G.REFUSED), NextAct.MAKE),
        (made(G.NOT_HAPPENED, G.NOT_HAPPENED), NextAct.RAISE_NOT_HAPPENED),
        (made(G.NOT_HAPPENED, G.NOT_HAPPENED, answered=2), NextAct.MAKE),
        (made(G.NOT_HAPPENED, G.NOT_HAPPENED, answered=1), NextAct.RAISE_NOT_HAPPENED),
        (made(G.NOT_HAPPENED, G.NOT_HAPPENED, reopened=3), NextAct.MAKE),
        (made(G.NOT_HAPPENED, G.NOT_HAPPENED, G.NOT_HAPPENED, reopened=1), NextAct.RAISE_NOT_HAPPENED),
    ],
)
def test_the_gestures_so_far_decide_what_a_step_with_one_more_gesture_does(history: StepHistory, act: NextAct) -> None:
    assert history.next_act(again=1, refusals_left=3) is act


@pytest.mark.parametrize("state", sorted(OPEN_GESTURE_STATES))
def test_nothing_is_made_while_a_gesture_is_in_doubt(state: GestureState) -> None:
    assert made(G.NOT_HAPPENED, state).next_act(again=9, refusals_left=9) is NextAct.SETTLE_FIRST


def test_one_refusal_more_than_the_step_allows_is_raised() -> None:
    refused = made(G.REFUSED, G.REFUSED)
    assert refused.next_act(again=1, refusals_left=0) is NextAct.MAKE
    assert refused.next_act(again=1, refusals_left=-1) is NextAct.RAISE_REFUSED
