"""A short soak: whatever is struck, each run of each site is made once, and each doubt of a bank is asked.

The long one, in each home, is `make soak`.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from pydantic import TypeAdapter

from tests.fix_matrix import chosen
from tests.soak.count import Tally
from tests.soak.homes import Kind
from tests.soak.soaking import Plan, soak

SITES = ("books", "shop", "seller", "bank", "wizard", "mail")


@pytest.mark.parametrize(
    ("home", "runs", "workers", "struck"),
    chosen(
        (Kind.SQLITE, 4, 2, ("worker process killed", "answer lost")),
        others=[
            (Kind.SQLITE, 6, 2, ("worker process killed", "answer lost")),
            (Kind.POSTGRES, 2, 1, ("database crashed",)),
        ],
    ),
)
def test_in_a_storm_nothing_is_made_twice_or_lost_or_stuck(
    tmp_path: Path, home: Kind, runs: int, workers: int, struck: tuple[str, ...]
) -> None:
    storm = {"only": struck, "strikes": len(struck), "calm_seconds": 4.0, "for_each": 10.0}
    plan = Plan(seed=7, runs=runs, homes=(home,), workers=workers, **storm)  # type: ignore[arg-type]
    tally = soak(plan, tmp_path)
    assert tally.clean, tally
    assert tally.effects == tally.runs == Counter(SITES[:runs])
    assert tally.struck == Counter(struck)


def test_a_round_that_has_ended_is_not_gone_through_again(tmp_path: Path) -> None:
    ended = Tally(runs=Counter(books=1), twice=["R-1: 2 effects"])
    (tmp_path / "round-1").mkdir()
    (tmp_path / "round-1" / "tally.json").write_bytes(TypeAdapter(Tally).dump_json(ended))
    assert soak(Plan(runs=1), tmp_path) == ended
