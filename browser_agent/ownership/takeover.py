"""Taking a run over: who keeps it, whether its last keeper is dead, and the lease that follows.

A keeper on this host is judged by its process (pid and start time); one on another host, or in a container of its own
that has this host's name, only by its lease. Where an engine stands above both keepers, its word is enough: it wants
one of them only. That the run is claimed says nothing of whether the old keeper's worker and browser are dead; that is
seen to afterwards, on their own host.
"""

from __future__ import annotations

import json
from typing import Any

from pydantic import TypeAdapter

from browser_agent import processes
from browser_agent.errors import InOtherHands, Superseded
from browser_agent.ownership.engine import NO_ENGINE, Engine
from browser_agent.ownership.terminal import watcher
from browser_agent.processes import ProcessId
from browser_agent.states import RunState
from browser_agent.store import Lease, Store
from browser_agent.store.records import AttemptRow, RunRow

_PROCESS = TypeAdapter(ProcessId)


def last_attempt(store: Store, run: str) -> AttemptRow | None:
    """The run's last attempt, if there was one. Raises `UnknownName` if there is no such run."""
    attempts = store.leases.attempts(store.leases.run(run).id)
    return attempts[-1] if attempts else None


def near(store: Store, host: str, process: str) -> bool:
    """Whether a stored process can be judged here: it is of this host, and in sight."""
    return host == store.host and processes.in_sight(stored_as(process))


def is_over(store: Store, attempt: AttemptRow) -> bool:
    """Whether the attempt's keeper keeps it no more: it has said so, or is seen dead on this host."""
    return attempt.ended is not None or (near(store, attempt.host, attempt.keeper) and not lives(attempt.keeper))


def take_over(  # who takes it, and what for
    store: Store,
    run: str,
    previous: AttemptRow | None,
    *,
    engine: Engine = NO_ENGINE,
    of_queue: bool = False,
    only_look: bool = False,
) -> Lease:
    """Claim the run for this process, after the attempt that was seen last.

    Args:
        store: where the run is written.
        run: its id.
        previous: the attempt that was seen last.
        engine: who stands above this process.
        of_queue: a worker process takes it: only if the queue holds it for one now.
        only_look: for a look at its open question.

    Raises:
        Superseded: the engine has given later work on it to another.
        InOtherHands: a living keeper has it.
        NotAllowed: it has ended for good.
    """
    over = previous is not None and (is_over(store, previous) or _given_on(previous, engine))
    judged = previous is not None and near(store, previous.host, previous.keeper)
    if previous is not None and judged and not over and store.leases.lease_left(run) > 0:
        pid = json.loads(previous.keeper)["pid"]
        raise InOtherHands(
            f"Run {run} is kept by process {pid}: wait for it, or end that process (Ctrl-C there, or: kill {pid}) and "
            f"then: browser-agent resume {run}. Nothing was done."
        )
    return store.leases.claim(
        run,
        keeper=own_process(engine),
        keeper_dead=over,
        after=previous.number if previous is not None else 0,
        present=None if of_queue else watcher(),
        of_queue=of_queue,
        only_look=only_look,
        reset_deaths=not of_queue and not engine.name,  # a person goes on with it
    )


def give_to_queue(store: Store, run: str, by: str) -> None:
    """Give a run that nobody has in hand to the queue, with its budget anew; what it left stands as it is.

    Raises:
        InOtherHands: a living keeper has it.
        NotAllowed: it has ended for good.
    """
    lease = take_over(store, run, last_attempt(store, run))
    store.leases.requeue(lease, f"given to the queue by {by}")
    store.leases.end_attempt(lease, "it only gave the run to the queue")
    store.deaths.attest(run, [lease.attempt], own_process())


def keeper_lives(store: Store, run: RunRow) -> bool | None:
    """Whether the keeper of a running run lives; None if the run has none, or it can't be judged here."""
    if run.state is not RunState.RUNNING:
        return None
    last = last_attempt(store, run.id)
    if last is None or not near(store, last.host, last.keeper):
        return None
    return last.ended is None and lives(last.keeper)


def _given_on(previous: AttemptRow, engine: Engine) -> bool:
    """Whether the engine of the last attempt is ours, and has given the run on since then."""
    stored = json.loads(previous.keeper)
    if not engine.name or stored.get("engine") != engine.name:
        return False
    if stored["order"] >= engine.order:
        raise Superseded(previous.run_id, previous.number, previous.number)
    return True


def under_engine(stored: str) -> bool:
    """Whether an engine stood above the keeper that was stored: it says who goes on, and when a person is asked."""
    return "engine" in json.loads(stored)


def own_process(engine: Engine = NO_ENGINE) -> str:
    """This process as a keeper is stored, with the engine that stands above it."""
    own: dict[str, Any] = _PROCESS.dump_python(processes.own_id())
    return json.dumps(own | ({"engine": engine.name, "order": engine.order} if engine.name else {}))


def stored_process(process: ProcessId) -> str:
    """A process, as it is stored."""
    return _PROCESS.dump_json(process).decode()


def stored_as(stored: str) -> ProcessId:
    """The process that was stored."""
    return _PROCESS.validate_json(stored)


def lives(stored: str | None) -> bool:
    """Whether the process that was stored lives on this host. Raises `OutOfSight` where that can't be told."""
    return stored is not None and processes.alive(stored_as(stored))


def end_process(stored: str | None) -> None:
    """End the process that was stored, if it lives, and see it dead."""
    if stored is not None and lives(stored):
        processes.end([stored_as(stored)])
