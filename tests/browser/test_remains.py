"""What a dead keeper has left: also the browser that it had no time to write down."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from browser_agent.browser.chromium import Chromium, processes_of
from browser_agent.records import AttemptRow
from browser_agent.remains import end_strays


def test_a_browser_that_no_attempt_names_is_ended_and_no_other_is(tmp_path: Path) -> None:
    stray, named, of_another = (Chromium.start(tmp_path / name) for name in ("run-a-0001", "run-a-0002", "run-ab-0003"))
    try:
        row = AttemptRow(run_id="run-a", number=1, host="here", keeper="{}", began=datetime.now(UTC))
        row.browser = named.stored
        end_strays(tmp_path, "run-a", [row])
        assert not stray.alive() and not processes_of(stray.profile) and not stray.profile.exists()
        assert named.alive() and of_another.alive()
    finally:
        for each in (stray, named, of_another):
            each.discard()
