"""A short soak: worker processes are killed, stopped and robbed of their browsers, and each invoice is made once."""

from __future__ import annotations

from pathlib import Path

from tests.soak.soaking import Plan, Soak


def test_in_a_storm_nothing_is_made_twice_or_lost_or_stuck(tmp_path: Path) -> None:
    plan = Plan(seed=7, runs=4, workers=2, strikes=4, calm_seconds=4.0, patience_seconds=240.0)
    tally = Soak(plan, tmp_path).go()
    assert tally.clean, tally
    assert tally.effects == plan.runs
    assert tally.struck.total() > 0
