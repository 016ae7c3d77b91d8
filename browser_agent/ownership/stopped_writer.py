"""A keeper that was stopped (SIGSTOP) while it wrote: in a SQLite file it holds the write lock until it goes on, and
nobody can take its runs over, nor write anything else.

Where all its leases have run out it is ended, with what it has started, as a take-over would: SQLite then rolls back
what it had not committed. PostgreSQL ends such a transaction itself. What may never happen: a process is ended that
isn't stopped, that is no keeper of this store, or that has a lease; a keeper is ended before its browsers (a request
that it holds would be let go by its death).
"""

from __future__ import annotations

from browser_agent import processes
from browser_agent.ownership.leftovers import end_remains
from browser_agent.ownership.takeover import stored_as
from browser_agent.processes import ProcessId
from browser_agent.store import Store
from browser_agent.store.records import AttemptRow


def unblock(store: Store) -> str:
    """End the keeper that was stopped while it wrote, if its leases are over.

    Returns:
        What was done, in words; empty if there was nothing to do.

    Raises:
        StillAlive: it could not be ended.
    """
    holder = store.database.home.writer()
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
