"""Whoever wraps a step in "try it three times" gets no second click: what is unknown stays unknown."""

from __future__ import annotations

import pytest

from tests.fix_matrix import chosen
from tests.fix_world import World


@pytest.mark.parametrize("catches", chosen("Exception", others=["BaseException"]))
def test_a_loop_around_a_step_whose_answer_was_lost_makes_no_second_gesture(world: World, catches: str) -> None:
    world.to_books.fault("drop_after_commit", "POST /invoices")
    run = world.submit("post_three_times", "retried.py", reference="S-1", catches=catches)
    assert str(world.keep(run).state) == "waiting"
    assert world.invoices("S-1") == ["INV-1"]
    assert world.outcomes(run) == ["asked"]
