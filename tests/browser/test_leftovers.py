"""What a dead keeper left, also a browser that it had no time to store."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from browser_agent.browser.chromium import Chromium, processes_of
from browser_agent.ownership.leftovers import end_leftovers, end_unnamed_browsers
from browser_agent.ownership.takeover import own_process
from browser_agent.store import Store
from browser_agent.store.records import AttemptRow


def test_a_browser_that_no_attempt_names_is_ended_and_no_other_is(tmp_path: Path) -> None:
    stray, named, of_another = (Chromium.start(tmp_path / name) for name in ("run-a-0001", "run-a-0002", "run-ab-0003"))
    try:
        row = AttemptRow(run_id="run-a", number=1, host="here", keeper="{}", began=datetime.now(UTC))
        row.browser = named.stored
        end_unnamed_browsers(tmp_path, "run-a", [row])
        assert not stray.alive() and not processes_of(stray.profile) and not stray.profile.exists()
        assert named.alive() and of_another.alive()
    finally:
        for each in (stray, named, of_another):
            each.discard()


DEAD = '{"pid": 1, "started": 1.0}'


@pytest.mark.parametrize("keeper_lives", [False, True])
def test_a_browser_is_inherited_from_a_dead_keeper_and_ended_if_the_keeper_lives(
    tmp_path: Path, keeper_lives: bool
) -> None:
    with Store(tmp_path / "runs.db") as store:
        run = store.leases.submit(task_file="t.py", task_name="t", arguments="{}", sites="{}").id
        first = store.leases.claim(run, keeper=own_process() if keeper_lives else DEAD, keeper_dead=False)
        chromium = Chromium.start(store.profiles / f"{run}-0001")
        try:
            store.leases.record(first, browser=chromium.stored)
            (previous,) = store.leases.attempts(run)
            lease = store.leases.claim(run, keeper=own_process(), keeper_dead=True)
            assert end_leftovers(store, lease, previous) == (None if keeper_lives else chromium.stored)
            assert chromium.alive() is not keeper_lives
            assert store.leases.attempts(run)[0].how == (
                "its run was assigned to another keeper" if keeper_lives else "its keeper died"
            )
        finally:
            chromium.discard()
