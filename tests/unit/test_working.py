"""What a worker process does with a run whose keeping ended in an error."""

from __future__ import annotations

from browser_agent.errors import Misuse, StoreUnusable
from browser_agent.working import SHUN_SECONDS, shun_seconds


def test_a_run_that_was_let_go_since_the_store_was_away_may_be_taken_again_at_once() -> None:
    assert shun_seconds(StoreUnusable("The store lost its connection.")) == 0.0


def test_a_run_that_cannot_be_kept_here_is_left_to_others_for_a_while() -> None:
    assert shun_seconds(Misuse("The secret token is not here.")) == SHUN_SECONDS
