"""Whether a queue worker is able to work: alive, stopped, silent, dead or ended.

A process that is visible here (`takeover.visible_here`) is judged by its own state, any other by its heartbeats alone.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from browser_agent import processes
from browser_agent.ownership.takeover import process_alive, stored_as, visible_here
from browser_agent.store import Store, Work
from browser_agent.store.records import AttemptRow, KeeperRow

BEATS_MISSED = 3
"""After so many missed heartbeats a run's keeper counts as silent; its lease is longer than that."""


class Liveness(StrEnum):
    """The state of a process, as far as it can be told here."""

    ALIVE = "alive"
    STOPPED = "stopped"  # SIGSTOP, a debugger
    SILENT = "silent"  # no heartbeat for longer than a lease lasts
    DEAD = "dead"
    ENDED = "ended"  # it has said so


def liveness(store: Store, keeper: KeeperRow, now: datetime) -> Liveness:
    """The state of a queue worker at that moment of the database's clock."""
    if keeper.ended is not None:
        return Liveness.ENDED
    if visible_here(store, keeper.host, keeper.process):
        if not process_alive(keeper.process):
            return Liveness.DEAD
        if processes.stopped(stored_as(keeper.process)):
            return Liveness.STOPPED
    return Liveness.ALIVE if age(keeper.beaten, now) < store.times.lease else Liveness.SILENT


def worker_alive(store: Store) -> bool:
    """Whether any queue worker of this store is able to work."""
    now, found = store.keepers.recent()
    return any(liveness(store, each.row, now) is Liveness.ALIVE for each in found)


def age(moment: datetime | None, now: datetime) -> float:
    """How many seconds ago that was; 0 if never."""
    return (now - moment).total_seconds() if moment is not None else 0.0


@dataclass(frozen=True)
class IdleHold:
    """A queued run that a stopped or silent process holds, so that nobody works on it.

    Attributes:
        run: its id.
        pid: the process.
        host: the process's host.
        stopped: it is seen to be stopped (SIGSTOP).
        silent: seconds since its last heartbeat.
        left: seconds until others may take the run.
    """

    run: str
    pid: int
    host: str
    stopped: bool
    silent: float
    left: float

    def __str__(self) -> str:
        how = f"{'stopped, ' if self.stopped else ''}silent for {self.silent:.0f} s"
        ends = f"ends in {self.left:.0f} s" if self.left > 0 else "has run out"
        return f"{self.run} is held by process {self.pid} on {self.host}, {how}; its lease {ends}"


def held_idly(store: Store) -> list[IdleHold]:
    """The queued runs that are held by a process which does nothing, oldest first."""
    now, _ = store.keepers.recent()
    lasts = (offer.last for offer in store.queue.offers() if offer.work is Work.INTERRUPTED)
    found = (_held(store, last, now) for last in lasts if last is not None and last.ended is None)
    return [each for each in found if each is not None]


def _held(store: Store, attempt: AttemptRow, now: datetime) -> IdleHold | None:
    stopped = visible_here(store, attempt.host, attempt.keeper) and processes.stopped(stored_as(attempt.keeper))
    silent = age(attempt.beaten, now)
    if not stopped and silent < BEATS_MISSED * store.times.beat:
        return None
    pid, left = json.loads(attempt.keeper)["pid"], store.leases.lease_left(attempt.run_id)
    return IdleHold(attempt.run_id, pid, attempt.host, stopped, silent, left)
