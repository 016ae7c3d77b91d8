"""A worker that waits for a browser that is dead is ended."""

from __future__ import annotations

import asyncio
import subprocess
import sys

import pytest

from browser_agent import processes
from browser_agent.keeper.supervisor import Supervisor


@pytest.mark.process
def test_a_worker_that_does_not_notice_that_its_browser_is_dead_is_ended() -> None:
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"]) as worker:
        named = processes.identify(worker.pid)
        assert named is not None
        told: list[str] = []
        supervisor = Supervisor(
            named, lambda: None, lambda kind, words: told.append(kind), lost=lambda: True, lost_seconds=0.2
        )
        asyncio.run(supervisor.supervise(lambda: told.append("died")))
        assert not processes.alive(named)
    assert told == ["worker_waits", "died"] and "browser was dead" in supervisor.because
