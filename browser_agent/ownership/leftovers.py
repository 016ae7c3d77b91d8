"""What an attempt has left on its host when its keeper is gone: a browser, a worker, a driver; and their end, in order.

If the old worker still lives, its browser is ended before it: a request that is paused there would be let go by the
worker's death (measured). Knows nothing of runs. What may never happen: a process of another host is judged by its pid.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from browser_agent import processes
from browser_agent.browser.chromium import Chromium, processes_of
from browser_agent.ownership.takeover import end_process, lives, near, stored_as
from browser_agent.processes import ProcessId
from browser_agent.store import Lease, Store
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


def inherit(store: Store, lease: Lease, previous: AttemptRow | None) -> str | None:
    """End what earlier attempts have left here, and see it dead.

    A keeper that still lives has lost the run (its lease ran out, or an engine gave the run on): its own process may
    keep other runs and is let be, but what could send for this one is ended.

    Args:
        store: where the run is written.
        lease: the right of the attempt that takes over.
        previous: the attempt before it.

    Returns:
        The browser of a dead keeper, as stored, if it lives and its page may still be read.
    """
    kept: str | None = None
    rows = earlier(store, lease)
    end_strays(store.profiles, lease.run, store.leases.attempts(lease.run))
    for row in rows:
        last = previous is not None and row.number == previous.number
        keeper_lives = lives(row.keeper)
        adopt = last and row.ended is None and not keeper_lives
        still_used = previous is not None and not last and row.browser == previous.browser
        end_remains(row, leave_browser=adopt or still_used)
        if adopt and row.browser is not None:
            if Chromium.found(row.browser).alive():
                kept = row.browser
            else:
                end_remains(row)
        if row.ended is None:
            how = "its run was given to another" if keeper_lives else "its keeper died"
            store.leases.end_attempt(Lease(lease.run, row.number, ""), how)
    return kept


def earlier(store: Store, lease: Lease) -> list[AttemptRow]:
    """The earlier attempts of this host that are in sight; nothing is known here of the processes of another."""
    rows = store.leases.attempts(lease.run)
    return [row for row in rows if row.number < lease.attempt and near(store, row.host, row.keeper)]


def unblock(store: Store) -> str:
    """End the keeper that was stopped while it wrote, if its leases are over.

    Returns:
        What was done, in words; empty if there was nothing to do.

    Raises:
        StillAlive: it could not be ended.
    """
    holder = store.database.backend.writer()
    if holder is None or not processes.stopped(holder):
        return ""
    kept = _kept_by(store, holder)
    if not (kept or _is_worker_process(store, holder)) or any(store.leases.lease_left(row.run_id) > 0 for row in kept):
        return ""
    for row in kept:
        end_remains(row)
    processes.end([holder])
    return f"Process {holder.pid} was stopped while it wrote, and its leases have run out: it is ended, seen dead."


def _kept_by(store: Store, holder: ProcessId) -> list[AttemptRow]:
    """The attempts that it keeps, or kept and left something of."""
    return [row for _, row in store.deaths.unattested() if stored_as(row.keeper) == holder]


def _is_worker_process(store: Store, holder: ProcessId) -> bool:
    """Whether it is one that beats no more; it may keep nothing at the moment."""
    now, keepings = store.keepers.recent()
    silent = [each.row for each in keepings if (now - each.row.beaten).total_seconds() > store.times.lease]
    return any(row.host == store.host and stored_as(row.process) == holder for row in silent)
