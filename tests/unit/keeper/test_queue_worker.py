"""What a worker process does with a run whose keeping ended in an error, and how many runs it says it has taken."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import browser_agent.keeper.queue_worker
from browser_agent.errors import Misuse, StoreUnusable
from browser_agent.keeper.queue_worker import BACK_OFF_SECONDS, WorkerLimits, back_off_seconds, serve
from browser_agent.options import Ended, Options
from browser_agent.states import RunState
from browser_agent.store import Store


def test_a_run_that_was_let_go_since_the_store_was_away_may_be_taken_again_at_once() -> None:
    assert back_off_seconds(StoreUnusable("The store lost its connection.")) == 0.0


def test_a_run_that_cannot_be_kept_here_is_left_to_others_for_a_while() -> None:
    assert back_off_seconds(Misuse("The secret token is not here.")) == BACK_OFF_SECONDS


def test_a_run_that_was_taken_twice_counts_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody stands in the keeper's place, who gives each run back before it is finished."""
    states = (RunState.READY, RunState.FINISHED)

    def keep(store: Store, run: str, *_: Any, **__: Any) -> Ended:
        lease = store.leases.claim(run, keeper="{}", keeper_dead=True)
        store.leases.end(lease, states[lease.attempt - 1], ended_by="so it ended")
        return Ended(run, states[lease.attempt - 1], "so it ended", attempts=lease.attempt)

    monkeypatch.setattr(browser_agent.keeper.queue_worker, "keep", keep)
    with Store(tmp_path / "runs.db") as store:
        for _ in range(2):
            store.leases.submit(task_file="a.py", task_name="a", arguments="{}", sites="{}", queued=True)
        assert serve(store, WorkerLimits(until_idle=True), Options()) == 2
        assert {(run.state, run.attempt) for run in store.leases.runs()} == {(RunState.FINISHED, 2)}
