"""What a dead attempt left on this host (browser, worker, driver), and how it is ended, in order.

Order matters while the old worker lives: its browser is ended first, because Chromium lets a paused request go when the
connection that paused it ends (measured).
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from browser_agent import processes
from browser_agent.browser.chromium import Chromium, processes_of
from browser_agent.ownership.takeover import end_process, process_alive, stored_as, visible_here
from browser_agent.processes import ProcessId
from browser_agent.states import EndKind
from browser_agent.store import AttemptEnd, Lease, Store
from browser_agent.store.records import AttemptRow

_TAKEN = AttemptEnd("its run was assigned to another keeper")
_KEEPER_DIED = AttemptEnd("its keeper died", EndKind.KEEPER_DIED)


@dataclass(frozen=True)
class Leftovers:
    """The processes of one attempt of this host, as they were stored.

    Args:
        browser: its Chromium.
        worker: its worker process.
        driver: the worker's Playwright driver.
    """

    browser: str | None
    worker: str | None
    driver: str | None

    @classmethod
    def of(cls, attempt: AttemptRow) -> Leftovers:
        """Those of an attempt whose keeper is dead or owns the run no more; never of another host's attempt."""
        return cls(attempt.browser, attempt.worker, attempt.driver)

    def end(self, *, leave_browser: bool = False) -> None:
        """End all that is still alive, and see it dead.

        Args:
            leave_browser: another attempt uses the browser, or will read it first; it is left unless the old worker
                lives.

        Raises:
            StillAlive: one of them could not be ended.
        """
        if self.browser is not None and (not leave_browser or process_alive(self.worker)):
            Chromium.found(self.browser).discard()
        end_process(self.worker)
        end_process(self.driver)

    def all_dead(self) -> bool:
        """Whether all of them are dead, with everything that the browser started."""
        chromium = Chromium.found(self.browser) if self.browser is not None else None
        browser_alive = chromium is not None and (chromium.alive() or bool(processes_of(chromium.profile)))
        return not (browser_alive or process_alive(self.worker) or process_alive(self.driver))


def earlier_attempts(store: Store, lease: Lease) -> list[AttemptRow]:
    """The earlier attempts whose processes can be judged here: they were made on this host."""
    rows = store.leases.attempts(lease.run)
    return [row for row in rows if row.number < lease.attempt and visible_here(store, row.host, row.keeper)]


def end_leftovers(store: Store, lease: Lease, previous: AttemptRow | None) -> str | None:
    """End what earlier attempts left here, and see it dead, before a new attempt begins.

    A keeper that lost the run but lives may keep other runs: it is left alone, and what could send for this run is
    ended.

    Args:
        store: where the run is stored.
        lease: the lease of the attempt that takes over.
        previous: the attempt before it.

    Returns:
        The stored identity of a dead keeper's browser, if that browser lives and its page may still be read.
    """
    adopted: str | None = None
    end_unnamed_browsers(store.profiles, lease.run, store.leases.attempts(lease.run))
    for row in earlier_attempts(store, lease):
        last = previous is not None and row.number == previous.number
        keeper_alive = process_alive(row.keeper)
        adopt = last and row.ended is None and not keeper_alive
        still_used = previous is not None and not last and row.browser == previous.browser
        left = Leftovers.of(row)
        left.end(leave_browser=adopt or still_used)
        if adopt and row.browser is not None:
            if Chromium.found(row.browser).alive():
                adopted = row.browser
            else:
                left.end()
        if row.ended is None:
            end = _TAKEN if keeper_alive else _KEEPER_DIED
            store.leases.end_attempt(Lease(lease.run, row.number, ""), end)
    return adopted


def end_unnamed_browsers(folder: Path, run: str, attempts: list[AttemptRow]) -> None:
    """End the run's browsers that no attempt names: their keeper was killed before it could store their identity.

    Only for the run's current keeper, before it has started a browser of its own.

    Args:
        folder: the profiles of this host's browsers; each name begins with its run's id.
        run: the run's id.
        attempts: all its attempts, also other hosts': containers that don't see each other may share the folder.

    Raises:
        StillAlive: one of them could not be ended.
    """
    named = {Chromium.found(row.browser).profile for row in attempts if row.browser is not None}
    for profile in set(folder.resolve().glob(f"{run}-*")) - named:
        processes.end([], also=lambda: processes_of(profile))  # noqa: B023  # called at once
        shutil.rmtree(profile, ignore_errors=True)


def unblock_store(store: Store) -> str:
    """End a keeper that was stopped (SIGSTOP) while it wrote, once its leases have run out.

    Until then nobody can write to the store.

    Returns:
        What was done, in words; "" if nothing was.

    Raises:
        StillAlive: it could not be ended.
    """
    holder = store.database.backend.writer()
    if holder is None or not processes.stopped(holder):
        return ""
    kept = [row for _, row in store.deaths.unattested() if stored_as(row.keeper) == holder]
    if not (kept or _is_silent_queue_worker(store, holder)):
        return ""
    if any(store.leases.lease_left(row.run_id) > 0 for row in kept):
        return ""
    for row in kept:
        Leftovers.of(row).end()
    processes.end([holder])
    return f"Process {holder.pid} was stopped while it wrote, and its leases have run out: it was ended, and is dead."


def _is_silent_queue_worker(store: Store, process: ProcessId) -> bool:
    """Whether it is a queue worker without a recent heartbeat; it may hold no run at the moment."""
    now, keepers = store.keepers.recent()
    silent = [each.row for each in keepers if (now - each.row.beaten).total_seconds() > store.times.lease]
    return any(row.host == store.host and stored_as(row.process) == process for row in silent)
