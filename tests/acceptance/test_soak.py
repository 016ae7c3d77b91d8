"""A short soak in each home: whatever is struck, each run of each site is made once, and each doubt of a bank is asked.

The long one is `make soak`.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.soak.homes import Kind
from tests.soak.soaking import Plan, soak

STRUCK = {
    Kind.SQLITE: ("worker process killed", "store locked by another process", "answer lost"),
    Kind.POSTGRES: ("worker process killed", "database crashed"),
}


@pytest.mark.parametrize("home", Kind)
def test_in_a_storm_nothing_is_made_twice_or_lost_or_stuck(tmp_path: Path, home: Kind) -> None:
    struck = STRUCK[home]
    plan = Plan(seed=7, runs=6, homes=(home,), workers=2, strikes=len(struck), only=struck, calm_seconds=2.0)
    tally = soak(plan, tmp_path)
    assert tally.clean, tally
    assert tally.effects == tally.runs == dict.fromkeys(("books", "shop", "seller", "bank", "wizard", "mail"), 1)
    assert sorted(tally.struck) == sorted(struck)


def test_a_round_that_has_ended_is_not_gone_through_again(tmp_path: Path) -> None:
    plan = Plan(runs=1, homes=(Kind.SQLITE,), workers=1, strikes=0)
    first = soak(plan, tmp_path)
    assert soak(Plan(runs=1, homes=(Kind.SQLITE,), workers=0, strikes=0), tmp_path) == first
