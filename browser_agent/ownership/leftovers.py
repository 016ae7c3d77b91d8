"""What an attempt has left on its host when its keeper is gone: a browser, a worker, a driver; and their end, in order.

If the old worker still lives, its browser is ended before it: a request that is paused there would be let go by the
worker's death (measured). Knows nothing of runs. What may never happen: a process of another host is judged by its pid.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from browser_agent import processes
from browser_agent.browser.chromium import Chromium, processes_of
from browser_agent.ownership.takeover import end_process, lives
from browser_agent.store.records import AttemptRow


def end_remains(row: AttemptRow, *, leave_browser: bool = False) -> None:
    """End what the attempt has left on this host, and see it dead.

    Args:
        row: an attempt of this host whose keeper is dead, or owns the run no more.
        leave_browser: its browser is somebody's now, or is to be read first; it is left alone unless the old worker
            lives.

    Raises:
        StillAlive: one of them could not be ended.
    """
    if row.browser is not None and (not leave_browser or lives(row.worker)):
        Chromium.found(row.browser).discard()
    end_process(row.worker)
    end_process(row.driver)


def all_dead(row: AttemptRow) -> bool:
    """Whether nothing of what the attempt has started on this host lives any more."""
    chromium = Chromium.found(row.browser) if row.browser is not None else None
    browser_lives = chromium is not None and (chromium.alive() or bool(processes_of(chromium.profile)))
    return not (browser_lives or lives(row.worker) or lives(row.driver))


def end_strays(folder: Path, run: str, attempts: list[AttemptRow]) -> None:
    """End the run's browsers that no attempt names: their keeper was killed before it could write them down.

    Only for the run's present keeper, before it has started a browser of its own.

    Args:
        folder: where the browsers of this host have their profiles; each name begins with its run's id.
        run: the run's id.
        attempts: its attempts, wherever they were made: containers may share the folder, and not see each other.

    Raises:
        StillAlive: one of them could not be ended.
    """
    named = {Chromium.found(row.browser).profile for row in attempts if row.browser is not None}
    for profile in set(folder.resolve().glob(f"{run}-*")) - named:
        processes.end([], also=lambda: processes_of(profile))  # noqa: B023  # called at once
        shutil.rmtree(profile, ignore_errors=True)
